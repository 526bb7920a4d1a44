import { ModelFetchError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import type { Resolved } from '../cache/manifest';
import { decodeUtf8, parseJsonObject } from '../checks/json';
import { SHARD_INDEX, WEIGHTS } from '../formats/shards';
import type { OpenOptions } from '../source/byte_source';
import { urlFolder } from '../source/folder';
import { chooseGguf, fileUrl, ggufChoices, type HubListing, hubFolder, listHub } from './hub';
import { type HubAddress, showHubAddress } from './hub_address';

/**
 * Where the files of a hub's model are, all of one commit where the hub tells it: the folder of the repository, or a GGUF file; and
 * the hashes of those files that have one, by URL. A model that is kept whole is what it was.
 * @throws ModelFileError when it is open which GGUF file is meant
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

/** @throws ModelFetchError for a quantization: which file has it is not known */
function unlisted(address: HubAddress): Resolved {
  if (!address.quantization) return { commit: '', file: address.file };
  const [id, whole] = [showHubAddress(address), showHubAddress({ ...address, quantization: '' })];
  const remedy = `Check the connection and the name, or name a file, as in ${whole}/file.gguf.`;
  throw new ModelFetchError(id, null, `${id} was not found: the hub does not list its files. ${remedy}`);
}

/** '' for the folder: it holds safetensors, or its config.json names the GGUF file. Else a GGUF file of those listed. */
async function fileOf(listing: HubListing, folder: string, address: HubAddress, options: OpenOptions): Promise<string> {
  const { files } = listing;
  const has = (...paths: string[]) => files.some(({ path }) => paths.includes(path));
  if (address.quantization) return chooseGguf(files, address, options);
  if (has(WEIGHTS, SHARD_INDEX) || ggufChoices(files).length === 0) return '';
  const config = has('config.json') ? await readConfig(folder, options) : null;
  return typeof config?.gguf_file === 'string' ? '' : chooseGguf(files, address, options);
}

/** Not from the cache, nor into it: which file is meant decides what is kept. */
async function readConfig(folder: string, { cache, ...uncached }: OpenOptions): Promise<JsonObject | null> {
  const source = await urlFolder(new URL(`${folder}/`), uncached).open('config.json', 'json');
  return source && parseJsonObject(source.name, decodeUtf8(source.name, 'its text', await source.read(0, source.size)));
}
