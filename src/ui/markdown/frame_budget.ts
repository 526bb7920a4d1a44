// The budget for new nodes in one frame, shared by all Markdown on the page.

export interface FrameWork {
  /** Works until all is done (true), or until `spend`, called with each cost, reports a full frame (false). */
  step(spend: (cost: number) => boolean): boolean;
}

interface Clock {
  now(): number;
  /** Calls `callback` before the next frame is painted. */
  nextFrame(callback: () => void): void;
}

const FRAME_MS = 8;
/** Cost of a frame, in letters. A node counts as several: layout follows the script and costs more. */
const FRAME_COST = 12_000;

export class FrameBudget {
  private readonly waiting = new Set<FrameWork>();
  private isFrameAsked = false;
  private until = 0;
  private left = 0;

  constructor(private readonly clock: Clock) {}

  /** Does the work now, as far as this frame has room, and the rest in the next frames. */
  run(work: FrameWork): void {
    if (!this.isFrameAsked) this.begin();
    if (!this.isFull && !this.waiting.has(work) && work.step(this.spend)) return;
    this.waiting.add(work);
  }

  /** Does all waiting work at once. This may take long. */
  finish(): void {
    for (const work of this.waiting) {
      this.waiting.delete(work);
      work.step(() => true);
    }
  }

  private begin(): void {
    this.until = this.clock.now() + FRAME_MS;
    this.left = FRAME_COST;
    this.isFrameAsked = true;
    this.clock.nextFrame(() => {
      this.isFrameAsked = false;
      if (this.waiting.size > 0) this.goOn();
    });
  }

  private goOn(): void {
    this.begin();
    for (const work of this.waiting) {
      if (this.isFull) return;
      if (work.step(this.spend)) this.waiting.delete(work);
    }
  }

  private get isFull(): boolean {
    return this.left <= 0 || this.clock.now() > this.until;
  }

  private readonly spend = (cost: number): boolean => {
    this.left -= cost;
    return !this.isFull;
  };
}

export const pageBudget = new FrameBudget({
  now: () => performance.now(),
  nextFrame: (callback) => requestAnimationFrame(callback),
});
