// The address of a model, as people give it, made one absolute URL.

import { ModelFetchError } from '../../errors';
import { quoted } from '../checks/bounds';
import { HUB, hubLocation, parseHubId, readHubUrl } from './hub_address';

/**
 * A model's address made absolute, and one spelling for one model: a hub's repository, be it an id after `hf:` or a page as people
 * copy it, becomes the folder of its files, `hub/owner/repo/resolve/revision/`. `hub` is where ids belong.
 * @throws ModelFetchError when it is no URL, or an id that is none
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
