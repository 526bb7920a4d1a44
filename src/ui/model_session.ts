// One model at a time: loads it, shows how far it is, and can cancel, retry, change the settings and let go. The page and the embed share it.

import { Engine, type EngineLoadOptions, type ModelLocation } from '../engine/engine';
import { adviseLoad, isAbort, type Offer, settingsAfter } from './advice';
import type { LoadState } from './loader';
import { toLoadOptions } from './page_options';
import type { LoadSettings } from './settings_fields';

export interface SessionListener {
  onState(state: LoadState): void;
  /** Null while there is no model to ask. */
  onEngine(engine: Engine | null): void;
}

export class ModelSession {
  private engine: Engine | null = null;
  private loading: AbortController | null = null;
  /** The newest load was to ask for a new version. */
  private asks = false;
  /** Settles when the engine before this one has given its memory back. */
  private unloading: Promise<void> = Promise.resolve();

  constructor(
    public model: ModelLocation,
    public settings: LoadSettings,
    private readonly contextLength: number | undefined,
    private readonly listener: SessionListener,
    private readonly open: (model: ModelLocation, options: EngineLoadOptions) => Promise<Engine> = (model, options) =>
      Engine.load(model, options),
  ) {}

  /**
   * Loads the model anew, with `asks` its newest version; a load under way is given up. What goes wrong becomes a state, never an
   * exception.
   */
  async load(asks = false): Promise<void> {
    this.asks = asks;
    const abort = new AbortController();
    const isCurrent = () => this.loading === abort;
    this.loading?.abort();
    this.loading = abort;
    this.listener.onState({ kind: 'loading', progress: null });
    try {
      await this.letGo();
      abort.signal.throwIfAborted();
      const engine = await this.open(this.model, {
        ...toLoadOptions(this.settings, this.contextLength),
        ...(asks && { cache: 'check' as const }),
        signal: abort.signal,
        onProgress: (progress) => {
          if (isCurrent() && !this.engine) this.listener.onState({ kind: 'loading', progress });
        },
      });
      if (!isCurrent()) return await engine.unload();
      this.engine = engine;
      this.listener.onState({ kind: 'ready' });
      this.listener.onEngine(engine);
    } catch (error) {
      if (!isCurrent()) return;
      this.listener.onState(isAbort(error) ? { kind: 'cancelled' } : { kind: 'failed', advice: adviseLoad(error) });
    }
  }

  cancel(): void {
    this.loading?.abort();
  }

  /** What the reader chose after a failed load. */
  take(offer: Offer): void {
    this.settings = settingsAfter(offer, this.settings);
    void this.load(this.asks);
  }

  async close(): Promise<void> {
    this.loading?.abort();
    this.loading = null;
    await this.letGo();
  }

  private async letGo(): Promise<void> {
    const old = this.engine;
    this.engine = null;
    this.listener.onEngine(null);
    if (old) this.unloading = old.unload().catch(() => {});
    await this.unloading;
  }
}
