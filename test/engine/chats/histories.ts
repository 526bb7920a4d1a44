// Random histories of chats on one engine: sent, edited, regenerated, aborted and switched, and of reloads that find
// prompts in storage, after tabs that died while writing. Each answer must be that of an engine with no history. Shared
// by histories.test.ts and `npm run kv-search`.

import type { KvType } from '../../../src/attention/kv_layout';
import type { AskedConstraint, GenerateOptions } from '../../../src/engine/protocol';
import { LateBranches, leaveConversation } from '../../../src/engine/worker/prefix_cache/late_branches';
import { StoredPrompts } from '../../../src/engine/worker/prefix_cache/stored_prompts';
import type { Session } from '../../../src/engine/worker/request/session';
import { Turns } from '../../../src/engine/worker/turns/turns';
import { openPromptFiles } from '../../../src/storage/prompts/prompt_files';
import { PromptStore } from '../../../src/storage/prompts/prompt_store';
import { randomSource } from '../../random';
import { FakeFolder } from '../../storage/prompts/fake_folder';
import { type Answer, ask, regexConstraint } from '../doubles/loop_session';
import type { HistoryEngine } from './history_engines';

/** Of a piece in storage. */
const PIECE = 16;
const VOCAB = 259;
/** Products of one token and of several add up in another order, which changes the last bits of logits. */
export const CLOSE = 1e-4;
/**
 * Where the cache holds signed bytes or halves, a number halfway between two may become either, by these last bits. One
 * such number moves the log probabilities of the tiny model by up to this (kv_steps.test.ts).
 */
export const KV_STEPS: Readonly<Record<KvType, number>> = { f32: 0, f16: 0.01, q8: 0.1 };
/** The share of answers that such a number may move: 6 times that of the first 900 answers. */
const MOVED_SHARE = 0.1;

/** Regular expressions of some answers, three in seven. */
const SOURCES = ['([a-d]\\d{1,3})+', '(x[m-z]{2}7?){3,}', '([b-d][0-5]{0,2}){1,999}'];

/** A chat: the ids of its turns, questions and answers in turn. */
interface Chat {
  turns: number[][];
}

export interface HistoryCounts {
  requests: number;
  promptTokens: number;
  cachedTokens: number;
  parked: number;
  stored: number;
  aborted: number;
  /** Answers with a constraint. */
  constrained: number;
  /** Answers that others ran beside. */
  beside: number;
  /** Steps of several requests in one pass. */
  together: number;
  /** Answers whose log probabilities were compared, and those of them that a step of one number moved. */
  logged: number;
  moved: number;
  wrong: string[];
}

/** Plays `steps` requests, or groups of up to `beside` requests that run beside each other. */
type Player = (seed: number, steps: number, counts: HistoryCounts, beside?: number) => Promise<void>;

interface Request {
  chat: Chat;
  prompt: number[];
  options: GenerateOptions;
  constraint: AskedConstraint | undefined;
  /** The check or the token at which it is stopped: in the prompt, after some tokens, or never. */
  end: number;
}

/** Returns a player of histories on an engine. */
export function historiesOf(engine: HistoryEngine): Player {
  const { sizes, fresh } = engine;

  return async (seed, steps, counts, beside = 1) => {
    const random = randomSource(seed);
    const pick = (n: number) => Math.floor(random() * n);
    const ids = (count: number) => Array.from({ length: count }, () => pick(VOCAB));
    const folder = new FakeFolder();
    const budgetTokens = sizes.budgets[pick(sizes.budgets.length)] ?? 0;
    let budget = 0;
    const load = async () => {
      const session = engine.load();
      budget = budgetTokens * session.backend.parking.bytesPerToken;
      session.lateBranches = new LateBranches(session.backend.parking, budget);
      session.stored = await storedIn(folder, session.backend, pick(2) === 0 ? 'all' : 'system');
      const turns = turnsOf(engine);
      engine.join(session, turns);
      return { session, turns };
    };
    let { session, turns } = await load();
    const system = ids(pick(2) === 0 ? 4 : 20);
    const chats: Chat[] = Array.from({ length: Math.max(beside, 1 + pick(4)) }, () => ({ turns: [] }));
    let chat = chats[0] as Chat;
    const requestOf = (chat: Chat): Request => {
      const prompt = promptOf(chat, system, sizes.context - sizes.answer - 10, pick);
      const drawn = pick(2 ** 32);
      const temperature = drawn % 3 === 0 ? 0 : 0.9;
      const source = SOURCES[drawn % 7];
      const constraint = source === undefined ? undefined : regexConstraint(source);
      const [ignoreEos, maxTokens] = [!constraint, 1 + pick(sizes.answer)];
      const options: GenerateOptions = { temperature, seed: drawn, maxTokens, ignoreEos };
      if (pick(4) === 0) options.repetitionPenalty = 1.3;
      if (pick(8) === 0) options.reuseCache = false;
      if (drawn % 5 === 0) options.logprobs = drawn % 4;
      if (drawn % 2 === 0) options.gpuTimes = true;
      return { chat, prompt, options, constraint, end: Number.POSITIVE_INFINITY };
    };
    const before = engine.together;
    for (let step = 0; step < steps; step++) {
      if (pick(2) === 0) chat = chats[pick(chats.length)] as Chat;
      const others = chats.filter((other) => other !== chat);
      const more = beside > 1 ? others.slice(0, 1 + pick(beside - 1)) : [];
      const requests = [chat, ...more].map(requestOf);
      if (pick(12) === 0) await leaveConversation(session);
      for (const request of requests) if (pick(4) === 0) request.end = pick(sizes.answer + 2);
      turns.most = beside === 1 || pick(4) === 0 ? 1 : beside;
      const answers = await askBeside(engine, session, turns, requests);
      for (const [i, { chat, prompt, options, constraint }] of requests.entries()) {
        const { ids, logprobs, done, gpuMs } = answers[i] ?? { ids: [], logprobs: [], done: null, gpuMs: null };
        count(counts, done);
        chat.turns.push(ids);
        const isWhole = done !== null && done.finishReason !== 'abort';
        if (!isWhole && ids.length === 0) continue;
        const maxTokens = isWhole ? options.maxTokens : ids.length;
        fresh.cachedIds = [];
        const asked = { ...options, maxTokens, reuseCache: false };
        const wanted = await ask(fresh, { ids: prompt }, asked, { constraint });
        if (constraint) counts.constrained++;
        const place = `seed ${seed}, step ${step}.${i}`;
        if (ids.join() !== wanted.ids.join()) {
          counts.wrong.push(`${place}: ${ids.join(' ')} instead of ${wanted.ids.join(' ')}`);
        }
        const distance = logprobDistance(logprobs, wanted.logprobs);
        const isMoved = distance >= CLOSE && distance < KV_STEPS[engine.kvType];
        if (options.logprobs !== undefined) counts.logged++;
        if (isMoved) counts.moved++;
        if (!(distance < CLOSE || isMoved)) counts.wrong.push(`${place}: log probabilities are off by ${distance}`);
        const [timed, steps] = [gpuMs, wanted.gpuMs].map((times) => times?.perToken.length ?? 0);
        if (timed !== steps) counts.wrong.push(`${place}: times of ${timed} steps on the GPU, of ${steps} alone`);
      }
      const { bytes } = session.branches?.held ?? { bytes: 0 };
      if (bytes > budget) counts.wrong.push(`seed ${seed}, step ${step}: ${bytes} bytes parked of ${budget}`);
      session.stored?.note(session.cachedIds, () => system.length, 1);
      if (pick(3) === 0) await write(session, folder, pick(4) === 0 ? pick(30) : Number.POSITIVE_INFINITY);
      if (pick(4) > 0) continue;
      session.branches?.giveUp();
      ({ session, turns } = await load());
    }
    session.branches?.giveUp();
    counts.together += engine.together - before;
  };
}

/** All faults: what is wrong of single answers, and numbers that move more answers than roundings do. */
export function faultsOf({ wrong, moved, logged }: HistoryCounts): readonly string[] {
  if (moved <= 1 + MOVED_SHARE * logged) return wrong;
  return [...wrong, `the log probabilities of ${moved} answers of ${logged} are off by more than ${CLOSE}`];
}

/** The largest difference of two equal answers' log probabilities. */
function logprobDistance(found: Answer['logprobs'], wanted: Answer['logprobs']): number {
  const numbers = (all: Answer['logprobs']) =>
    all.flatMap((each) => (each ? [each.chosen, ...each.top].map(({ logprob }) => logprob) : []));
  const [a, b] = [numbers(found), numbers(wanted)];
  const distances = a.map((logprob, i) => (logprob === b[i] ? 0 : Math.abs(logprob - (b[i] ?? Number.NaN))));
  return a.length === b.length ? Math.max(0, ...distances) : Number.NaN;
}

/** The next prompt of a chat: a new question, an edited one, or that of an answer that is made again. */
function promptOf(chat: Chat, system: readonly number[], most: number, pick: (n: number) => number): number[] {
  const question = () => Array.from({ length: 8 + pick(16) }, () => pick(VOCAB));
  const edits = pick(6);
  if (edits === 0) chat.turns.splice(2 * pick(1 + chat.turns.length / 2));
  const isAgain = edits === 1 && chat.turns.length > 0;
  if (isAgain) chat.turns.splice(-1);
  else chat.turns.push(question());
  const prompt = [...system, ...chat.turns.flat()];
  if (prompt.length <= most) return prompt;
  chat.turns = [question()];
  return [...system, ...chat.turns.flat()];
}

/** Turns whose clock counts how often it is asked. */
function turnsOf({ turnTicks }: HistoryEngine): Turns {
  let ticks = 0;
  return new Turns(turnTicks, () => ticks++);
}

/** Runs requests in turns. Null for one that was stopped before. */
function askBeside(
  { stopsAt }: HistoryEngine,
  session: Session,
  turns: Turns,
  requests: readonly Request[],
): Promise<(Answer | null)[]> {
  return Promise.all(
    requests.map(async ({ prompt, options, constraint, end }) => {
      let isStopped = end === 0 && requests.length > 1; // before it begins
      const turn = await turns.enter({ stopped: () => isStopped });
      if (!turn) return null;
      const reached = (count: number) => {
        isStopped ||= count >= end;
        return isStopped;
      };
      const stopped = stopsAt === 'check' ? reached : () => isStopped;
      const onToken = stopsAt === 'token' ? reached : undefined;
      const own = { stopped, onToken, constraint, turn: requests.length > 1 ? turn : undefined };
      return ask(session, { ids: prompt }, options, own).finally(() => turn.leave());
    }),
  );
}

function count(counts: HistoryCounts, done: Answer['done'] | null): void {
  counts.requests++;
  if (!done || done.finishReason === 'abort') counts.aborted++;
  if (!done) return;
  const { usage, metrics } = done;
  counts.promptTokens += usage.promptTokens;
  counts.cachedTokens += usage.cachedTokens;
  if (metrics.cache?.report === 'parked') counts.parked++;
  if (metrics.cache?.report === 'stored') counts.stored++;
  if ((metrics.othersMs ?? 0) > 0) counts.beside++;
}

export function newCounts(): HistoryCounts {
  return {
    requests: 0,
    promptTokens: 0,
    cachedTokens: 0,
    parked: 0,
    stored: 0,
    aborted: 0,
    constrained: 0,
    beside: 0,
    together: 0,
    logged: 0,
    moved: 0,
    wrong: [],
  };
}

/** What an engine has of earlier ones, in a store of a few pieces. */
async function storedIn(
  folder: FakeFolder,
  backend: ReturnType<HistoryEngine['load']>['backend'],
  keeps: 'system' | 'all',
): Promise<StoredPrompts> {
  const { bytesPerToken } = backend.parking;
  const kv = await backend.kvBytes();
  const open = async () => PromptStore.open(await openPromptFiles(folder.root), 12 * PIECE * bytesPerToken);
  const location = 'model';
  const model = Promise.resolve({ location, root: '', isKept: async () => true });
  const sizes = { leastStored: PIECE, pieceTokens: PIECE, now: () => 0 };
  return new StoredPrompts({ store: open(), location, model, kv, bytesPerToken, keeps, ...sizes });
}

/** Writes as in idle, in a tab that dies at an operation, or lives. A dead one is loaded anew. */
async function write(session: Session, folder: FakeFolder, operations: number): Promise<void> {
  folder.diesAt = folder.operations + operations;
  await session.stored?.write(
    session,
    (work) => work(),
    () => true,
  );
  folder.revive();
}
