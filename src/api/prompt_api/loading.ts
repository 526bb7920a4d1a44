// The engine of a LanguageModel, loaded once for all sessions that wait for it, and the progress that they hear of.

import type { LoadProgress } from '../../engine/protocol';
import { asDomException, orAborted } from './errors';
import type { Availability, CreateMonitor, EngineLoader, PromptEngine } from './types';

/** `loaded` of a progress event is a multiple of this, so that it tells little of the model's size. */
const STEP = 1 / 0x10000;

interface Load {
  engine: Promise<PromptEngine>;
  stop: AbortController;
  monitors: Set<Monitor>;
  waiting: number;
}

export class SharedEngine {
  private loaded: PromptEngine | null;
  private load: Load | null = null;
  private readonly loader: EngineLoader | null;

  constructor(source: PromptEngine | EngineLoader) {
    this.loaded = typeof source === 'function' ? null : source;
    this.loader = typeof source === 'function' ? source : null;
  }

  /** The engine, if it is loaded and answers. */
  get ready(): PromptEngine | null {
    return this.loaded?.lost ? null : this.loaded;
  }

  get availability(): Availability {
    if (this.ready) return 'available';
    return this.load ? 'downloading' : this.loader ? 'downloadable' : 'unavailable';
  }

  /**
   * The engine, after a load if need be. An abort ends the load only if no other session waits for it.
   * @throws DOMException, or the signal's reason
   */
  async acquire(monitor: Monitor, signal: AbortSignal): Promise<PromptEngine> {
    const engine = this.ready ?? (this.loader ? await this.wait(this.loader, monitor, signal) : null);
    if (!engine) throw asDomException(this.loaded?.lost, 'InvalidStateError');
    return engine;
  }

  /**
   * Waits for the load that runs, or starts one. Where it was aborted and brings an engine all the same, because its
   * loader does not heed the signal, that engine is taken: a second one may not fit beside it.
   */
  private async wait(loader: EngineLoader, monitor: Monitor, signal: AbortSignal): Promise<PromptEngine> {
    this.load ??= this.start(loader);
    const load = this.load;
    load.monitors.add(monitor);
    load.waiting++;
    try {
      return await orAborted(load.engine, signal);
    } catch (error) {
      if (load.stop.signal.aborted && !signal.aborted) return this.wait(loader, monitor, signal);
      throw asDomException(error, 'OperationError');
    } finally {
      load.monitors.delete(monitor);
      if (--load.waiting === 0 && this.load === load) load.stop.abort();
    }
  }

  private start(loader: EngineLoader): Load {
    const stop = new AbortController();
    const monitors = new Set<Monitor>();
    const onProgress = ({ stage, loadedBytes, totalBytes }: LoadProgress) => {
      const part = stage === 'weights' && totalBytes > 0 ? loadedBytes / totalBytes : 0;
      for (const monitor of monitors) monitor.report(Math.min(part, 1 - STEP));
    };
    const load: Load = { engine: this.run(loader, onProgress, stop.signal), stop, monitors, waiting: 0 };
    const forget = () => {
      this.load = null;
    };
    load.engine.then(forget, forget);
    return load;
  }

  private async run(
    loader: EngineLoader,
    onProgress: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<PromptEngine> {
    this.loaded = await loader({ onProgress, signal });
    return this.loaded;
  }
}

/** The target of `downloadprogress` events. They rise from 0 to 1, and none comes after `end`. */
export class Monitor extends EventTarget implements Pick<CreateMonitor, 'ondownloadprogress'> {
  ondownloadprogress: CreateMonitor['ondownloadprogress'] = null;
  private last = -1;

  constructor() {
    super();
    this.addEventListener('downloadprogress', (event) => this.ondownloadprogress?.(event as ProgressEvent));
  }

  report(part: number): void {
    const loaded = Math.floor(part / STEP) * STEP;
    if (loaded <= this.last) return;
    this.last = loaded;
    const progress = { lengthComputable: true, loaded, total: 1 };
    const hasClass = typeof ProgressEvent === 'function'; // not in Node
    this.dispatchEvent(
      hasClass
        ? new ProgressEvent('downloadprogress', progress)
        : Object.assign(new Event('downloadprogress'), progress),
    );
  }

  end(): void {
    this.last = 1;
  }
}
