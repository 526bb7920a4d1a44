import type { EngineInfo, LoadProgress } from '../protocol';

/** Progress is told at most this often. */
const INTERVAL_MS = 50;

/** Turns arriving bytes and changing stages into progress events with speed and time left. */
export class LoadTracker {
  private current: LoadProgress['stage'] = 'open';
  private loadedBytes = 0;
  private totalBytes = 0;
  private cachedBytes = 0;
  /** When the network had to help, null while it has not. */
  private fetchMs: number | null = null;
  private readonly startMs = performance.now();
  private readonly stageStarts = new Map<LoadProgress['stage'], number>([['open', this.startMs]]);
  private lastTold = Number.NEGATIVE_INFINITY;
  private hearing: Promise<unknown> = Promise.resolve();

  constructor(private readonly tell: (progress: LoadProgress) => unknown) {}

  /** Settles when whoever was told last is done with that: a page may let go of another model first. */
  async heard(): Promise<void> {
    await this.hearing;
  }

  addBytes(bytes: number, fromCache = false): void {
    if (fromCache) this.cachedBytes += bytes;
    else this.fetchMs ??= this.cachedBytes > 0 ? performance.now() : this.startMs;
    this.loadedBytes += bytes;
    this.report(false);
  }

  stage(stage: LoadProgress['stage'], totalBytes: number): void {
    this.current = stage;
    this.totalBytes = totalBytes;
    this.stageStarts.set(stage, performance.now());
    this.report(true);
  }

  /** Milliseconds of each stage; weights and pipelines overlap, `compile` is what was left when the weights were there. */
  times(): EngineInfo['loadMs'] {
    const at = (stage: LoadProgress['stage'], fallback: number) => this.stageStarts.get(stage) ?? fallback;
    const ready = at('ready', performance.now());
    const compile = at('compile', ready);
    const weights = at('weights', compile);
    return { open: weights - this.startMs, weights: compile - weights, compile: ready - compile };
  }

  private report(now: boolean): void {
    const time = performance.now();
    if (!now && time - this.lastTold < INTERVAL_MS) return;
    this.lastTold = time;
    // What is left comes as fast as what was fetched so far, not as what was here already.
    const seconds = (time - (this.fetchMs ?? this.startMs)) / 1000;
    const bytes = this.fetchMs === null ? this.cachedBytes : this.loadedBytes - this.cachedBytes;
    const bytesPerSecond = seconds > 0 && bytes > 0 ? bytes / seconds : null;
    // Headers are read too, and a part may come twice after a broken connection: never show more than there is.
    const loadedBytes = this.totalBytes > 0 ? Math.min(this.loadedBytes, this.totalBytes) : this.loadedBytes;
    const left = this.totalBytes - loadedBytes;
    const hearing = this.tell({
      stage: this.current,
      loadedBytes: this.current === 'ready' ? this.totalBytes : loadedBytes,
      totalBytes: this.totalBytes,
      cachedBytes: Math.min(this.cachedBytes, loadedBytes),
      bytesPerSecond,
      secondsLeft: bytesPerSecond === null || this.totalBytes === 0 ? null : left / bytesPerSecond,
    });
    this.hearing = Promise.resolve(hearing).catch(() => {}); // what fails there is not the load's
  }
}
