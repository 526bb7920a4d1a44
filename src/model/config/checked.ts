// Refuses what the kernels do not compute, wherever the configuration was read.

import { UnsupportedModelError } from '../../errors';
import type { ModelConfig } from './config';

/** @throws UnsupportedModelError */
export function checked(config: ModelConfig): ModelConfig {
  checkShapes(config);
  checkFactors(config);
  return config;
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
