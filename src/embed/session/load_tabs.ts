// The engine that all tabs of a site share, for chats that ask for it. The build of the script tag puts
// load_tabs_beside.ts in place of this file.

import type { Engine, EngineLoadOptions } from '../../engine/engine';

/** The load of a shared engine. Rejects where the part does not come. */
export async function loadShared(): Promise<(model: string, options: EngineLoadOptions) => Promise<Engine>> {
  const { SharedEngine } = await import('../../tabs/shared_engine');
  return (model, options) => SharedEngine.load(model, options);
}
