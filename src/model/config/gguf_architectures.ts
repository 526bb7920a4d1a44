// Settings of each architecture for reading a GGUF.

import type { ArchitectureName } from './architectures';
import type { ModelConfig } from './config';
import type { ConfigReader } from './reader';

/**
 * Settings that llama.cpp has in its code instead of the file. Sources: llama_model_rope_type (`rotary`) and
 * load_hparams (the rest) of src/llama-model.cpp.
 */
export interface GgufArchitecture {
  rotary: ModelConfig['rotary'];
  /** Window of the local layers if the file names none. */
  window?: number;
  /** Distance of the global layers. Without it all layers are local, if the file has a window. */
  globalPeriod?: number;
  /** theta of the local layers, which have no scaling. Default: that of all layers. */
  localTheta?: number;
  /** Distance of the layers without RoPE. */
  nopePeriod?: number;
  /** Number of layers of the one size (27B) that scales q . k by hidden / n_heads instead of head_dim. */
  layersScaledByHidden?: number;
  /** Reads the keys of this architecture alone. */
  differences?: (read: ConfigReader) => Partial<ModelConfig>;
}

/** Keys are those of general.architecture, where Mistral is a llama. */
export const GGUF: Partial<Record<ArchitectureName, GgufArchitecture>> = {
  llama: { rotary: 'interleaved' },
  qwen2: { rotary: 'half' },
  qwen3: { rotary: 'half' },
  smollm3: { rotary: 'interleaved', nopePeriod: 4 },
  gemma2: {
    rotary: 'half',
    window: 4096,
    globalPeriod: 2,
    layersScaledByHidden: 46,
    differences: (read) => ({
      attentionSoftcap: read.positive('attn_logit_softcapping', 50),
      logitSoftcap: read.positive('final_logit_softcapping', 30),
    }),
  },
  gemma3: {
    rotary: 'half',
    globalPeriod: 6,
    localTheta: 10000,
    layersScaledByHidden: 62,
    differences: (read) => ({ logitSoftcap: read.optionalPositive('final_logit_softcapping') }),
  },
  'gemma-embedding': { rotary: 'half', globalPeriod: 6, localTheta: 10000 },
  phi3: { rotary: 'half' },
  granite: {
    rotary: 'interleaved',
    differences: (read) => ({
      embeddingScale: read.positive('embedding_scale', 1),
      residualScale: read.positive('residual_scale', 1),
      logitScale: 1 / read.positive('logit_scale', 1),
    }),
  },
  olmo2: { rotary: 'half' },
};
