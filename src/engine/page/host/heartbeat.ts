// Pings a worker at intervals and reports its silence. Counts beats, not time, so that a machine that slept finds its
// worker alive.

const BEAT_MS = 500;
/** The silence after a ping that makes a worker suspect, unless it asked for more patience. */
const SUSPECT_MS = 1500;

export class Heartbeat {
  /** The silence that a load may keep: the browser compiles and uploads much at once. */
  leastMs = 0;
  /** The silence that the worker asked for. */
  patienceMs = 0;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Beats since the worker was heard. The first of them pings. */
  private beats = 0;

  /**
   * @param isWatched whether the silence counts now
   * @param onSilence runs at each beat of a suspect worker
   */
  constructor(
    private readonly ping: () => unknown,
    private readonly isWatched: () => boolean,
    private readonly onSilence: (silentMs: number) => void,
  ) {}

  start(): void {
    this.timer ??= setInterval(() => this.beat(), BEAT_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Any message of the worker is a sign of life. */
  hear(): void {
    this.beats = 0;
  }

  get isSuspect(): boolean {
    return this.silentMs >= Math.max(SUSPECT_MS, this.leastMs, this.patienceMs);
  }

  private get silentMs(): number {
    return (this.beats - 1) * BEAT_MS;
  }

  private beat(): void {
    if (!this.isWatched()) this.beats = 0;
    else if (++this.beats === 1) this.ping();
    else if (this.isSuspect) this.onSilence(this.silentMs);
  }
}
