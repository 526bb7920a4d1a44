// The record of one run: the engine's events, arranged for charts, figures and exports. Measures when each token
// reached the page and when it was painted, and estimates TTFT until the engine reports its own.

import {
  type AnswerPart,
  type EngineEvent,
  type EngineInfo,
  type FinishReason,
  type Recovery,
  type RunMetrics,
  type TbtSummary,
  type TokenEvent,
  takeRecovery,
  type Usage,
  type Warning,
} from '../../engine/engine';
import { summarizeGaps } from '../../engine/tbt';
import { afterPaint } from '../shared/after_paint';
import {
  type DoneEvent,
  MARK,
  type Mark,
  type PlaceStart,
  type RecordedToken,
  type RunData,
  runLabel,
  type Stall,
} from './run_data';
import { originHere, type RunOrigin } from './run_origin';
import { findStalls } from './stalls';

interface RunRecordOptions {
  info?: EngineInfo | null;
  isFirst?: boolean;
  /** The known origin of the run. */
  origin?: Partial<RunOrigin>;
  /** Milliseconds since the epoch of 1970. */
  now?: () => number;
  /** Replaces afterPaint, for tests. */
  onPaint?: typeof afterPaint;
}

const epochNow = () => performance.timeOrigin + performance.now();

export class RunRecord implements RunData {
  readonly origin: RunOrigin;
  info: EngineInfo | null;
  readonly places: PlaceStart[] = [];
  readonly isFirst: boolean;
  readonly tokens: RecordedToken[] = [];
  readonly tokenNumbers: number[] = [];
  readonly gaps: number[] = [];
  readonly marks: Mark[] = [];
  readonly warnings: Warning[] = [];
  readonly recoveries: Recovery[] = [];
  readonly parts: AnswerPart[] = [];
  promptIds: readonly number[] | null = null;
  prefill: { done: number; total: number } | null = null;
  done: DoneEvent | null = null;
  isEnded = false;
  private readonly now: () => number;
  private readonly onPaint: typeof afterPaint;
  private readonly startedAt: number;
  private firstTokenAt: number | null = null;
  private summarySoFar: TbtSummary = summarizeGaps([]);
  private stallsSoFar: { of: string; stalls: readonly Stall[] } | null = null;
  /** Number of painted tokens, and whether a frame is pending. */
  private painted = 0;
  private awaitsPaint = false;

  constructor({ info = null, isFirst = false, origin, now = epochNow, onPaint = afterPaint }: RunRecordOptions = {}) {
    this.info = info;
    this.isFirst = isFirst;
    this.now = now;
    this.onPaint = onPaint;
    this.startedAt = now();
    this.origin = originHere({ startedAt: this.startedAt, ...origin });
  }

  get label(): string {
    return runLabel(this.info, this.metrics);
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
    if (this.summarySoFar.perToken.length !== this.gaps.length) this.summarySoFar = summarizeGaps(this.gaps);
    return this.summarySoFar;
  }

  get decodeTokensPerSecond(): number | null {
    if (this.metrics) return this.metrics.decodeTokensPerSecond;
    const { mean } = this.tbt;
    return mean ? 1000 / mean : null;
  }

  get stalls(): readonly Stall[] {
    const of = [this.gaps.length, this.marks.length, this.isEnded, !!this.metrics?.gpuMs].join();
    if (this.stallsSoFar?.of !== of) this.stallsSoFar = { of, stalls: findStalls(this) };
    return this.stallsSoFar.stalls;
  }

  get isRunning(): boolean {
    return !this.isEnded && (this.prefill !== null || this.tokens.length > 0);
  }

  record(event: EngineEvent): void {
    switch (event.type) {
      case 'queued':
        break; // nothing of this run has begun
      case 'start':
        this.promptIds = event.promptIds;
        break;
      case 'prefill':
        this.prefill = { done: event.done, total: event.total };
        break;
      case 'token':
        this.recordToken(event);
        break;
      case 'warning':
        this.warnings.push({ code: event.code, message: event.message });
        break;
      case 'done':
        this.done = event;
        this.isEnded = true;
        break;
      case 'gpuTimes':
        if (this.done) this.done = { ...this.done, metrics: { ...this.done.metrics, gpuMs: event.gpuMs } };
        break;
      case 'recovered':
        this.mark(MARK.recovery);
        takeRecovery(this.recoveries, event, this.tokens.length);
        break;
      case 'interrupted':
        takeRecovery(this.recoveries, event, this.tokens.length);
        break;
      case 'place':
        this.info = event.info;
        this.places.push({ afterToken: this.tokens.length, place: event.place });
        break;
      case 'reasoning':
      case 'tool-call':
      case 'tool-call-error':
        this.parts.push(event); // their times are those of the token before
        break;
      default:
        event satisfies never;
    }
  }

  mark(label: string): void {
    this.marks.push({ afterToken: this.tokens.length, atMs: this.now(), label });
  }

  private recordToken({ type, ...token }: TokenEvent): void {
    const now = this.now();
    this.firstTokenAt ??= now;
    this.tokens.push({ ...token, receivedMs: Math.max(0, now - token.atMs), paintedMs: null });
    if (token.tbtMs !== null) {
      this.tokenNumbers.push(this.tokens.length);
      this.gaps.push(token.tbtMs);
    }
    const comesAfterThinking = token.text.trim() !== '' && this.parts.at(-1)?.type === 'reasoning';
    if (comesAfterThinking && !this.marks.some(({ label }) => label === MARK.answer)) this.mark(MARK.answer);
    if (this.awaitsPaint) return;
    this.awaitsPaint = true;
    this.onPaint(this.frame);
  }

  /** One frame paints all tokens that arrived before it. */
  private readonly frame = () => {
    this.awaitsPaint = false;
    const tokens = this.tokens.length;
    return () => {
      const now = this.now();
      for (; this.painted < tokens; this.painted++) {
        const token = this.tokens[this.painted];
        token.paintedMs = Math.max(0, now - token.atMs);
      }
    };
  };
}
