// The loop: prompt to ids, ids to tokens, tokens to events, with the time of each by the only clock (token_clock).
// It knows no GPU: a backend queues steps and brings ids back late.

import { InvalidRequestError, NotFiniteError } from '../../errors';
import { NO_TOKEN, resolveSampling } from '../../sampling/sampling';
import { createStreamDecoder } from '../../text/stream_decoder';
import type {
  EngineEvent,
  FinishReason,
  GenerateInput,
  GenerateOptions,
  PerToken,
  RunMetrics,
  TokenEvent,
} from '../protocol';
import { summarizeGaps } from '../tbt';
import { type Backend, MOST_SHARED } from './backend';
import { goesOn, promptIds } from './prompt';
import { RunAhead } from './run_ahead';
import type { Session } from './session';
import { TokenClock } from './token_clock';

/** Answers one request: events through `emit`, `done` last. Ends soon after `stopped` turns true; the session stays usable. */
export async function generate(
  session: Session,
  input: GenerateInput,
  options: GenerateOptions,
  emit: (event: EngineEvent) => void,
  stopped: () => boolean,
): Promise<void> {
  const { backend, tokenizer } = session;
  const clock = new TokenClock();
  const sampling = resolveSampling(options);
  const runAhead = runAheadOf(session, options);
  const stop = checkStop(options.stop);
  const prompt = promptIds(input, session);
  const decoder = createStreamDecoder(tokenizer, { stop, goesOn: goesOn(input, prompt, tokenizer) });
  const room = backend.contextLength - prompt.length;
  const most = Math.min(checkMaxTokens(options.maxTokens), room);
  clock.tokenized = performance.now();

  const cached = sharedPrefix(session.cachedIds, prompt);
  const eos = new Set(tokenizer.eosIds);
  const ids: number[] = [];
  const inFlight: Promise<number | Uint32Array>[] = [];
  let queued = 0; // tokens that are on their way or here
  const queue = (arrival: Promise<number | Uint32Array>, count: number, recordedAt: number) => {
    arrival.catch(ignore); // heard when its turn comes, which may be after it failed
    inFlight.push(arrival);
    queued += count;
    for (let i = 0; i < count; i++) clock.records(recordedAt);
  };
  let finishReason: FinishReason | null = null;
  let counted = backend.counters && { ...backend.counters };
  let compiled = counted?.pipelines ?? 0;

  const toPrefill = prompt.length - cached;
  const progress = (done: number) => {
    session.cachedIds = Array.from(prompt.subarray(0, cached + done));
    emit({ type: 'prefill', done, total: toPrefill });
  };
  // Until the prompt is through, only what was shared is surely in the cache.
  session.cachedIds = Array.from(prompt.subarray(0, cached));
  progress(0);

  let isWhole = true; // what the cache holds can be used again
  const take = (id: number): FinishReason | null => {
    if (id === NO_TOKEN) {
      isWhole = false;
      throw new NotFiniteError(prompt.length + ids.length);
    }
    clock.arrived();
    runAhead.arrived(clock.last);
    if (ids.push(id) === 1) progress(toPrefill);

    const ended = eos.has(id);
    const text = ended ? '' : decoder.push(id);
    const { tbtMs, inFlightMs, workerMs } = clock;
    const position = prompt.length + ids.length - 1;
    const atMs = performance.timeOrigin + clock.last;
    const event: TokenEvent = { type: 'token', id, text, tbtMs, position, atMs, inFlightMs, workerMs };
    const { pipelines = 0 } = backend.counters ?? {};
    if (pipelines > compiled) event.pipelines = pipelines - compiled;
    compiled = pipelines;
    emit(event);
    if (ended) return 'eos';
    if (decoder.stopped) return 'stop';
    if (stopped()) return 'abort';
    if (ids.length === most) return most === room ? 'context' : 'length';
    return null;
  };

  try {
    backend.begin(sampling, options.gpuTimes ?? true);
    const run = () => backend.prefill(prompt.slice(cached), cached, progress, stopped);
    const { token: firstToken } = stopped() ? { token: null } : await run();
    if (firstToken) queue(firstToken, 1, clock.tokenized);
    else finishReason = 'abort';
    counted = backend.counters && { ...backend.counters };

    while (finishReason === null) {
      while (inFlight.length < backend.maxRunAhead && queued < most) {
        const count = Math.min(runAhead.shared, most - queued);
        if (queued - ids.length + count > runAhead.depth) break;
        // Token i sits at prompt.length + i; the step that reads it brings token i + 1.
        const position = prompt.length + queued - 1;
        const now = performance.now();
        const asks = count > 1 && backend.decodeMany ? backend.decodeMany(position, count) : backend.decode(position);
        queue(asks, count, now);
      }
      clock.waits();
      const arrival = await (inFlight.shift() as Promise<number | Uint32Array>);
      if (typeof arrival === 'number') finishReason = take(arrival);
      else for (let i = 0; i < arrival.length && finishReason === null; i++) finishReason = take(arrival[i]);
    }
  } finally {
    // Steps queued past the end are discarded: their positions are dead, nothing has to be undone.
    await Promise.allSettled(inFlight);
    if (!isWhole) session.cachedIds = [];
    else if (ids.length > 0) session.cachedIds = [...prompt, ...ids.slice(0, -1)];
  }

  const stepCalls = perToken(backend, counted, queued - 1); // before the times are read: that readback is no step's
  const stepTimes = clock.gaps.length > 0 ? await backend.stepTimes() : null;
  const metrics: RunMetrics = {
    attention: backend.attention,
    ttftMs: clock.first === null ? null : clock.first - clock.start,
    tokenizeMs: clock.tokenized - clock.start,
    prefillMs: (clock.first ?? performance.now()) - clock.tokenized,
    prefillTokensPerSecond: clock.first === null ? null : perSecond(toPrefill, clock.first - clock.tokenized),
    decodeTokensPerSecond: clock.first === null ? null : perSecond(clock.gaps.length, clock.last - clock.first),
    tbtMs: summarizeGaps(clock.gaps),
    gpuMs: stepTimes && summarizeGaps(stepTimes.slice(0, clock.gaps.length)),
    perToken: stepCalls,
    runAhead: runAhead.depth,
    peakGpuBytes: backend.peakGpuBytes,
  };
  emit({
    type: 'done',
    text: decoder.flush(),
    finishReason: finishReason ?? 'abort',
    seed: sampling.seed,
    promptIds: Array.from(prompt),
    usage: { promptTokens: prompt.length, cachedTokens: cached, completionTokens: ids.length },
    metrics,
  });
}

function ignore(): void {}

/** A step's lateness and length outlive an answer: the next one starts at the depth that this one ended with. */
function runAheadOf(session: Session, { runAhead: asked = 'auto' }: GenerateOptions): RunAhead {
  const { backend, runAhead: known } = session;
  const most = backend.maxRunAhead;
  const mostShared = backend.decodeMany && most > 1 ? MOST_SHARED : 1;
  const runAhead = known?.suits(asked, most, mostShared)
    ? known
    : new RunAhead(asked, most, mostShared, backend.stepBoundMs);
  runAhead.restart();
  session.runAhead = runAhead;
  return runAhead;
}

function checkMaxTokens(maxTokens: number | undefined): number {
  if (maxTokens === undefined) return Number.POSITIVE_INFINITY;
  if (Number.isInteger(maxTokens) && maxTokens >= 1) return maxTokens;
  throw new InvalidRequestError(`maxTokens must be a whole number of at least 1, got ${String(maxTokens)}.`);
}

function checkStop(stop: readonly string[] | undefined): readonly string[] {
  const list = stop ?? [];
  if (Array.isArray(list) && list.every((text) => typeof text === 'string' && text !== '')) return list;
  throw new InvalidRequestError('stop must be a list of strings, each of at least one character.');
}

/** Tokens at the start that need no new pass. The last of the prompt always runs: its logits give the first token. */
function sharedPrefix(cached: readonly number[], prompt: Uint32Array): number {
  const most = Math.min(cached.length, prompt.length - 1);
  let n = 0;
  while (n < most && cached[n] === prompt[n]) n++;
  return n;
}

function perSecond(count: number, ms: number): number | null {
  return count > 0 && ms > 0 ? (count * 1000) / ms : null;
}

/** What a decode step asked of WebGPU, from the counters at the calls. */
function perToken(backend: Backend, before: Backend['counters'], steps: number): PerToken | null {
  const after = backend.counters;
  if (!before || !after || steps < 1) return null;
  const each = (name: keyof PerToken) => (after[name] - before[name]) / steps;
  return {
    dispatches: each('dispatches'),
    submits: each('submits'),
    syncs: each('syncs'),
    bytesRead: each('bytesRead'),
  };
}
