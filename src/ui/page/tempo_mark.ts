// The tempo mark beside the product's name: a note that swings like a metronome with the tokens of an answer, and the
// rate of the newest answer.

import type { EngineEvent } from '../../engine/engine';
import { formatTokenRate } from '../../shared/format';
import { language } from '../../words/language';

/** The note swings at most four times a second: more would flicker, and take time from the tokens. */
const LEAST_BEAT_MS = 250;

/** Counts tokens into beats. Pure. */
export class Beats {
  private lastMs = Number.NEGATIVE_INFINITY;

  /** True if the token that came at `nowMs` is a beat. */
  isBeat(nowMs: number): boolean {
    if (nowMs - this.lastMs < LEAST_BEAT_MS) return false;
    this.lastMs = nowMs;
    return true;
  }
}

/** Moves `mark` with the tokens that it hears of, and writes the rate of a complete answer into `rate`. */
export class TempoMark {
  private readonly beats = new Beats();

  constructor(
    private readonly mark: Element,
    private readonly rate: HTMLElement,
  ) {}

  /** Runs for every token, so most of them cost one comparison. */
  hear(event: EngineEvent): void {
    if (event.type === 'token') {
      if (this.beats.isBeat(performance.now())) this.swing();
    } else if (event.type === 'done') this.show(event.metrics.decodeTokensPerSecond);
  }

  /** The note stands upright again. */
  rest(): void {
    this.mark.classList.remove('left', 'right');
  }

  private swing(): void {
    const isRight = this.mark.classList.toggle('right');
    this.mark.classList.toggle('left', !isRight);
  }

  private show(tokensPerSecond: number | null): void {
    if (tokensPerSecond === null) return;
    this.rate.hidden = false;
    this.rate.textContent = `= ${formatTokenRate(tokensPerSecond, language())}`;
  }
}
