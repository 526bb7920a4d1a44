// One model at a time: loads it, shows how far it is, and can cancel, retry, change the settings and let go. A model that runs is let go only
// when the next one is known to be a model that loads here. The page and the embed share it.

import { Engine, type EngineLoadOptions, type ModelLocation } from '../../engine/engine';
import { type LoadSettings, toOptions } from '../settings/settings_fields';
import { type Advice, adviseLoad, isAbort, type Offer, settingsAfter } from '../shared/advice';
import type { LoadState } from './loader';

export interface SessionListener {
  onState(state: LoadState): void;
  /** Null while there is no model to ask. */
  onEngine(engine: Engine | null): void;
}

/** What a load is asked for. */
interface Choice {
  readonly model: ModelLocation;
  readonly settings: LoadSettings;
}

export class ModelSession {
  private engine: Engine | null = null;
  private loading: AbortController | null = null;
  /** What the newest load was asked for, and whether it was to ask for a new version. */
  private wanted: Choice & { asks: boolean };
  /** What ran last, or runs. */
  private former: Choice | null = null;
  /** Settles when the engine before this one has given its memory back. */
  private unloading: Promise<void> = Promise.resolve();

  /** `model` and `settings` are those of the next load; after a load that left the old model running they are that one's. */
  constructor(
    public model: ModelLocation,
    public settings: LoadSettings,
    private readonly listener: SessionListener,
    private readonly open: (model: ModelLocation, options: EngineLoadOptions) => Promise<Engine> = (model, options) =>
      Engine.load(model, options),
  ) {
    this.wanted = { model, settings, asks: false };
  }

  /** What the engine that runs was loaded from. */
  get running(): ModelLocation | null {
    return this.engine && this.former ? this.former.model : null;
  }

  /**
   * Loads the model anew, with `asks` its newest version; a load under way is given up. What goes wrong becomes a state, never an
   * exception. Settles when the load has ended, however it did.
   */
  async load(asks = false): Promise<void> {
    const { model, settings } = this;
    this.wanted = { model, settings, asks };
    const abort = new AbortController();
    const isCurrent = () => this.loading === abort;
    this.loading?.abort();
    this.loading = abort;
    this.listener.onState({ kind: 'loading', progress: null });
    if (!this.engine) this.listener.onEngine(null);
    let isOpen = false;
    try {
      // Of the same model once more there is nothing to find out first.
      if (!this.engine || (!asks && this.isRunning(model, settings))) await this.letGo();
      abort.signal.throwIfAborted();
      const engine = await this.open(model, {
        ...toOptions(settings),
        ...(asks && { cache: 'check' as const }),
        signal: abort.signal,
        onProgress: async (progress) => {
          if (!isCurrent() || isOpen) return;
          this.listener.onState({ kind: 'loading', progress });
          // Its files were read and accepted. Two models may not fit the GPU, so the old one goes first.
          if (progress.stage !== 'open') await this.letGo();
        },
      });
      isOpen = true;
      if (isCurrent()) await this.letGo();
      if (!isCurrent()) return await engine.unload();
      this.loading = null;
      this.engine = engine;
      this.former = { model, settings };
      this.listener.onState({ kind: 'ready' });
      this.listener.onEngine(engine);
    } catch (error) {
      if (!isCurrent()) return;
      this.end(isAbort(error) ? null : adviseLoad(error));
    }
  }

  cancel(): void {
    const { loading } = this;
    if (!loading) return;
    this.end(null);
    loading.abort();
  }

  /** What the reader chose after a load that did not end well. Settles when what follows has ended. */
  async take(offer: Offer): Promise<void> {
    if (offer === 'keep') return this.listener.onState({ kind: 'ready' });
    const { model, settings } = offer === 'former' ? (this.former ?? this.wanted) : this.wanted;
    this.model = model;
    this.settings = settingsAfter(offer, settings);
    await this.load(offer !== 'former' && this.wanted.asks);
  }

  async close(): Promise<void> {
    this.loading?.abort();
    this.loading = null;
    await this.letGo();
  }

  private isRunning(model: ModelLocation, settings: LoadSettings): boolean {
    const { engine, former } = this;
    if (!engine || former?.model !== model) return false;
    return Object.entries(former.settings).every(([key, value]) => settings[key as keyof LoadSettings] === value);
  }

  /** Ends a load that brought no model, with the way back to the one before. Null: its reader canceled it. */
  private end(failure: Advice | null): void {
    this.loading = null;
    const { former, wanted } = this;
    const engine = this.engine?.lost ? null : this.engine;
    if (engine && former) Object.assign(this, former);
    const isBack = former !== null && (former.model !== wanted.model || former.settings !== wanted.settings);
    if (!failure) {
      const offers: Offer[] = isBack ? ['retry', 'former'] : ['retry'];
      this.listener.onState(engine ? { kind: 'ready' } : { kind: 'canceled', offers });
      return;
    }
    const { what, next, offers } = failure;
    const advice: Advice = engine
      ? { what, next: `The model from before still runs. ${next}`, offers: ['keep', ...offers] }
      : { what, next, offers: isBack ? ['former', ...offers] : offers };
    this.listener.onState({ kind: 'failed', advice });
  }

  private async letGo(): Promise<void> {
    const old = this.engine;
    if (old) {
      this.engine = null;
      this.listener.onEngine(null);
      this.unloading = old.unload().catch(() => {});
    }
    await this.unloading;
  }
}
