// The door of this room: what a model's files say becomes a checked ModelConfig.

import { UnsupportedModelError } from '../../errors';
import type { ModelFiles } from '../../storage/model_file';
import type { ModelConfig } from './config';
import { configFromGguf } from './gguf';
import { configFromHuggingFace } from './huggingface';

export function readConfig(files: ModelFiles): ModelConfig {
  const config = files.gguf ? configFromGguf(files.gguf, files.tensors) : configFromHuggingFace(files.config ?? {});
  checkShapes(config);
  checkFactors(config);
  return config;
}

/**
 * Refuses by config.json alone, before the weights are opened: those of a quantized checkpoint are of types that say less.
 * @throws UnsupportedModelError
 */
export function checkConfigJson(config: Readonly<Record<string, unknown>>): void {
  configFromHuggingFace(config);
}

/** The kernels compute in f32, where a factor may be too large or too small to be one. */
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

/** What the kernels ask of any model, which no padding (padding.ts) can give; a refusal names the number. */
function checkShapes(config: ModelConfig): void {
  const { nHeads, nKvHeads, headDim } = config;
  if (nHeads % nKvHeads !== 0) {
    throw new UnsupportedModelError(`The model has ${nHeads} query heads, no multiple of its ${nKvHeads} KV heads.`);
  }
  if (headDim % 2 !== 0 || headDim > LARGEST_HEAD) {
    throw new UnsupportedModelError(`head_dim is ${headDim}; even numbers up to ${LARGEST_HEAD} are supported.`);
  }
}
