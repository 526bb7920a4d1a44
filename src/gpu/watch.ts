// Makes a browser notice finished work on the GPU. By itself Firefox looks for it every 100 ms, and Chromium on Vulkan
// every 2 to 3 ms. Both also look at each submit, even of nothing. A browser without `postTask` is left alone.

/** The first pause in front of a look, in milliseconds. A submit of nothing takes an H200 7 us. */
const LEAST_PAUSE_MS = 1;
/** Longest pause. Pauses grow with the wait, so that work is noticed at most a tenth of the wait too late. */
const MOST_PAUSE_MS = 10;
const GROWTH = 1.1;
/**
 * The first pause of a close look. `postTask` counts whole milliseconds, so the pauses of the first 19 ms, which are
 * shorter, keep a thread busy.
 */
const CLOSE_PAUSE_MS = 0.25;
const CLOSE_GROWTH = 1.04;
/** The growth of a close watch from LEAST_PAUSE_MS on: a token is noticed a millisecond and 1 % too late, at most. */
const LATER_GROWTH = 1.01;
/** The share of an expected wait that passes before the close look. */
const EXPECTED_SHARE = 0.97;
/** Longest expected wait that ends within a close look. For longer ones a millisecond is nothing. */
const MOST_EXPECTED_MS = 500;

interface Scheduler {
  postTask(task: () => void, options: { delay: number }): Promise<void>;
}

interface Timers {
  scheduler?: Scheduler;
}

/** True where waits make the browser look. */
export function canLook(): boolean {
  return (globalThis as Timers).scheduler !== undefined;
}

export class Watch {
  private waits = 0;
  private isOn = false;
  private hasSubmitted = false;
  private pauseMs = LEAST_PAUSE_MS;
  /** What a close watch waits for. */
  private awaited: Promise<unknown> | null = null;
  /** The time at which a close watch begins its close look. */
  private closeAt = Number.POSITIVE_INFINITY;

  constructor(private readonly queue: GPUQueue) {}

  /** Begins a wait for the GPU. Each one has its `end`. */
  begin(): void {
    this.waits++;
    if (!this.isOn) void this.run();
  }

  end(): void {
    this.waits--;
    if (this.awaited === null || this.pauseMs > LEAST_PAUSE_MS) this.pauseMs = LEAST_PAUSE_MS;
  }

  /**
   * Watches more often until `wait` ends: somebody waits for a first token. Looks closely when about `expectedMs` have
   * passed, and ever less so afterwards. 0, where nothing is known: looks closely at once.
   */
  closely(wait: Promise<unknown>, expectedMs: number): void {
    this.awaited = wait;
    this.pauseMs = LEAST_PAUSE_MS;
    const isLong = expectedMs > MOST_EXPECTED_MS;
    this.closeAt = isLong ? Number.POSITIVE_INFINITY : performance.now() + EXPECTED_SHARE * expectedMs;
    const end = () => {
      if (this.awaited !== wait) return;
      this.awaited = null;
      this.closeAt = Number.POSITIVE_INFINITY;
      this.pauseMs = LEAST_PAUSE_MS;
    };
    wait.then(end, end);
  }

  /** Takes note of a submit, which makes the browser look, too. */
  submitted(): void {
    this.hasSubmitted = true;
  }

  private async run(): Promise<void> {
    const { scheduler } = globalThis as Timers;
    if (!scheduler) return;
    this.isOn = true;
    while (this.waits > 0) {
      this.hasSubmitted = false;
      await this.pause(scheduler);
      if (this.waits > 0 && !this.hasSubmitted) this.queue.submit([]);
    }
    this.isOn = false;
  }

  private async pause(scheduler: Scheduler): Promise<void> {
    if (performance.now() + LEAST_PAUSE_MS >= this.closeAt) {
      this.pauseMs = CLOSE_PAUSE_MS;
      this.closeAt = Number.POSITIVE_INFINITY;
    }
    const { pauseMs, awaited } = this;
    if (pauseMs >= LEAST_PAUSE_MS) {
      this.pauseMs = Math.min((awaited ? LATER_GROWTH : GROWTH) * pauseMs, MOST_PAUSE_MS);
      await scheduler.postTask(() => {}, { delay: pauseMs });
      return;
    }
    const begun = performance.now();
    do await scheduler.postTask(() => {}, { delay: 0 });
    while (this.awaited === awaited && performance.now() < begun + pauseMs);
    if (this.awaited !== awaited) return;
    // A clock that counts whole milliseconds cannot time a shorter pause.
    const isCoarse = performance.now() >= begun + LEAST_PAUSE_MS;
    this.pauseMs = isCoarse ? LEAST_PAUSE_MS : Math.min(CLOSE_GROWTH * pauseMs, LEAST_PAUSE_MS);
  }
}
