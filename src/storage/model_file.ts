// Opens a model from a URL, a hub repository or dropped files, and checks its headers and JSON. The storage room knows
// no GPU and no page, and reads bytes only for the layers above.

import { ModelFetchError } from '../errors';
import { arrived } from '../shared/part';
import { WEIGHTS } from './formats/weight_names';
import { readHubUrl } from './hub/hub_address';
import { resolveUrl } from './hub/model_url';
import type { ModelFiles } from './model_files';
import { readJson, readSideFiles } from './side_files';
import type { ByteSource, ModelFolder, ModelLocation, OpenOptions } from './source/byte_source';
import { urlFolder, urlInFolder } from './source/folder';
import { urlSource } from './source/url_source';
import { WindowPool } from './source/window_cache';
import { isGguf, openGgufWeights, sum } from './weights';

/**
 * Opens a model: a .gguf file, or a folder in the layout of the Hugging Face hub. Reads headers and JSON, no weights.
 * @throws ModelFetchError for a file that is missing or cannot be fetched
 * @throws ModelFileError for a damaged or hostile file
 * @throws UnsupportedModelError for a kind of model that the engine does not read
 */
export async function openModel(location: ModelLocation, options: OpenOptions = {}): Promise<ModelFiles> {
  options.signal?.throwIfAborted();
  if (typeof location !== 'string') return openFiles(Array.isArray(location) ? location : [location], options);
  const { cache } = options;
  const url = resolveUrl(location, options.hub);
  try {
    const files = await openUrl(url, options).catch((error) => {
      if (isOffline(error) && cache?.goOffline()) return openUrl(url, options);
      throw error;
    });
    await cache?.finish(files.name);
    return files;
  } catch (error) {
    await cache?.flush(); // the next load finds the bytes fetched so far
    throw error;
  }
}

async function openUrl(url: URL, asked: OpenOptions): Promise<ModelFiles> {
  const options = { ...asked, windows: new WindowPool() };
  const onHub = readHubUrl(url, options.hub);
  const { url: at, hashes: told } = onHub ? await onTheHub(onHub, options) : { url, hashes: [] };
  const hashes = new Map(told);
  if (options.sha256) hashes.set(isGguf(at.pathname) ? at.href : urlInFolder(at, WEIGHTS), options.sha256);
  const withHashes = { ...options, hashes };
  return isGguf(at.pathname) ? openGgufAt(at, withHashes) : openFolder(urlFolder(at, withHashes), options);
}

/** Parts of the engine that only some models need. */
async function onTheHub({ hub, address }: NonNullable<ReturnType<typeof readHubUrl>>, options: OpenOptions) {
  const { resolveHub } = await arrived(import('./hub/hub_model'));
  return resolveHub(hub, address, options);
}

async function openFolder(folder: ModelFolder, options: OpenOptions): Promise<ModelFiles> {
  const { openModelFolder } = await arrived(import('./model_folder'));
  return openModelFolder(folder, options);
}

async function openGgufAt(url: URL, options: OpenOptions): Promise<ModelFiles> {
  return openGguf(await urlSource(url.href, options), urlFolder(new URL(`.${url.search}`, url), options));
}

/** True when no server was reached. */
function isOffline(error: unknown): boolean {
  return error instanceof ModelFetchError && error.status === null;
}

/** Opens dropped files: a folder's, or one .gguf file, with or without others beside it. */
async function openFiles(files: readonly File[], options: OpenOptions): Promise<ModelFiles> {
  const { droppedModel } = await arrived(import('./dropped_files'));
  const { folder, gguf } = await droppedModel(files, options);
  return gguf ? openGguf(gguf, folder) : openFolder(folder, options);
}

async function openGguf(source: ByteSource, folder: ModelFolder): Promise<ModelFiles> {
  const weights = await openGgufWeights(source, folder);
  const ownTokenizer = weights.gguf?.has('tokenizer.ggml.tokens');
  if (ownTokenizer) {
    const none = { config: null, generationConfig: null, tokenizerJson: null, tokenizerConfig: null };
    return { name: source.name, totalBytes: sum(weights), ...weights, ...none };
  }
  const [config, side] = await Promise.all([readJson(folder, 'config.json'), readSideFiles(folder)]);
  return { name: source.name, totalBytes: sum(weights), ...weights, config, ...side };
}
