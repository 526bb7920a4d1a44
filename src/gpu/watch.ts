// Makes a browser notice finished work on the GPU. By itself Firefox looks for it every 100 ms, and Chromium on Vulkan
// every 2 to 3 ms. Both also look at each submit, even of nothing. A browser without `postTask` is left alone.

/** The first pause in front of a look, in milliseconds. A submit of nothing takes an H200 7 us. */
const LEAST_PAUSE_MS = 1;
/** Longest pause. Pauses grow with the wait, so that work is noticed at most a tenth of the wait too late. */
const MOST_PAUSE_MS = 10;
const GROWTH = 1.1;
/**
 * The first pause of a close watch, which ends after 19 ms, when its pauses are as long as those of others. `postTask`
 * counts whole milliseconds, so such pauses keep a thread busy.
 */
const CLOSE_PAUSE_MS = 0.25;
const CLOSE_GROWTH = 1.04;

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
  private closePauseMs = CLOSE_PAUSE_MS;

  constructor(private readonly queue: GPUQueue) {}

  /** Begins a wait for the GPU. Each one has its `end`. */
  begin(): void {
    this.waits++;
    if (!this.isOn) void this.run();
  }

  end(): void {
    this.waits--;
    this.pauseMs = LEAST_PAUSE_MS;
  }

  /** Watches closely at first, at most until `wait` ends: somebody waits for a first token. */
  closely(wait: Promise<unknown>): void {
    this.awaited = wait;
    this.closePauseMs = CLOSE_PAUSE_MS;
    const end = () => {
      if (this.awaited === wait) this.awaited = null;
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
    if (this.awaited === null) {
      const delay = this.pauseMs;
      this.pauseMs = Math.min(GROWTH * delay, MOST_PAUSE_MS);
      await scheduler.postTask(() => {}, { delay });
      return;
    }
    const begun = performance.now();
    do await scheduler.postTask(() => {}, { delay: 0 });
    while (this.awaited !== null && performance.now() < begun + this.closePauseMs);
    this.closePauseMs *= CLOSE_GROWTH;
    // The watch ends when its pauses are as long as those of others, or where the clock counts whole milliseconds.
    if (this.closePauseMs > LEAST_PAUSE_MS || performance.now() >= begun + LEAST_PAUSE_MS) this.awaited = null;
  }
}
