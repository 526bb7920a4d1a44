// The door of this folder: turns a model's files into a checked ModelConfig.

import type { ModelFiles } from '../../storage/model_files';
import { checked } from './checked';
import type { ModelConfig } from './config';
import { embeddingFromModules } from './embedding';
import { configFromHuggingFace } from './huggingface';
import { readGgufConfig } from './read_gguf';

export function readConfig(files: ModelFiles): ModelConfig {
  return files.gguf ? readGgufConfig(files) : checked(fromFolder(files));
}

/** A checkpoint without a prefix in its names was saved without a head. */
function fromFolder({ config: json, tensors, modules }: ModelFiles): ModelConfig {
  const config = configFromHuggingFace(json ?? {});
  const isHeadless = tensors.has('embed_tokens.weight') && !tensors.has('lm_head.weight');
  const embedsOnly = config.embedsOnly || (isHeadless && !config.tiedEmbedding);
  const embedding = modules ? embeddingFromModules(modules) : config.embedding;
  return { ...config, embedsOnly, embedding, tiedEmbedding: config.tiedEmbedding || isHeadless };
}

/**
 * Refuses a model by config.json alone, before the weights are opened: errors about the tensor types of a quantized
 * checkpoint would explain less.
 * @throws UnsupportedModelError
 */
export function checkConfigJson(config: Readonly<Record<string, unknown>>): void {
  configFromHuggingFace(config);
}
