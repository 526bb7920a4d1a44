// Pings a worker at intervals and reports a long silence. Counts beats, not time, so that a machine that slept finds
// its worker alive.

const BEAT_MS = 10_000;
/** Unanswered beats after which a worker counts as dead. One token of a large model on the CPU takes seconds. */
const MOST_UNANSWERED = 6;

export class Heartbeat {
  private timer: ReturnType<typeof setInterval> | undefined;
  private unanswered = 0;

  constructor(
    private readonly ping: () => Promise<unknown>,
    private readonly onSilence: (seconds: number) => void,
  ) {}

  start(): void {
    this.timer ??= setInterval(() => this.beat(), BEAT_MS);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.unanswered = 0;
  }

  private beat(): void {
    if (this.unanswered++ === 0) void this.awaitPong();
    if (this.unanswered > MOST_UNANSWERED) this.onSilence((MOST_UNANSWERED * BEAT_MS) / 1000);
  }

  private async awaitPong(): Promise<void> {
    await this.ping();
    this.unanswered = 0;
  }
}
