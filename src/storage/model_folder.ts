// Opens a model in a folder of the hub's layout: safetensors, their shards, or the GGUF file that config.json names.
// The page fetches this part of the engine only for such a model.

import { InvalidRequestError, ModelFetchError, ModelFileError } from '../errors';
import type { JsonObject } from '../shared/json_object';
import { isPlainName, quoted } from './checks/bounds';
import { parseJsonList, parseJsonObject } from './checks/json';
import { parseSafetensors } from './formats/safetensors';
import { openShards } from './formats/shards';
import type { TensorInfo } from './formats/tensor';
import { SHARD_INDEX, WEIGHTS } from './formats/weight_names';
import type { ModelFiles, Weights } from './model_files';
import { openModules } from './sentence_modules';
import { optional, readJson, readSideFiles, readText } from './side_files';
import type { ModelFolder, OpenOptions } from './source/byte_source';
import { WebPageError } from './source/http';
import { byName, isGguf, openGgufWeights, sum } from './weights';

export async function openModelFolder(folder: ModelFolder, { onConfig, sha256 }: OpenOptions): Promise<ModelFiles> {
  const configFile = await folder.open('config.json', 'json').catch(explainWebPage);
  if (!configFile) throw new ModelFetchError(folder.name, null, `There is no config.json in ${folder.name}. ${KINDS}`);
  const config = parseJsonObject(configFile.name, await readText(configFile));
  if (config.gguf_file === undefined) await onConfig?.(config);
  const [weights, side] = await Promise.all([openWeights(folder, config, sha256), readSideFiles(folder)]);
  const modules = weights.tensors.has(BARE_EMBEDDING) ? await openBehind(folder) : null;
  const tensors = new Map([...weights.tensors, ...byName(modules?.tensors ?? [])]);
  const whole = { ...weights, tensors };
  return { name: folder.name, totalBytes: sum(whole), ...whole, modules: modules?.modules ?? null, config, ...side };
}

const KINDS =
  'A model is a folder with config.json and safetensors files, a .gguf file, or hf:owner/name for a repository of Hugging Face.';

/** Servers of apps answer any path with their page, so owner/name without hf: leads to one. */
function explainWebPage(error: unknown): never {
  if (!(error instanceof WebPageError)) throw error;
  throw new WebPageError(error.url, error.status, `${error.message} ${KINDS}`);
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
    if (source) return openGgufWeights(source, folder);
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
    'sha256',
  );
}

function safetensorsWeights(tensors: TensorInfo[]): Weights {
  return { format: 'safetensors', tensors: byName(tensors), gguf: null };
}
