// Keeps the runs of the panel: a moment after each has ended, when its last tokens are painted and the GPU's times may
// be known, so that nothing is written while an answer streams.

import type { RunData } from '../run/run_data';

const WAIT_MS = 500;

export class RunKeeper {
  private readonly waiting = new Set<RunData>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param keep writes a run */
  constructor(private readonly keep: (run: RunData) => void) {}

  keepSoon(run: RunData): void {
    if (run.tokens.length === 0) return;
    this.waiting.add(run);
    this.timer ??= setTimeout(this.keepNow, WAIT_MS);
  }

  /** Keeps what waits. */
  readonly keepNow = (): void => {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const run of this.waiting) this.keep(run);
    this.waiting.clear();
  };
}
