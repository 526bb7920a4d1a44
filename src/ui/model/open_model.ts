// How the page gets an engine: from a tab of this site that has the model, or with a load of its own.

import { Engine, type EngineLoadOptions, type ModelLocation } from '../../engine/engine';

export type OpenModel = (model: ModelLocation, options: EngineLoadOptions) => Promise<Engine>;

export const openAlone: OpenModel = (model, options) => Engine.load(model, options);

/** Opens a model that all tabs share. If the part cannot be loaded, the tab loads a model of its own. */
export const openShared: OpenModel = async (model, options) => {
  const part = await import('../../tabs/shared_engine').catch(() => null);
  return (part?.SharedEngine ?? Engine).load(model, options);
};
