// A run as one object, which `generate --json` prints and the panel saves. Pure.

import type {
  AnswerPart,
  BackendName,
  EngineEvent,
  EngineInfo,
  RunMetrics,
  TokenEvent,
  ToolCall,
  Warning,
} from '../protocol';

/** A pause of an answer: a loss of the worker or its GPU, or the way back to a GPU. */
export interface Recovery {
  /** The number of tokens before it. */
  afterToken: number;
  /** The code and the sentence of the loss; null, and the engine's news, where nothing was lost. */
  code: string | null;
  message: string;
  /** The pause until the answer went on, and the backend that went on. Null if it did not. */
  pauseMs: number | null;
  backend: BackendName | null;
}

/** Adds what an event tells of a recovery. @param tokens the number of tokens before it */
export function takeRecovery(recoveries: Recovery[], event: EngineEvent, tokens: number): void {
  if (event.type !== 'interrupted' && event.type !== 'recovered') return;
  const { type, message } = event;
  const begun = { afterToken: tokens, code: null, message, pauseMs: null, backend: null };
  if (type === 'interrupted') return void recoveries.push({ ...begun, code: event.code });
  const { pauseMs, backend } = event;
  const last = recoveries[recoveries.length - 1];
  if (last?.pauseMs === null) recoveries.pop();
  recoveries.push({ ...(last?.pauseMs === null ? last : begun), pauseMs, backend });
}

/** The events of one run, as a client collected them. */
export interface RunHeard {
  /** The info of the model that ran, or null if unknown. */
  info: EngineInfo | null;
  warnings: readonly Warning[];
  ids: readonly number[];
  text: string;
  /** The events of thinking and of calls. */
  parts: readonly AnswerPart[];
  /** The log probabilities of the tokens, if asked for. */
  logprobs?: readonly (TokenEvent['logprobs'] | null)[];
  /** Default: none. */
  recoveries?: readonly Recovery[];
  /** Null if the run ended before its `start`. */
  promptIds: readonly number[] | null;
  /** Null if the run ended without one. */
  done: Extract<EngineEvent, { type: 'done' }> | null;
  /** Figures measured without a `done`. */
  measured?: Partial<RunMetrics>;
}

/** Numbers as the engine reports them. Unknown figures are null, as are those that only `done` brings. */
export type RunReport = ReturnType<typeof runReport>;

/** A call as a report has it. */
interface ReportedCall extends ToolCall {
  /** The reason why the call cannot be made, and the call as the model wrote it. */
  error?: string;
  text?: string;
}

export function runReport(heard: RunHeard) {
  const { info, warnings, promptIds, ids, text, parts, logprobs, recoveries = [], done, measured = {} } = heard;
  const metrics: Partial<RunMetrics> = done?.metrics ?? measured;
  return {
    model: info?.model.name ?? null,
    adapter: info?.adapter ?? null,
    backend: info?.backend ?? null,
    attention: metrics.attention ?? info?.attention ?? null,
    step: metrics.step ?? info?.step ?? null,
    promptIds,
    ids,
    text,
    reasoning: parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''),
    toolCalls: callsOf(parts),
    ...(logprobs && { logprobs }),
    finishReason: done?.finishReason ?? null,
    recoveries,
    warnings: distinct([...(info?.warnings ?? []), ...warnings]),
    ttftMs: metrics.ttftMs ?? null,
    prefillTokensPerSecond: metrics.prefillTokensPerSecond ?? null,
    decodeTokensPerSecond: metrics.decodeTokensPerSecond ?? null,
    tbtMs: metrics.tbtMs ?? null,
    gpuMs: metrics.gpuMs ?? null,
    perToken: metrics.perToken ?? null,
    runAhead: metrics.runAhead ?? null,
    peakGpuBytes: metrics.peakGpuBytes ?? null,
  };
}

/** The calls in order, put together from their parts. */
function callsOf(parts: readonly AnswerPart[]): ReportedCall[] {
  const calls = new Map<number, ReportedCall>();
  for (const part of parts) {
    if (part.type === 'reasoning') continue;
    const call = calls.get(part.index) ?? { id: '', name: '', arguments: '' };
    calls.set(part.index, call);
    if (part.type === 'tool-call-error') {
      call.error = part.message;
      call.text = part.text;
      continue;
    }
    call.id ||= part.id ?? '';
    call.name ||= part.name ?? '';
    call.arguments += part.arguments;
  }
  return [...calls.values()];
}

/** Drops repeated warnings: one may come with the load and again as an event. */
function distinct(warnings: readonly Warning[]): Warning[] {
  const seen = new Map(warnings.map((warning) => [`${warning.code}\0${warning.message}`, warning]));
  return [...seen.values()].map(({ code, message }) => ({ code, message }));
}
