// The package's entry vivace/tabs: one engine for all tabs of an origin. The first tab that loads a model has it; the
// others ask that tab, and one of them goes on when it is gone.

import { Engine, type EngineLoadOptions, engineParts, type ModelLocation } from '../engine/engine';
import { share, shareable } from './share';
import type { TabHost } from './tab_host';

/** An engine, and whether the model is in this tab. */
type Led = Engine & { readonly leads: boolean };

export class SharedEngine extends Engine {
  private constructor(private readonly tab: TabHost) {
    super(tab);
  }

  /**
   * The engine of a model, loaded here or by another tab with the same model, options and version. For opened files, on
   * phones, and without Web Locks or BroadcastChannel it is an engine of this tab alone.
   * @throws as Engine.load
   */
  static override async load(model: ModelLocation, options?: EngineLoadOptions | null): Promise<Led> {
    engineParts.checkSignal(options?.signal);
    const shared = await shareable(engineParts, model);
    if (shared === null) return Object.assign(await Engine.load(model, options), { leads: true });
    return new SharedEngine(await share(engineParts, shared, options ?? {}));
  }

  /** True while the model is in this tab. */
  get leads(): boolean {
    return this.tab.leads;
  }
}
