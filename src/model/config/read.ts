// The door of this folder: turns a model's files into a checked ModelConfig.

import { UnsupportedModelError } from '../../errors';
import type { ModelFiles } from '../../storage/model_file';
import type { ModelConfig } from './config';
import { embeddingFromModules } from './embedding';
import { configFromGguf } from './gguf';
import { configFromHuggingFace } from './huggingface';

export function readConfig(files: ModelFiles): ModelConfig {
  const config = files.gguf ? configFromGguf(files.gguf, files.tensors) : fromFolder(files);
  checkShapes(config);
  checkFactors(config);
  return config;
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

/** Refuses factors that are too large or too small for the f32 of the kernels. */
function checkFactors(config: ModelConfig): void {
  const { rmsNormEps, embeddingScale, attentionScale, attentionSoftcap, residualScale, logitScale, logitSoftcap } =
    config;
  const factors = {
    rmsNormEps,
    embeddingScale,
    attentionScale,
    attentionSoftcap,
    residualScale,
    logitScale,
    logitSoftcap,
  };
  for (const [name, factor] of Object.entries(factors)) {
    if (factor !== null && !(Math.abs(factor) >= SMALLEST && Math.abs(factor) <= LARGEST)) {
      throw new UnsupportedModelError(`${name} is ${factor}; factors of ${SMALLEST} to ${LARGEST} are supported.`);
    }
  }
}

const SMALLEST = 1e-30;
const LARGEST = 1e30;

/** Elements turn in pairs, and attention holds a head in registers. */
const LARGEST_HEAD = 256;

/** Refuses sizes that the kernels do not support and that padding (padding.ts) cannot mend. */
function checkShapes(config: ModelConfig): void {
  const { nHeads, nKvHeads, headDim } = config;
  if (nHeads % nKvHeads !== 0) {
    throw new UnsupportedModelError(`The model has ${nHeads} query heads, no multiple of its ${nKvHeads} KV heads.`);
  }
  if (headDim % 2 !== 0 || headDim > LARGEST_HEAD) {
    throw new UnsupportedModelError(`head_dim is ${headDim}; even numbers up to ${LARGEST_HEAD} are supported.`);
  }
}
