import type { EngineInfo, LoadProgress } from './protocol';

/** Progress is told at most this often. */
const INTERVAL_MS = 50;

/** Turns arriving bytes and changing stages into progress events with speed and time left. */
export class LoadTracker {
  private current: LoadProgress['stage'] = 'open';
  private loadedBytes = 0;
  private totalBytes = 0;
  private readonly startMs = performance.now();
  private readonly stageStarts = new Map<LoadProgress['stage'], number>([['open', this.startMs]]);
  private lastTold = Number.NEGATIVE_INFINITY;

  constructor(private readonly tell: (progress: LoadProgress) => void) {}

  addBytes(bytes: number): void {
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
    const seconds = (time - this.startMs) / 1000;
    const bytesPerSecond = seconds > 0 && this.loadedBytes > 0 ? this.loadedBytes / seconds : null;
    // Headers are read too, and a part may come twice after a broken connection: never show more than there is.
    const loadedBytes = this.totalBytes > 0 ? Math.min(this.loadedBytes, this.totalBytes) : this.loadedBytes;
    const left = this.totalBytes - loadedBytes;
    this.tell({
      stage: this.current,
      loadedBytes: this.current === 'ready' ? this.totalBytes : loadedBytes,
      totalBytes: this.totalBytes,
      bytesPerSecond,
      secondsLeft: bytesPerSecond === null || this.totalBytes === 0 ? null : left / bytesPerSecond,
    });
  }
}
