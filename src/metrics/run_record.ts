// What the panel knows about one run: the engine's events, laid out for a chart, a table of figures and an export.
// It measures nothing but a first guess of TTFT, which the engine's own figure replaces when the run is done.

import type { EngineEvent, FinishReason, RunMetrics, TbtSummary, Usage, Warning } from '../engine/engine';
import { summariseGaps } from './tbt_stats';

export interface RecordedToken {
  id: number;
  text: string;
  tbtMs: number | null;
  position: number;
}

/** Something that happened between two tokens and may explain a gap. */
export interface Mark {
  /** Tokens that had arrived by then. */
  afterToken: number;
  label: string;
}

export class RunRecord {
  readonly tokens: RecordedToken[] = [];
  /** The chart's points: numbers of the tokens that have a gap before them, counted from 1, and these gaps. */
  readonly tokenNumbers: number[] = [];
  readonly gaps: number[] = [];
  readonly marks: Mark[] = [];
  readonly warnings: Warning[] = [];
  prefill: { done: number; total: number } | null = null;
  seed: number | null = null;
  usage: Usage | null = null;
  finishReason: FinishReason | null = null;
  metrics: RunMetrics | null = null;
  /** The run is over, with or without figures of the engine. */
  isEnded = false;
  private readonly startedAt: number;
  private firstTokenAt: number | null = null;
  private summarySoFar: TbtSummary = summariseGaps([]);

  constructor(private readonly now: () => number = () => performance.now()) {
    this.startedAt = now();
  }

  /** From the engine when it is known, until then as seen from here. */
  get ttftMs(): number | null {
    if (this.metrics) return this.metrics.ttftMs;
    return this.firstTokenAt === null ? null : this.firstTokenAt - this.startedAt;
  }

  /** From the engine once the run is done, of the gaps so far until then. */
  get tbt(): TbtSummary {
    if (this.metrics) return this.metrics.tbtMs;
    if (this.summarySoFar.perToken.length !== this.gaps.length) this.summarySoFar = summariseGaps(this.gaps);
    return this.summarySoFar;
  }

  /** Tokens per second over the gaps so far: (n - 1) / (t_n - t_1). */
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
        this.firstTokenAt ??= this.now();
        this.tokens.push({ id: event.id, text: event.text, tbtMs: event.tbtMs, position: event.position });
        if (event.tbtMs !== null) {
          this.tokenNumbers.push(this.tokens.length);
          this.gaps.push(event.tbtMs);
        }
        break;
      case 'warning':
        this.warnings.push({ code: event.code, message: event.message });
        break;
      case 'recovered':
        this.mark('GPU recovered');
        this.warnings.push({ code: 'recovered', message: event.message });
        break;
      case 'done':
        this.seed = event.seed;
        this.usage = event.usage;
        this.finishReason = event.finishReason;
        this.metrics = event.metrics;
        this.isEnded = true;
        break;
      default:
        event satisfies never;
    }
  }

  mark(label: string): void {
    this.marks.push({ afterToken: this.tokens.length, label });
  }
}
