// A run as figures, charts, stalls and exports read it. Types, and what is read off them.

import type {
  EngineEvent,
  EngineInfo,
  FinishReason,
  RunMetrics,
  TbtSummary,
  TokenEvent,
  Usage,
  Warning,
} from '../../engine/engine';

/** All but `paintedMs` is known when the token is recorded. Milliseconds. */
export interface RecordedToken extends Omit<TokenEvent, 'type'> {
  /** From its arrival in the worker until this page heard of it; two clocks of a machine may differ by a little: never below 0. */
  receivedMs: number;
  /** From its arrival in the worker until the next frame was painted; null until then. A hidden page paints nothing. */
  paintedMs: number | null;
}

/** Something that happened between two tokens and may explain a gap. */
export interface Mark {
  /** Tokens that had arrived by then. */
  afterToken: number;
  /** Milliseconds since the epoch of 1970, as the page's clock tells them. */
  atMs: number;
  label: string;
}

/** Labels of marks that explain a stall. */
export const MARK = {
  hidden: 'tab hidden',
  shown: 'tab shown',
  tuning: 'tuning',
  tuned: 'tuning ended',
} as const;

export type DoneEvent = Extract<EngineEvent, { type: 'done' }>;

/** A gap that was far longer than the others, and why. */
export interface Stall {
  /** Number of the token that came late, counted from 1. */
  token: number;
  gapMs: number;
  cause: StallCause;
  /** The cause in words. */
  sentence: string;
}

type StallCause =
  | 'hidden tab'
  | 'tuning'
  | 'compile'
  | 'prefill'
  | 'GPU step'
  | 'worker busy'
  | 'readback late'
  | 'busy'
  | 'not known yet';

/** A run that goes on, or one that was kept to compare with. */
export interface RunData {
  /** Of the model that answers; null where nobody said. */
  readonly info: EngineInfo | null;
  /** What it ran on, in a few words: 'fused_decode, KV f16, activations q8'. */
  readonly label: string;
  /** The first answer since the model was loaded: its reader waited for the load, too. */
  readonly isFirst: boolean;
  readonly tokens: readonly RecordedToken[];
  /** The chart's points: numbers of the tokens that have a gap before them, counted from 1, and these gaps. */
  readonly tokenNumbers: readonly number[];
  readonly gaps: readonly number[];
  readonly marks: readonly Mark[];
  readonly warnings: readonly Warning[];
  readonly prefill: { done: number; total: number } | null;
  readonly done: DoneEvent | null;
  readonly seed: number | null;
  readonly usage: Usage | null;
  readonly finishReason: FinishReason | null;
  readonly metrics: RunMetrics | null;
  /** The run is over, with or without figures of the engine. */
  readonly isEnded: boolean;
  /** From the engine when it is known, until then as seen from here. */
  readonly ttftMs: number | null;
  /** From the engine once the run is done, of the gaps so far until then. */
  readonly tbt: TbtSummary;
  /** Tokens per second over the gaps so far: (n - 1) / (t_n - t_1). */
  readonly decodeTokensPerSecond: number | null;
  readonly stalls: readonly Stall[];
}

/** Prompt tokens that went through the model; null until the engine says. */
export function newTokensOf({ usage }: Pick<RunData, 'usage'>): number | null {
  return usage && usage.promptTokens - usage.cachedTokens;
}

/** The GPU's own milliseconds of the step that brought a token (counted from 0), once the run is done and where it has a clock. */
export function gpuMsOf(run: Pick<RunData, 'metrics'>, index: number): number | null {
  return run.metrics?.gpuMs?.perToken[index - 1] ?? null;
}
