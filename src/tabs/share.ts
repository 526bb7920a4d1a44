// Joins the tabs that share a model.

import type { EngineLoadOptions, engineParts as EngineParts, ModelLocation } from '../engine/engine';
import { withTimeout } from '../shared/with_timeout';
import { browserPlace } from './place';
import { TabHost } from './tab_host';
import { PROTOCOL } from './wire';

/** The package's version, and a hash of the sources in a build. Tabs of different builds share nothing. */
const VERSION: string = import.meta.env?.VIVACE_VERSION ?? 'sources';
const BUILD: string = import.meta.env?.VIVACE_BUILD ?? '';

/**
 * The model, if tabs can share it. Null for opened files, which other tabs do not have; on phones, which pause and end
 * hidden tabs; and where the browser lacks or refuses what tabs need, or gives no answer about it.
 */
export async function shareable({ isPhone }: typeof EngineParts, model: ModelLocation): Promise<string | null> {
  if (typeof model !== 'string' || typeof BroadcastChannel !== 'function' || isPhone()) return null;
  try {
    // A sandboxed frame, and a site without storage, have locks that refuse. Some browsers have locks that hang.
    await withTimeout(() => navigator.locks.query());
    return model;
  } catch {
    return null;
  }
}

/** @throws as Engine.load */
export function share(
  parts: typeof EngineParts,
  model: string,
  { onProgress, signal, ...given }: EngineLoadOptions,
): Promise<TabHost> {
  const options = { ...given };
  if (typeof given.hubUrl === 'string') options.hubUrl = parts.absolute(given.hubUrl); // as another page reads it
  return TabHost.open(
    browserPlace(nameOf(parts.absolute(model), options)),
    (report, loading, before) => parts.openHost(model, { ...options, onProgress: report, signal: loading }, before),
    parts,
    onProgress,
    signal,
  );
}

/** The name that tabs meet by: what decides the model and its texts. Where the worker's code lies does not. */
function nameOf(model: string, { workerUrl: _, ...options }: EngineLoadOptions): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const sorted = given.sort(([a], [b]) => (a < b ? -1 : 1));
  return `vivace ${PROTOCOL} ${VERSION} ${BUILD} ${JSON.stringify([model, ...sorted])}`;
}
