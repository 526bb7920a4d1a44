// The moments of the checks in idle: some minutes apart, and only a while after the last request.

/** The pause in requests before a check. */
const IDLE_MS = 5_000;
/** The least time between a load or a check and the next check. */
const APART_MS = 300_000;

export class IdleCheck {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = performance.now();

  constructor(
    private readonly check: () => void,
    private readonly idleMs = IDLE_MS,
    private readonly apartMs = APART_MS,
  ) {}

  /** A request came: nothing is checked until `idle`. */
  busy(): void {
    clearTimeout(this.timer);
  }

  /** All requests have ended. A check follows, unless a request comes first; without further use it is the only one. */
  idle(): void {
    clearTimeout(this.timer);
    const waitMs = Math.max(this.idleMs, this.last + this.apartMs - performance.now());
    this.timer = setTimeout(() => {
      this.last = performance.now();
      this.check();
    }, waitMs);
  }
}
