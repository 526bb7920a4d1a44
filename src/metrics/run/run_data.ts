// A run as figures, charts, stalls and exports read it: types, and values derived from them.

import { arithmeticText } from '../../engine/arithmetic_text';
import type {
  AnswerPart,
  EngineEvent,
  EngineInfo,
  FinishReason,
  Place,
  Recovery,
  Roofline,
  RunMetrics,
  TbtSummary,
  TokenEvent,
  Usage,
  Warning,
} from '../../engine/engine';
import { lossOf } from '../../shared/loss';
import type { RunOrigin } from './run_origin';

/** A token and its times in milliseconds. All but `paintedMs` are known when the token is recorded. */
export interface RecordedToken extends Omit<TokenEvent, 'type'> {
  /**
   * From arrival in the worker to arrival in this page, never below 0: the clocks of the two threads may differ
   * slightly.
   */
  receivedMs: number;
  /** The time from arrival in the worker to the next painting. Null until then. A hidden page paints nothing. */
  paintedMs: number | null;
}

/** An event at or after a token, such as one that may explain the next gap. */
export interface Mark {
  /** Number of tokens that arrived before the event. */
  afterToken: number;
  /** Milliseconds since the epoch of 1970, by the page's clock. */
  atMs: number;
  label: string;
}

/** Labels of marks. Those of pairs explain stalls; the answer begins after thinking, and goes on after a recovery. */
export const MARK = {
  hidden: 'tab hidden',
  shown: 'tab shown',
  tuning: 'tuning',
  tuned: 'tuning ended',
  answer: 'answer',
  recovery: 'recovery',
} as const;

export type DoneEvent = Extract<EngineEvent, { type: 'done' }>;

/** From this many tokens on, the answer comes from this place. */
export interface PlaceStart {
  afterToken: number;
  place: Place;
}

/** A gap far longer than the others, and its cause. */
export interface Stall {
  /** Number of the late token, counted from 1. */
  token: number;
  gapMs: number;
  cause: StallCause;
  /** The cause in words. */
  sentence: string;
}

type StallCause =
  | 'recovery'
  | 'hidden tab'
  | 'tuning'
  | 'other answers'
  | 'compile'
  | 'prefill'
  | 'GPU step'
  | 'worker busy'
  | 'readback late'
  | 'network or server'
  | 'busy'
  | 'not known yet';

/** A run in progress, or one kept for comparison. */
export interface RunData {
  readonly origin: RunOrigin;
  /** The model that answers, or null when unknown. Of several, the newest: the engine's figures are its own. */
  readonly info: EngineInfo | null;
  /** The places that computed the tokens, in ascending order. Empty if only the place of `info` was asked. */
  readonly places: readonly PlaceStart[];
  /** The configuration in a few words: 'fused_decode, plain step, KV f16, activations q8'. */
  readonly label: string;
  /** True for the first answer of a loaded model, whose reader also waited for the load. */
  readonly isFirst: boolean;
  /** Null before the answer's `start`. */
  readonly promptIds: readonly number[] | null;
  readonly tokens: readonly RecordedToken[];
  /** The chart's points: numbers (from 1) of the tokens with a gap before them, and these gaps. */
  readonly tokenNumbers: readonly number[];
  readonly gaps: readonly number[];
  readonly marks: readonly Mark[];
  readonly warnings: readonly Warning[];
  /** Losses of the engine's worker or GPU, and the pauses that they cost. */
  readonly recoveries: readonly Recovery[];
  /** Thinking and calls, as they came. */
  readonly parts: readonly AnswerPart[];
  readonly prefill: { done: number; total: number } | null;
  readonly done: DoneEvent | null;
  readonly seed: number | null;
  readonly usage: Usage | null;
  readonly finishReason: FinishReason | null;
  readonly metrics: RunMetrics | null;
  /** True once the run is over, with or without the engine's figures. */
  readonly isEnded: boolean;
  /** The engine's figure once known, until then the time seen by this page. */
  readonly ttftMs: number | null;
  /** The engine's figures once the run is done, until then those of the gaps so far. */
  readonly tbt: TbtSummary;
  /** Tokens per second over the gaps so far: (n - 1) / (t_n - t_1). */
  readonly decodeTokensPerSecond: number | null;
  readonly stalls: readonly Stall[];
  /** The speed of the memory that an earlier run was kept with. Null where not measured; absent in a new run. */
  readonly roofline?: Roofline | null;
}

/** The cause of a pause in a run: 'The GPU was lost; the model was loaded again.' */
export function describeRecovery({ code, message, backend }: Pick<Recovery, 'code' | 'message' | 'backend'>): string {
  if (code === null) return message;
  if (backend === 'remote') return `${lossOf(code)}; the answer went on at the server.`;
  if (code.startsWith('server-')) return `${lossOf(code)}; the answer went on in this page.`;
  return `${lossOf(code)}; the model was loaded again${backend === 'cpu' ? ' on the CPU' : ''}.`;
}

/** The configuration of a run in a few words. */
export function runLabel(info: EngineInfo | null, metrics: RunMetrics | null): string {
  if (info?.backend === 'remote') return `${info.model.architecture}, ${info.adapter}`;
  const attention = metrics?.attention ?? info?.attention;
  const step = metrics?.step ?? info?.step;
  const { kvCache } = info ?? {};
  const parts = [
    attention?.decode,
    step && `${step.name} step`,
    kvCache && `KV ${kvCache}`,
    info?.activations && `activations ${arithmeticText(info)}`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** The place that computed a token (counted from 0). */
export function placeOf({ places, info }: Pick<RunData, 'places' | 'info'>, index: number): Place {
  const start = places.findLast(({ afterToken }) => afterToken <= index);
  return start?.place ?? (info?.backend === 'remote' ? 'remote' : 'local');
}

/** The speed of the memory that a run was bound by: its own, or the one `measured` here if this is its GPU, or null. */
export function rooflineOf(
  { roofline, info: ran }: Pick<RunData, 'roofline' | 'info'>,
  info: EngineInfo | null,
  measured: Roofline | null,
): Roofline | null {
  return roofline ?? (!ran || ran.adapter === info?.adapter ? measured : null);
}

/** True if a server computed some of the tokens. */
export function isOfServer({ places, info }: Pick<RunData, 'places' | 'info'>): boolean {
  return places.length > 0 ? places.some(({ place }) => place === 'remote') : info?.backend === 'remote';
}

/** Prompt tokens that went through the model, or null until the engine reports them. */
export function newTokensOf({ usage }: Pick<RunData, 'usage'>): number | null {
  return usage && usage.promptTokens - usage.cachedTokens;
}

/**
 * Milliseconds of the GPU's step for a token (counted from 0). Null until the run is done, and on a GPU without a
 * clock.
 */
export function gpuMsOf(run: Pick<RunData, 'metrics'>, index: number): number | null {
  return run.metrics?.gpuMs?.perToken[index - 1] ?? null;
}
