// The model room: what a model is (config), where its numbers lie on the GPU (weights, kv_cache), and the forward pass (llama).
// It knows nothing of text, of workers, or of time.

import type { RopeParameters } from '../cpu/rope';
import { UnsupportedModelError } from '../errors';
import { BLOCK } from '../kernels/weight_format';
import type { ModelFiles } from '../storage/model_file';
import { configFromGguf } from './config_gguf';
import { configFromHuggingFace } from './config_huggingface';

/** A LLaMA-style model in the field's words. Sizes are counts of elements; every one has been checked. */
export interface ModelConfig {
  architecture: string;
  vocabSize: number;
  hiddenSize: number;
  intermediateSize: number;
  nLayers: number;
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  rmsNormEps: number;
  rope: RopeParameters;
  /** How the rows of Wq and Wk pair up: halves (Hugging Face) or neighbours (GGUF). */
  rotary: 'half' | 'interleaved';
  /** Positions that the model was made for. */
  contextLength: number;
  tiedEmbedding: boolean;
  /** The file promises biases of attention and MLP; they must be there. */
  attentionBias: boolean;
  mlpBias: boolean;
}

export function readConfig(files: ModelFiles): ModelConfig {
  const config = files.gguf ? configFromGguf(files.gguf, files) : configFromHuggingFace(files.config ?? {});
  checkShapes(config);
  return config;
}

/** What the kernels ask of any model; a refusal names the number. */
function checkShapes(config: ModelConfig): void {
  const { nHeads, nKvHeads, headDim, hiddenSize, intermediateSize } = config;
  if (nHeads % nKvHeads !== 0) {
    throw new UnsupportedModelError(`The model has ${nHeads} query heads, no multiple of its ${nKvHeads} KV heads.`);
  }
  if (headDim % 8 !== 0 || headDim > 256) {
    throw new UnsupportedModelError(`head_dim is ${headDim}; multiples of 8 up to 256 are supported.`);
  }
  const columns = {
    hidden_size: hiddenSize,
    intermediate_size: intermediateSize,
    'n_heads * head_dim': nHeads * headDim,
  };
  for (const [name, size] of Object.entries(columns)) {
    if (size % BLOCK !== 0) {
      throw new UnsupportedModelError(`${name} is ${size}; only multiples of ${BLOCK} are supported.`);
    }
  }
}
