// What the page has heard of one answer: enough to go on in another worker, and to end the answer without a worker.

import type { EngineEvent, EngineInfo, ResumedAnswer } from '../protocol';
import { summarizeGaps } from '../tbt';

type Done = Extract<EngineEvent, { type: 'done' }>;

export class HeardAnswer {
  private readonly ids: number[] = [];
  private readonly gaps: number[] = [];
  private promptIds: number[] | null = null;
  private cachedTokens = 0;
  private prefillMs = 0;
  private readonly askedAtMs = performance.timeOrigin + performance.now();
  private firstAtMs = 0;
  private lastAtMs = 0;
  /** True once another worker has gone on. */
  private isResumed = false;

  constructor(
    private readonly info: Pick<EngineInfo, 'attention' | 'step'>,
    private readonly seed: number,
  ) {}

  /** Ids of the prompt and of the answer. */
  get length(): number {
    return (this.promptIds?.length ?? 0) + this.ids.length;
  }

  /** The part that another worker continues. Undefined while the answer has not begun. */
  get resumed(): ResumedAnswer | undefined {
    const { promptIds, ids } = this;
    return promptIds ? { promptIds, ids } : undefined;
  }

  /**
   * Takes an event and returns it as the caller sees it, the figures counted over all workers. Null for an event that
   * only tells how a worker catches up.
   */
  take(event: EngineEvent): EngineEvent | null {
    if (event.type === 'start') return this.start(event);
    if (event.type === 'queued') return this.promptIds ? null : event; // another worker catches up
    if (event.type === 'prefill') return this.ids.length > 0 ? null : event;
    if (event.type === 'token') {
      const isFirst = this.ids.push(event.id) === 1;
      const tbtMs = isFirst ? null : (event.tbtMs ?? Math.max(0, event.atMs - this.lastAtMs));
      if (isFirst) {
        this.prefillMs = event.inFlightMs;
        this.firstAtMs = event.atMs;
      }
      if (tbtMs !== null) this.gaps.push(tbtMs);
      this.lastAtMs = event.atMs;
      return tbtMs === event.tbtMs ? event : { ...event, tbtMs };
    }
    if (!this.isResumed) return event;
    if (event.type === 'gpuTimes') return { ...event, gpuMs: null }; // they miss the steps of the lost worker
    if (event.type !== 'done') return event;
    return { ...event, metrics: { ...event.metrics, ...this.times() } };
  }

  /** The end of an answer whose worker sends none. Figures that only the worker knows are null, 0 or empty. */
  stopped(): Done {
    const { attention, step } = this.info;
    return {
      type: 'done',
      text: '',
      finishReason: 'abort',
      seed: this.seed,
      usage: {
        promptTokens: this.promptIds?.length ?? 0,
        cachedTokens: this.cachedTokens,
        completionTokens: this.ids.length,
        reasoningTokens: 0,
      },
      metrics: {
        attention,
        step,
        tokenizeMs: 0,
        ...this.times(),
        perToken: null,
        runAhead: 0,
        peakGpuBytes: null,
      },
    };
  }

  private start(event: Extract<EngineEvent, { type: 'start' }>): EngineEvent | null {
    this.isResumed = this.promptIds !== null;
    if (this.isResumed) return null;
    this.promptIds = event.promptIds;
    this.cachedTokens = event.cachedTokens;
    return event;
  }

  private times() {
    const { gaps, prefillMs } = this;
    const prefilled = (this.promptIds?.length ?? 0) - this.cachedTokens;
    const decodeMs = this.lastAtMs - this.firstAtMs;
    return {
      ttftMs: this.ids.length > 0 ? Math.max(0, this.firstAtMs - this.askedAtMs) : null,
      prefillMs,
      prefillTokensPerSecond: prefillMs > 0 ? (prefilled * 1000) / prefillMs : null,
      decodeTokensPerSecond: decodeMs > 0 ? (gaps.length * 1000) / decodeMs : null,
      tbtMs: summarizeGaps(gaps),
    };
  }
}
