// The loop of one answer: runs the prompt, keeps steps in flight (ids_in_flight) and turns their ids into events
// (answer). Knows no GPU: a backend queues steps and brings their ids back later. token_clock is the only clock.

import { InvalidRequestError, NotFiniteError } from '../../errors';
import { arrived } from '../../shared/part';
import { createAnswerParser } from '../../text/answer/answer_parser';
import type { ReadCalls } from '../../text/answer/answer_part';
import { type Backend, MOST_SHARED } from '../backend/backend';
import type {
  AskedConstraint,
  EngineEvent,
  GenerateInput,
  GenerateOptions,
  ResumedAnswer,
  TbtSummary,
} from '../protocol';
import { AnswerTurns } from './answer_turns';
import { CatchUp, replays } from './catch_up';
import { branchesOf } from './prefix_cache/late_branches';
import { type AnswerOptions, resolveGenerate, samplingParams } from './request/generate_options';
import { patiently } from './request/patience';
import { fittingPrompt, type Prompt } from './request/prompt';
import { cacheFigures, leaveCache, notePrompt, takeCache, usageOf } from './request/reuse';
import type { Session } from './request/session';
import { Answer } from './steps/answer';
import { GiveUps } from './steps/give_ups';
import { IdsInFlight } from './steps/ids_in_flight';
import { RunAhead } from './steps/run_ahead';
import { gpuTimes, type RunCounts, runMetrics } from './steps/run_metrics';
import { TokenClock } from './steps/token_clock';
import type { Constrained } from './turns/beside';
import { Pause } from './turns/pause';
import type { Turn } from './turns/turns';

type Emit = (events: readonly EngineEvent[]) => void;

/**
 * Answers one request with events through `emit`, those of a readback together. Ends soon after `stopped` turns true.
 * `done` waits for nothing after the last token. Resolves when the steps queued past it have settled, too, and the
 * session is free for the next request. A `resumed` answer runs its steps again up to the last id that was told, or
 * from the first id that comes out otherwise, as after a move to another GPU, runs all told ids in a prefill.
 * @param asked what the page has compiled of the option `constraint` and of the tools
 * @param turn among other requests, to which it gives way between steps. Absent: it never does.
 */
export async function generate(
  session: Session,
  input: GenerateInput,
  options: GenerateOptions,
  emit: Emit,
  stopped: () => boolean,
  resumed?: ResumedAnswer,
  asked?: AskedConstraint,
  turn?: Turn,
): Promise<void> {
  reportTail(session, emit);
  const { backend, pause = new Pause() } = session;
  const halted = () => pause.over(stopped);
  const clock = new TokenClock();
  const request = await checkRequest(session, input, options, resumed, await partsFor(session, input, asked));
  const { constraint, runAhead, prompt, told, known, parser, ends } = request;
  clock.tokenized = performance.now();

  const isReplay = replays(backend, told.length);
  const ran = isReplay ? prompt : known;
  const taken = await takeCache(session, ran, request, stopped);
  const { cached, report } = taken;
  const inFlight = new IdsInFlight(backend, clock, runAhead);
  const giveUps = new GiveUps(backend, inFlight);
  const turns = new AnswerTurns(session, clock, request, turn);
  const catchUp = new CatchUp(session, inFlight, clock, turns, emit);
  const answer = new Answer(turns, clock, inFlight, parser, { ...ends, stopped, emit, onFirst: () => catchUp.done() });
  patiently(told.length, () => answer.resume(told));
  if (!isReplay) answer.caughtUp();
  const run = async (ids: Uint32Array<ArrayBuffer>, from: number) => {
    const place = constraint?.placeAfter(ids.subarray(prompt.length));
    if (!(await catchUp.run(ids, from, ends.most - (ids.length - prompt.length), halted, place)))
      answer.finishReason = 'abort';
  };

  emit([{ type: 'start', choice: 0, promptIds: Array.from(prompt), cachedTokens: Math.min(cached, prompt.length) }]);
  try {
    if (answer.finishReason === null) {
      await turns.begin();
      await run(ran, cached);
    }

    while (answer.finishReason === null) {
      const joins = turns.mayJoin(answer, inFlight);
      const rests = joins || pause.isOn || turns.isOver;
      if (rests && inFlight.isEmpty) {
        if (joins && (await turns.batch?.step(turns, answer, inFlight, stopped))) continue;
        if (turns.isOver && !stopped()) await turns.giveWayAfter(answer, inFlight);
        runAhead.restart(); // the pause is no lateness of readbacks
        if (await halted()) answer.finishReason = 'abort';
        else if (joins || !turns.mayJoin(answer, inFlight)) inFlight.fill(); // at least one step a turn
        continue;
      }
      if (!rests) inFlight.fill();
      const taken = answer.take(await inFlight.next());
      if (taken === 'taken') continue;
      if (taken === 'gave up') warn(await giveUps.repeat(), emit);
      else {
        warn((await giveUps.settle()).warning, emit);
        await run(known, prompt.length + answer.caughtUp());
      }
      if (stopped()) answer.finishReason = 'abort';
    }
  } catch (error) {
    await giveUps.settle().catch(ignore); // the first failure is the one to tell
    throw stopped() || turns.leaveBatch ? error : await located(error, backend, [...prompt, ...answer.ids]);
  } finally {
    turns.end();
    leave(session, turns, request, answer);
  }

  const counts = countsOf(inFlight, catchUp, turns, runAhead);
  const { parts, ...end } = answer.finish();
  const usage = usageOf(prompt, taken, answer, parser.reasoningTokens);
  const metrics = { ...runMetrics(backend, clock, counts), ...cacheFigures(session, report) };
  if (!turns.left) notePrompt(session, request, counts.prefilled, report === 'stored' ? null : metrics);
  emit([...parts, { type: 'done', ...end, seed: request.sampling.seed, usage, metrics }]);
  await settle(session, giveUps, emit, request.timed ? gpuTimes(turns, clock) : null, turns.left);
}

function countsOf(inFlight: IdsInFlight, catchUp: CatchUp, turns: AnswerTurns, { depth }: RunAhead): RunCounts {
  const steps = inFlight.queued - 1 + inFlight.discarded;
  const { counters: before, prefilled } = catchUp;
  const { counters: after, awayMs: othersMs, batchSize } = turns;
  return { prefilled, steps, before, after, othersMs, batchSize, depth };
}

/** The error, with the place of a NaN where it is one. */
async function located(error: unknown, backend: Backend, ids: readonly number[]): Promise<unknown> {
  if (!(error instanceof NotFiniteError)) return error;
  const before = Uint32Array.from(ids).subarray(0, error.position);
  return new NotFiniteError(error.position, await backend.findNotFinite?.(before).catch(() => null));
}

/** Leaves keys and values to later prompts: in the cache, or later as a copy of what a batch has. */
function leave(
  session: Session,
  turns: AnswerTurns,
  { prompt, told, parser }: Pick<Awaited<ReturnType<typeof checkRequest>>, 'prompt' | 'told' | 'parser'>,
  answer: Answer,
): void {
  const { reasoningTokens } = parser;
  if (turns.leaveBatch) turns.left = turns.leaveBatch(answer, reasoningTokens).catch(ignore);
  else if (answer.isBroken || answer.ids.length > told.length) leaveCache(session, prompt, answer, reasoningTokens);
}

/** Waits for everything after `done`. Leaves what happens for the next request, because this answer is complete. */
async function settle(
  session: Session,
  giveUps: GiveUps,
  emit: Emit,
  times: Promise<TbtSummary | null> | null,
  left: Promise<void> | null,
): Promise<void> {
  if (!left) void (session.branches?.makeReady(session) ?? branchesOf(session));
  const ends = await Promise.allSettled([times, giveUps.settle(), left]);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) session.failure = { error: failed.reason };
  const [read, steps] = ends;
  if (steps.status === 'fulfilled') session.gaveUp = steps.value.warning;
  if (times) emit([{ type: 'gpuTimes', gpuMs: read.status === 'fulfilled' ? read.value : null }]);
}

/** @throws the failure that came after the `done` of the last answer */
function reportTail(session: Session, emit: Emit): void {
  const { failure, gaveUp = null } = session;
  session.failure = undefined;
  session.gaveUp = null;
  warn(gaveUp, emit);
  if (failure) throw failure.error;
}

function warn(message: string | null, emit: Emit): void {
  if (message !== null) emit([{ type: 'warning', code: 'step-gave-up', message }]);
}

/** Makes an answer obey an automaton: all of it, or its calls. */
interface Obey {
  isDocument: boolean;
  constrain(session: Session, prompt: Prompt, options: AnswerOptions): Constrained | null;
}

async function obeying({ automaton, onlyCalls }: AskedConstraint): Promise<Obey> {
  const { constrainAnswer, constrainCalls } = await arrived(import('./request/constrained'));
  return {
    isDocument: !onlyCalls,
    constrain: (session, prompt, options) =>
      onlyCalls ? constrainCalls(session, automaton, prompt) : constrainAnswer(session, automaton, prompt, options),
  };
}

/** The parts of a request that a plain first answer does without. */
interface Parts {
  obey?: Obey;
  readCalls?: ReadCalls;
}

async function partsFor(session: Session, input: GenerateInput, asked?: AskedConstraint): Promise<Parts> {
  await branchesOf(session);
  const given = input as { tools?: unknown } | null; // not checked yet
  const mayCall = session.template?.syntax.tools && given?.tools;
  return { obey: asked && (await obeying(asked)), readCalls: mayCall ? await callReader() : undefined };
}

async function callReader(): Promise<ReadCalls> {
  const { readCalls } = await arrived(import('../../text/answer/call_parser'));
  return readCalls;
}

/** Before a document, a model that can choose thinks only where it is asked to. */
function thinkingOf(session: Session, asked: AnswerOptions['thinking']): AnswerOptions['thinking'] {
  return asked === 'auto' && session.template?.syntax.thinking?.ability === 'optional' ? 'off' : asked;
}

/**
 * @throws InvalidRequestError, ContextOverflowError and TokenizerError for a request that cannot be answered;
 *   MissingPartError
 */
async function checkRequest(
  session: Session,
  input: GenerateInput,
  options: GenerateOptions,
  resumed: ResumedAnswer | undefined,
  { obey, readCalls }: Parts,
) {
  const { backend, tokenizer } = session;
  if (backend.vectors.only) {
    throw new InvalidRequestError('This model embeds text and cannot write any. Call embed(), or load a chat model.');
  }
  const resolved = resolveGenerate(options, 'messages' in input ? 'chat' : 'complete');
  const { maxTokens, stop, reasoning, runAhead, gpuTimes: timed, reuseCache } = resolved;
  const depth = runAheadOf(session, runAhead);
  const thinking = obey?.isDocument ? thinkingOf(session, resolved.thinking) : resolved.thinking;
  const fitting = await fittingPrompt(input, thinking, session, resumed);
  const { ids, told, chat, ...beginning } = fitting;
  const constraint = obey?.constrain(session, fitting, resolved) ?? null;
  const spelled = chat && reuseCache && !resumed && session.branches?.spell(session, ids, tokenizer);
  const prompt = spelled && spelled.length < backend.contextLength ? spelled : ids;
  const parser = createAnswerParser(tokenizer, {
    stop,
    ...beginning,
    syntax: chat ? session.template?.syntax : undefined,
    tools: chat?.toolChoice === 'none' ? undefined : chat?.tools,
    readCalls,
    reasoning,
  });
  const room = backend.contextLength - prompt.length;
  const { eosIds } = tokenizer;
  const sampling = samplingParams(resolved, { start: prompt.length, vocabSize: session.vocabSize, eosIds });
  const most = Math.min(maxTokens ?? room, room);
  const ends = { promptLength: prompt.length, room, most, eosIds: resolved.ignoreEos ? [] : eosIds, names: tokenizer };
  const known = Uint32Array.from([...prompt, ...told]);
  return { constraint, sampling, timed, runAhead: depth, prompt, chat, told, known, parser, ends, reuseCache };
}

/** The run-ahead of the answer before, which has learned the times of this browser and GPU, or a new one. */
function runAheadOf(session: Session, asked: 'auto' | number): RunAhead {
  const { backend, runAhead: known } = session;
  const most = backend.maxRunAhead;
  const mostShared = backend.decodeMany && most > 1 ? MOST_SHARED : 1;
  const runAhead = known?.suits(asked, most, mostShared)
    ? known
    : new RunAhead(asked, most, mostShared, backend.stepBoundMs);
  session.runAhead = runAhead;
  return runAhead;
}

function ignore(): void {}
