// The `done` event of an answer whose worker has no time to send one: it works for an earlier request, or hangs.

import type { EngineEvent, EngineInfo } from '../protocol';
import { summarizeGaps } from '../tbt';

type Done = Extract<EngineEvent, { type: 'done' }>;

/** Makes `done` of the events that reached the page. Figures that only the worker knows are null, 0 or empty. */
export class StoppedAnswer {
  private readonly gaps: number[] = [];
  private promptTokens = 0;
  private cachedTokens = 0;
  private completionTokens = 0;
  private prefillMs = 0;
  private firstAtMs = 0;
  private lastAtMs = 0;

  constructor(
    private readonly info: Pick<EngineInfo, 'attention' | 'step'>,
    private readonly seed: number,
  ) {}

  record(event: EngineEvent): void {
    if (event.type === 'start') {
      this.promptTokens = event.promptIds.length;
      this.cachedTokens = event.cachedTokens;
    } else if (event.type === 'token') {
      if (this.completionTokens++ === 0) {
        this.prefillMs = event.inFlightMs;
        this.firstAtMs = event.atMs;
      } else if (event.tbtMs !== null) this.gaps.push(event.tbtMs);
      this.lastAtMs = event.atMs;
    }
  }

  done(): Done {
    const { seed, gaps, promptTokens, cachedTokens, completionTokens, prefillMs } = this;
    const decodeMs = this.lastAtMs - this.firstAtMs;
    return {
      type: 'done',
      text: '',
      finishReason: 'abort',
      seed,
      usage: { promptTokens, cachedTokens, completionTokens, reasoningTokens: 0 },
      metrics: {
        attention: this.info.attention,
        step: this.info.step,
        ttftMs: null,
        tokenizeMs: 0,
        prefillMs,
        prefillTokensPerSecond: prefillMs > 0 ? ((promptTokens - cachedTokens) * 1000) / prefillMs : null,
        decodeTokensPerSecond: decodeMs > 0 ? (gaps.length * 1000) / decodeMs : null,
        tbtMs: summarizeGaps(gaps),
        perToken: null,
        runAhead: 0,
        peakGpuBytes: null,
      },
    };
  }
}
