// The session of one model at a time: loads, reports progress, cancels, retries, reloads with other settings, and
// unloads. A running model is unloaded only when the next one is known to load here. Shared by the page and the script
// tag.

import type { Engine, ModelLocation } from '../../engine/engine';
import { words } from '../../words/words';
import { type LoadSettings, toOptions } from '../settings/settings_fields';
import { type Advice, adviseLoad, codeOf, inEachLanguage, isAbort, type Offer, settingsAfter } from '../shared/advice';
import type { LoadState } from './loader';
import type { OpenModel } from './open_model';

export interface SessionListener {
  onState(state: LoadState): void;
  /** Receives the engine, or null while no model can answer. */
  onEngine(engine: Engine | null): void;
}

/** A model and the settings to load it with. */
interface Choice {
  readonly model: ModelLocation;
  readonly settings: LoadSettings;
}

export class ModelSession {
  private engine: Engine | null = null;
  private loading: AbortController | null = null;
  /** The newest load. `asks`: it asked the network for a new version. */
  private wanted: Choice & { asks: boolean };
  /** The running model, or the last one that ran. */
  private former: Choice | null = null;
  /** Settles when the previous engine has freed its memory. */
  private unloading: Promise<void> = Promise.resolve();

  /**
   * `model` and `settings` are those of the next load. A load that ends with the old model still running sets them back
   * to the old model's.
   */
  constructor(
    public model: ModelLocation,
    public settings: LoadSettings,
    private readonly listener: SessionListener,
    private readonly open: OpenModel,
  ) {
    this.wanted = { model, settings, asks: false };
  }

  /** The location of the running model. */
  get running(): ModelLocation | null {
    return this.engine && this.former ? this.former.model : null;
  }

  /**
   * Loads the model anew, its newest version with `asks`, and gives up a load under way. Failures become states, never
   * exceptions. Settles when the load has ended, well or not.
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
      // A reload of the running model needs no check first, so its memory is freed at once.
      if (!this.engine || (!asks && this.isRunning(model, settings))) await this.letGo();
      abort.signal.throwIfAborted();
      const engine = await this.open(model, {
        ...toOptions(settings),
        ...(asks && { cache: 'check' as const }),
        signal: abort.signal,
        onProgress: async (progress) => {
          if (!isCurrent() || isOpen) return;
          this.listener.onState({ kind: 'loading', progress });
          // The files are read and accepted. Two models may not fit the GPU, so the old one is unloaded first.
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
      this.end(isAbort(error) ? null : () => adviseLoad(error), codeOf(error));
    }
  }

  cancel(): void {
    const { loading } = this;
    if (!loading) return;
    this.end(null);
    loading.abort();
  }

  /**
   * Follows an offer that the reader took after a failed or canceled load. Settles when the load that follows has
   * ended.
   */
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

  /** Ends a load without a model and offers the way back to the former one. Null: the reader canceled the load. */
  private end(failure: (() => Advice) | null, code = ''): void {
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
    const advice = inEachLanguage(() => {
      const cause = failure();
      const { next, offers } = cause;
      if (engine) return { ...cause, next: words().advice.stillRuns(next), offers: ['keep', ...offers] };
      return { ...cause, offers: isBack ? ['former', ...offers] : offers };
    });
    this.listener.onState({ kind: 'failed', advice, code });
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
