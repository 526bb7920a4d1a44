// What the panel knows about one run: the engine's events, laid out for a chart, a table of figures and an export.
// Of its own it measures when the page heard of a token and when it painted, and a first guess of TTFT, which the engine's
// own figure replaces when the run is done.

import type {
  EngineEvent,
  EngineInfo,
  FinishReason,
  RunMetrics,
  TbtSummary,
  TokenEvent,
  Usage,
  Warning,
} from '../engine/engine';
import { afterPaint } from './after_paint';
import { summariseGaps } from './tbt_stats';

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
  recovered: 'GPU recovered',
} as const;

type DoneEvent = Extract<EngineEvent, { type: 'done' }>;

/** A run as figures, charts, stalls and exports read it: one that goes on, or one that was kept to compare with. */
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
}

export interface RunRecordOptions {
  info?: EngineInfo | null;
  isFirst?: boolean;
  /** Milliseconds since the epoch of 1970. */
  now?: () => number;
  /** As afterPaint. */
  onPaint?: typeof afterPaint;
}

const epochNow = () => performance.timeOrigin + performance.now();

export class RunRecord implements RunData {
  readonly info: EngineInfo | null;
  readonly isFirst: boolean;
  readonly tokens: RecordedToken[] = [];
  readonly tokenNumbers: number[] = [];
  readonly gaps: number[] = [];
  readonly marks: Mark[] = [];
  readonly warnings: Warning[] = [];
  prefill: { done: number; total: number } | null = null;
  done: DoneEvent | null = null;
  isEnded = false;
  private readonly now: () => number;
  private readonly onPaint: typeof afterPaint;
  private readonly startedAt: number;
  private firstTokenAt: number | null = null;
  private summarySoFar: TbtSummary = summariseGaps([]);
  /** Tokens that were painted, and whether a frame is awaited. */
  private painted = 0;
  private awaitsPaint = false;

  constructor({ info = null, isFirst = false, now = epochNow, onPaint = afterPaint }: RunRecordOptions = {}) {
    this.info = info;
    this.isFirst = isFirst;
    this.now = now;
    this.onPaint = onPaint;
    this.startedAt = now();
  }

  get label(): string {
    const attention = this.metrics?.attention ?? this.info?.attention;
    const { kvCache, activations } = this.info ?? {};
    const parts = [attention?.decode, kvCache && `KV ${kvCache}`, activations && `activations ${activations}`];
    return parts.filter(Boolean).join(', ');
  }

  get metrics(): RunMetrics | null {
    return this.done?.metrics ?? null;
  }

  get seed(): number | null {
    return this.done?.seed ?? null;
  }

  get usage(): Usage | null {
    return this.done?.usage ?? null;
  }

  get finishReason(): FinishReason | null {
    return this.done?.finishReason ?? null;
  }

  get ttftMs(): number | null {
    if (this.metrics) return this.metrics.ttftMs;
    return this.firstTokenAt === null ? null : this.firstTokenAt - this.startedAt;
  }

  get tbt(): TbtSummary {
    if (this.metrics) return this.metrics.tbtMs;
    if (this.summarySoFar.perToken.length !== this.gaps.length) this.summarySoFar = summariseGaps(this.gaps);
    return this.summarySoFar;
  }

  get decodeTokensPerSecond(): number | null {
    if (this.metrics) return this.metrics.decodeTokensPerSecond;
    const { mean } = this.tbt;
    return mean ? 1000 / mean : null;
  }

  get isRunning(): boolean {
    return !this.isEnded && (this.prefill !== null || this.tokens.length > 0);
  }

  record(event: EngineEvent): void {
    switch (event.type) {
      case 'prefill':
        this.prefill = { done: event.done, total: event.total };
        break;
      case 'token':
        this.recordToken(event);
        break;
      case 'warning':
        this.warnings.push({ code: event.code, message: event.message });
        break;
      case 'recovered':
        this.mark(MARK.recovered);
        this.warnings.push({ code: 'recovered', message: event.message });
        break;
      case 'done':
        this.done = event;
        this.isEnded = true;
        break;
      default:
        event satisfies never;
    }
  }

  mark(label: string): void {
    this.marks.push({ afterToken: this.tokens.length, atMs: this.now(), label });
  }

  /** The run as it is now, as data of its own: what comes later changes nothing in it. */
  freeze(): RunData {
    const { info, label, isFirst, prefill, done, seed, usage, finishReason, metrics, isEnded } = this;
    const { ttftMs, tbt, decodeTokensPerSecond } = this;
    const facts = { info, label, isFirst, prefill, done, seed, usage, finishReason, metrics, isEnded };
    const { tokens, tokenNumbers, gaps, marks, warnings } = this;
    const lists = { tokens, tokenNumbers, gaps, marks, warnings };
    return structuredClone({ ...facts, ...lists, ttftMs, tbt, decodeTokensPerSecond });
  }

  private recordToken({ type, ...token }: TokenEvent): void {
    const now = this.now();
    this.firstTokenAt ??= now;
    this.tokens.push({ ...token, receivedMs: Math.max(0, now - token.atMs), paintedMs: null });
    if (token.tbtMs !== null) {
      this.tokenNumbers.push(this.tokens.length);
      this.gaps.push(token.tbtMs);
    }
    if (this.awaitsPaint) return;
    this.awaitsPaint = true;
    this.onPaint(this.frame);
  }

  /** One frame paints all tokens that came before it. */
  private readonly frame = () => {
    this.awaitsPaint = false;
    const tokens = this.tokens.length;
    return () => {
      const now = this.now();
      for (; this.painted < tokens; this.painted++) {
        const token = this.tokens[this.painted]!;
        token.paintedMs = Math.max(0, now - token.atMs);
      }
    };
  };
}

/** The GPU's own milliseconds of the step that brought a token (counted from 0), once the run is done and where it has a clock. */
export function gpuMsOf(run: RunData, index: number): number | null {
  return run.metrics?.gpuMs?.perToken[index - 1] ?? null;
}
