// When to draw: soon after it was asked for, in a frame, but seldom enough that drawing takes its share of the page's thread at most, and
// never while there is nothing to see.

import { afterPaint } from './after_paint';

interface Pace {
  /** No sooner after the last drawing than this, in milliseconds. */
  leastMs: number;
  /** Drawing and painting take this part of the page's time at most, as far as past ones tell. */
  share: number;
}

/** Seldomer than this would look broken. */
const MOST_MS = 1000;
/** A frame that comes later than this after it was asked for shows that the machine has no time to spare. */
const LATE_FRAME_MS = 40;
/** Then drawing waits so many times as long. */
const LATE_FACTOR = 2;

/** Milliseconds to wait from one drawing to the next. */
export function waitAfter(costMs: number, isLate: boolean, { leastMs, share }: Pace): number {
  const wait = Math.max(leastMs, costMs / share);
  return Math.min(MOST_MS, isLate ? wait * LATE_FACTOR : wait);
}

export class DrawPacer {
  private isAsked = false;
  private isShown = false;
  private isPending = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private drawnAt = Number.NEGATIVE_INFINITY;
  private costMs = 0;
  private isLate = false;

  constructor(
    private readonly draw: () => void,
    private readonly pace: Pace,
  ) {}

  /** Something changed. @param isLast what is drawn now stays: no waiting. */
  ask(isLast = false): void {
    this.isAsked = true;
    if (isLast) {
      this.drawnAt = Number.NEGATIVE_INFINITY;
      if (this.timer !== undefined) this.isPending = false;
      clearTimeout(this.timer);
    }
    this.plan();
  }

  /** What changed while nothing was to be seen is drawn when it is shown. */
  show(isShown: boolean): void {
    this.isShown = isShown;
    this.plan();
  }

  private plan(): void {
    if (this.isPending || !this.isAsked || !this.isShown) return;
    this.isPending = true;
    const wait = this.drawnAt + waitAfter(this.costMs, this.isLate, this.pace) - performance.now();
    if (wait > 0) this.timer = setTimeout(this.awaitFrame, wait);
    else this.awaitFrame();
  }

  private readonly awaitFrame = () => {
    this.timer = undefined;
    const asked = performance.now();
    afterPaint(() => {
      const from = performance.now();
      this.isLate = from - asked > LATE_FRAME_MS;
      this.isPending = false;
      if (!this.isShown) return () => {};
      this.isAsked = false;
      this.drawnAt = from;
      this.draw();
      // Painting belongs to it.
      return () => {
        this.costMs = this.costMs * 0.7 + (performance.now() - from) * 0.3;
      };
    });
  };
}
