// The engine that all tabs of a site share, from a file beside the script tag. The build of the tag puts this in place
// of load_tabs.ts.

import { Engine, type EngineLoadOptions, engineParts } from '../../engine/engine';
import type * as tabs from '../../tabs/share';
import { loadPart } from './load_part';

/** What embed_tabs.js hands over. */
type TabsPart = Pick<typeof tabs, 'shareable' | 'share'>;

export async function loadShared(): Promise<(model: string, options: EngineLoadOptions) => Promise<Engine>> {
  const { shareable, share } = await loadPart<TabsPart>('embed_tabs.js');
  return async (model, options) =>
    (await shareable(engineParts, model)) !== null
      ? new Engine(await share(engineParts, model, options))
      : Engine.load(model, options);
}
