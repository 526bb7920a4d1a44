// Resolves a model on a hub to the URLs and hashes of one commit.

import { ModelFetchError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import type { Resolved } from '../cache/manifest';
import { decodeUtf8, parseJsonObject } from '../checks/json';
import { SHARD_INDEX, WEIGHTS } from '../formats/weight_names';
import type { OpenOptions } from '../source/byte_source';
import { urlFolder } from '../source/folder';
import { chooseGguf, fileUrl, ggufChoices, type HubListing, hubFolder, listHub } from './hub';
import { type HubAddress, showHubAddress } from './hub_address';

/**
 * The URL of a model on a hub, pinned to one commit if the hub tells it: the repository's folder, or a GGUF file. Also
 * the known hashes by URL. A complete cached model keeps its commit.
 * @throws ModelFileError if several GGUF files match
 */
export async function resolveHub(
  hub: string,
  address: HubAddress,
  options: OpenOptions,
): Promise<{ url: URL; hashes: ReadonlyMap<string, string> }> {
  const { cache } = options;
  const hashes = new Map<string, string>();
  let resolved = cache?.keptAs ?? null;
  const listing = resolved ? null : await listHub(hub, address, options);
  if (listing) {
    const folder = hubFolder(hub, address, listing.commit);
    for (const { path, sha256 } of listing.files) if (sha256) hashes.set(fileUrl(folder, path), sha256);
    resolved = { commit: listing.commit, file: address.file || (await fileOf(listing, folder, address, options)) };
  }
  resolved ??= cache?.lastKeptAs ?? unlisted(address);
  cache?.noteResolved(resolved);
  const folder = hubFolder(hub, address, resolved.commit || address.revision);
  return { url: new URL(fileUrl(folder, resolved.file)), hashes };
}

/** @throws ModelFetchError for a quantization, whose file is unknown without a listing */
function unlisted(address: HubAddress): Resolved {
  if (!address.quantization) return { commit: '', file: address.file };
  const [id, whole] = [showHubAddress(address), showHubAddress({ ...address, quantization: '' })];
  const remedy = `Check the connection and the name, or name a file, as in ${whole}/file.gguf.`;
  throw new ModelFetchError(id, null, `${id} was not found: the hub does not list its files. ${remedy}`);
}

/** '' for the folder, if it holds safetensors or its config.json names the GGUF file. Otherwise a listed GGUF file. */
async function fileOf(listing: HubListing, folder: string, address: HubAddress, options: OpenOptions): Promise<string> {
  const { files } = listing;
  const has = (...paths: string[]) => files.some(({ path }) => paths.includes(path));
  if (address.quantization) return chooseGguf(files, address, options);
  if (has(WEIGHTS, SHARD_INDEX) || ggufChoices(files).length === 0) return '';
  const config = has('config.json') ? await readConfig(folder, options) : null;
  return typeof config?.gguf_file === 'string' ? '' : chooseGguf(files, address, options);
}

/** Bypasses the cache, since the choice of the file decides what is cached. */
async function readConfig(folder: string, { cache, ...uncached }: OpenOptions): Promise<JsonObject | null> {
  const source = await urlFolder(new URL(`${folder}/`), uncached).open('config.json', 'json');
  return source && parseJsonObject(source.name, decodeUtf8(source.name, 'its text', await source.read(0, source.size)));
}
