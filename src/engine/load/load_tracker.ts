// The progress of a load.

import { TabWaits } from '../../storage/cache/tab_waits';
import type { EngineInfo, LoadProgress } from '../protocol';

/** Shortest time between two progress reports. */
const INTERVAL_MS = 50;

/** Turns arriving bytes and changing stages into progress events with speed and time left. */
export class LoadTracker {
  private current: LoadProgress['stage'] = 'open';
  private loadedBytes = 0;
  private totalBytes = 0;
  private cachedBytes = 0;
  /** Time of the first byte from the network, or null before it. */
  private fetchMs: number | null = null;
  private readonly startMs = performance.now();
  private readonly stageStarts = new Map<LoadProgress['stage'], number>([['open', this.startMs]]);
  private lastReport = Number.NEGATIVE_INFINITY;
  private reporting: Promise<unknown> = Promise.resolve();

  /** The load's waits for other tabs. */
  readonly waits: TabWaits;
  private waitsMs: number | undefined;

  /** `goesAlone` ends the waits for other tabs. */
  constructor(
    private readonly send: (progress: LoadProgress) => unknown,
    goesAlone?: AbortSignal,
  ) {
    const onWait = (ms: number | undefined) => {
      this.waitsMs = ms;
      this.report(true);
    };
    this.waits = new TabWaits(onWait, goesAlone);
  }

  /** Settles once the receiver has handled the newest report: a page may first unload another model. */
  async reported(): Promise<void> {
    await this.reporting;
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

  /** Milliseconds of each stage. Weights and pipelines overlap; `compile` is the rest after the weights are read. */
  times(): EngineInfo['loadMs'] {
    const at = (stage: LoadProgress['stage'], fallback: number) => this.stageStarts.get(stage) ?? fallback;
    const ready = at('ready', performance.now());
    const compile = at('compile', ready);
    const weights = at('weights', compile);
    return { open: weights - this.startMs, weights: compile - weights, compile: ready - compile };
  }

  private report(now: boolean): void {
    const time = performance.now();
    if (!now && time - this.lastReport < INTERVAL_MS) return;
    this.lastReport = time;
    // The rest comes at the speed of the network, not of the cache.
    const seconds = (time - (this.fetchMs ?? this.startMs)) / 1000;
    const bytes = this.fetchMs === null ? this.cachedBytes : this.loadedBytes - this.cachedBytes;
    const bytesPerSecond = seconds > 0 && bytes > 0 ? bytes / seconds : null;
    // Headers are read too, and bytes may come twice after a broken connection: never show more than the total.
    const loadedBytes = this.totalBytes > 0 ? Math.min(this.loadedBytes, this.totalBytes) : this.loadedBytes;
    const left = this.totalBytes - loadedBytes;
    const handled = this.send({
      stage: this.current,
      loadedBytes: this.current === 'ready' ? this.totalBytes : loadedBytes,
      totalBytes: this.totalBytes,
      cachedBytes: Math.min(this.cachedBytes, loadedBytes),
      bytesPerSecond,
      secondsLeft: bytesPerSecond === null || this.totalBytes === 0 ? null : left / bytesPerSecond,
      ...(this.waitsMs !== undefined && { waitsMs: this.waitsMs }),
    });
    this.reporting = Promise.resolve(handled).catch(() => {}); // failures of the receiver are not the load's
  }
}
