// A clock that stands still until a test moves it.

import type { Clock } from '../../src/remote/clock';

export class FakeClock implements Clock {
  readonly epochMs = 1_000_000;
  private ms = 0;
  private timers: { atMs: number; action: () => void }[] = [];

  now(): number {
    return this.ms;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { atMs: this.ms + ms, action };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** How many waits are running. */
  get waiting(): number {
    return this.timers.length;
  }

  /** Resolves once something waits for the clock. */
  async waits(): Promise<void> {
    while (this.timers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Resolves once something waits for exactly so long. */
  async waitsFor(ms: number): Promise<void> {
    while (!this.timers.some(({ atMs }) => atMs === this.ms + ms))
      await new Promise((resolve) => setImmediate(resolve));
  }

  /** Goes on by so many milliseconds, and ends the waits that are over by then. */
  advance(ms: number): void {
    this.ms += ms;
    const due = this.timers.filter((timer) => timer.atMs <= this.ms);
    this.timers = this.timers.filter((timer) => timer.atMs > this.ms);
    for (const { action } of due) action();
  }
}
