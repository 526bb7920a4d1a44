// The pace of drawings: in a frame soon after each request, but seldom enough to take only their share of the page's
// thread, and never while nothing is visible.

import { afterPaint } from './after_paint';

interface Pace {
  /** The least time between two drawings, in milliseconds. */
  leastMs: number;
  /** The largest part of the page's time for drawing and painting, judged by past drawings. */
  share: number;
}

/** The longest wait, in milliseconds: rarer drawings would look broken. */
const MOST_MS = 1000;
/** The delay of a frame, in milliseconds, beyond which the machine has no time to spare. */
const LATE_FRAME_MS = 40;
/** Factor on the wait after a late frame. */
const LATE_FACTOR = 2;

/** Milliseconds between one drawing and the next. */
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

  /** Requests a drawing. @param isLast nothing follows, so the drawing does not wait */
  ask(isLast = false): void {
    this.isAsked = true;
    if (isLast) {
      this.drawnAt = Number.NEGATIVE_INFINITY;
      if (this.timer !== undefined) this.isPending = false;
      clearTimeout(this.timer);
    }
    this.plan();
  }

  /** Takes whether the drawing is visible. Changes made while it was hidden are drawn when it appears. */
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
      // The cost includes painting.
      return () => {
        this.costMs = this.costMs * 0.7 + (performance.now() - from) * 0.3;
      };
    });
  };
}
