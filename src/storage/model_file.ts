// Opens a model from a URL, a hub repository or dropped files, and checks its headers and JSON. The storage room knows
// no GPU and no page, and reads bytes only for the layers above.

import { InvalidRequestError, ModelFetchError, ModelFileError } from '../errors';
import type { JsonObject } from '../shared/json_object';
import { checkTextSize, isPlainName, quoted } from './checks/bounds';
import { decodeUtf8, parseJsonList, parseJsonObject } from './checks/json';
import type { GgufValue } from './formats/gguf';
import { parseSafetensors } from './formats/safetensors';
import { openShards, SHARD_INDEX, WEIGHTS } from './formats/shards';
import { firstPart, openGgufParts } from './formats/split_gguf';
import type { TensorInfo } from './formats/tensor';
import { readHubUrl } from './hub/hub_address';
import { resolveHub } from './hub/hub_model';
import { resolveUrl } from './hub/model_url';
import { openModules, type SentenceModule } from './sentence_modules';
import { blobSource } from './source/blob_source';
import type { ByteSource, ModelFolder, ModelLocation, OpenOptions } from './source/byte_source';
import { filesFolder, urlFolder, urlInFolder } from './source/folder';
import { WebPageError } from './source/http';
import { urlSource } from './source/url_source';
import { WindowPool } from './source/window_cache';

/** The checked contents of a model's headers and JSON files. No tensor data has been read. */
export interface ModelFiles {
  readonly format: 'safetensors' | 'gguf';
  /** Display name: the folder's or the file's. */
  readonly name: string;
  /** Total size of all tensors in bytes, for progress. */
  readonly totalBytes: number;
  /** Tensors by name in file order, so that a loader that iterates over them reads sequentially. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly config: Record<string, unknown> | null;
  readonly generationConfig: Record<string, unknown> | null;
  readonly tokenizerJson: Record<string, unknown> | null;
  /** tokenizer_config.json. A separate chat_template.jinja replaces its chat_template. */
  readonly tokenizerConfig: Record<string, unknown> | null;
  /** The modules behind the language model in a folder of sentence-transformers, else null. */
  readonly modules?: readonly SentenceModule[] | null;
  /** Metadata of a GGUF file, else null. */
  readonly gguf: ReadonlyMap<string, GgufValue> | null;
}

type SideFiles = Pick<ModelFiles, 'generationConfig' | 'tokenizerJson' | 'tokenizerConfig'>;
type Weights = Pick<ModelFiles, 'format' | 'tensors' | 'gguf'>;

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
  const { url: at, hashes: told } = onHub ? await resolveHub(onHub.hub, onHub.address, options) : { url, hashes: [] };
  const hashes = new Map(told);
  if (options.sha256) hashes.set(isGguf(at.pathname) ? at.href : urlInFolder(at, WEIGHTS), options.sha256);
  const withHashes = { ...options, hashes };
  return isGguf(at.pathname) ? openGgufAt(at, withHashes) : openFolder(urlFolder(at, withHashes), options);
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
  const folder = filesFolder(files, options);
  const ggufs = files.filter((file) => isGguf(file.name));
  const hasSafetensors = files.some(({ name }) => name === WEIGHTS || name === SHARD_INDEX);
  if (ggufs.length === 0 || hasSafetensors) return openFolder(folder, options);
  const config = await readJson(folder, 'config.json');
  if (typeof config?.gguf_file === 'string') return openFolder(folder, options);
  const models = [...new Set(ggufs.map(({ name }) => firstPart(name)))];
  if (models.length > 1) {
    const some = models.slice(0, 8).map(quoted).join(', ');
    throw new ModelFileError(
      folder.name,
      `holds ${models.length} models in .gguf files (${some}). Choose one of them.`,
    );
  }
  const first = await folder.open(models[0]);
  return openGguf(first ?? blobSource(ggufs[0].name, ggufs[0], options), folder);
}

async function openGguf(source: ByteSource, folder: ModelFolder): Promise<ModelFiles> {
  const weights = await ggufWeights(source, folder);
  const ownTokenizer = weights.gguf?.has('tokenizer.ggml.tokens');
  if (ownTokenizer) {
    const none = { config: null, generationConfig: null, tokenizerJson: null, tokenizerConfig: null };
    return { name: source.name, totalBytes: sum(weights), ...weights, ...none };
  }
  const [config, side] = await Promise.all([readJson(folder, 'config.json'), readSideFiles(folder)]);
  return { name: source.name, totalBytes: sum(weights), ...weights, config, ...side };
}

async function openFolder(folder: ModelFolder, { onConfig, sha256 }: OpenOptions): Promise<ModelFiles> {
  const configFile = await folder.open('config.json', 'json');
  if (!configFile) {
    const remedy = 'A model is a folder with config.json and safetensors files, or a .gguf file.';
    throw new ModelFetchError(folder.name, null, `${folder.name} holds no config.json. ${remedy}`);
  }
  const config = parseJsonObject(configFile.name, await readText(configFile));
  if (config.gguf_file === undefined) onConfig?.(config);
  const [weights, side] = await Promise.all([openWeights(folder, config, sha256), readSideFiles(folder)]);
  const modules = weights.tensors.has(BARE_EMBEDDING) ? await openBehind(folder) : null;
  const tensors = new Map([...weights.tensors, ...byName(modules?.tensors ?? [])]);
  const whole = { ...weights, tensors };
  return { name: folder.name, totalBytes: sum(whole), ...whole, modules: modules?.modules ?? null, config, ...side };
}

/** The embedding of a language model that was saved without a head, as models that embed texts are. */
const BARE_EMBEDDING = 'embed_tokens.weight';

async function openBehind(folder: ModelFolder) {
  const source = await optional(folder.open('modules.json', 'text'));
  return source && openModules(folder, parseJsonList(source.name, await readText(source)), readJson);
}

/** Opens a folder's weights: the GGUF file that config.json names as "gguf_file", one safetensors file, or shards. */
async function openWeights(folder: ModelFolder, config: JsonObject, sha256?: string): Promise<Weights> {
  const looked: string[] = [];
  if (typeof config.gguf_file === 'string') {
    const file = config.gguf_file;
    if (!isGguf(file) || !isPlainName(file)) {
      throw new ModelFileError(
        'config.json',
        `"gguf_file" is ${quoted(file)}; it must name a .gguf file in the folder.`,
      );
    }
    const source = await optional(folder.open(file));
    if (source) refuseHash(sha256, file);
    if (source) return ggufWeights(source, folder);
    looked.push(file);
  }
  const single = await optional(folder.open(WEIGHTS));
  if (single) return safetensorsWeights(await parseSafetensors(single));
  const index = await readJson(folder, SHARD_INDEX, { uniqueKeys: true });
  if (index) refuseHash(sha256, SHARD_INDEX);
  if (index) return safetensorsWeights(await openShards(folder, index));
  looked.push(WEIGHTS, SHARD_INDEX);
  throw new ModelFetchError(
    folder.name,
    null,
    `${folder.name} holds no weights: looked for ${looked.join(', ')}. Use a model with safetensors weights, or a .gguf file.`,
  );
}

/** @throws InvalidRequestError for a given hash, since no file here could match it */
function refuseHash(sha256: string | undefined, file: string): void {
  if (sha256 === undefined) return;
  throw new InvalidRequestError(
    `sha256 is that of a .gguf file or of ${WEIGHTS}, and this folder's weights are named by ${file}. Leave sha256 out, or name the file.`,
  );
}

async function ggufWeights(source: ByteSource, folder: ModelFolder): Promise<Weights> {
  const { metadata, tensors } = await openGgufParts(source, folder);
  return { format: 'gguf', tensors: byName(tensors), gguf: metadata };
}

function safetensorsWeights(tensors: TensorInfo[]): Weights {
  return { format: 'safetensors', tensors: byName(tensors), gguf: null };
}

async function readSideFiles(folder: ModelFolder): Promise<SideFiles> {
  const [generationConfig, tokenizerJson, tokenizerConfig] = await Promise.all([
    readJson(folder, 'generation_config.json'),
    readJson(folder, 'tokenizer.json'),
    readTokenizerConfig(folder),
  ]);
  return { generationConfig, tokenizerJson, tokenizerConfig };
}

async function readTokenizerConfig(folder: ModelFolder): Promise<JsonObject | null> {
  const config = await readJson(folder, 'tokenizer_config.json');
  if (config && Object.hasOwn(config, 'chat_template')) return config;
  const template = await optional(folder.open('chat_template.jinja', 'text'));
  return template ? { ...config, chat_template: await readText(template) } : config;
}

async function readJson(
  folder: ModelFolder,
  path: string,
  rules: { uniqueKeys?: boolean } = {},
): Promise<JsonObject | null> {
  const source = await optional(folder.open(path, 'json'));
  return source ? parseJsonObject(source.name, await readText(source), rules) : null;
}

async function readText(source: ByteSource): Promise<string> {
  checkTextSize(source.name, source.size);
  return decodeUtf8(source.name, 'its text', await source.read(0, source.size));
}

/**
 * Treats two errors of an optional file as absence. Once config.json was served, an HTML page means that the server
 * answers every path with its start page, and 403 means that it does not tell missing files from forbidden ones.
 */
async function optional(opening: Promise<ByteSource | null>): Promise<ByteSource | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof WebPageError || (error instanceof ModelFetchError && error.status === 403)) return null;
    throw error;
  }
}

function isGguf(path: string): boolean {
  return path.toLowerCase().endsWith('.gguf');
}

function byName(tensors: TensorInfo[]): Map<string, TensorInfo> {
  return new Map(tensors.map((tensor) => [tensor.name, tensor]));
}

function sum({ tensors }: Weights): number {
  return [...tensors.values()].reduce((total, { byteLength }) => total + byteLength, 0);
}
