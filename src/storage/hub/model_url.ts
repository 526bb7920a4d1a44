// Turns a model's address, as users give it, into one absolute URL.

import { ModelFetchError } from '../../errors';
import { quoted } from '../checks/bounds';
import { HUB, hubLocation, parseHubId, readHubUrl } from './hub_address';

/**
 * The absolute and canonical URL of a model. A hub's repository, given as an id after `hf:` or as a copied page
 * address, becomes the folder of its files, `hub/owner/repo/resolve/revision/`. `hub` resolves ids.
 * @throws ModelFetchError for an invalid URL or id
 */
export function resolveUrl(location: string, hub = HUB): URL {
  if (/^hf:/i.test(location)) {
    const address = parseHubId(location);
    if (address) return new URL(hubLocation(hub, address));
    const remedy = 'Write hf:owner/repo, then @revision and /file.gguf or :Q4_K_M where wanted.';
    throw new ModelFetchError(location, null, `${quoted(location)} names no repository. ${remedy}`);
  }
  let url: URL;
  try {
    url = new URL(location, globalThis.location?.href);
  } catch {
    throw new ModelFetchError(location, null, `${quoted(location)} is not a URL. Give the full address of the model.`);
  }
  const onHub = readHubUrl(url, hub);
  return onHub ? new URL(hubLocation(onHub.hub, onHub.address)) : url;
}
