import type { ArchitectureName } from './architectures';
import type { ModelConfig } from './config';
import type { ConfigReader } from './reader';

/**
 * What llama.cpp has in its code and not in the file. Sources: llama_model_rope_type (`rotary`) and load_hparams (the rest) of
 * src/llama-model.cpp.
 */
export interface GgufArchitecture {
  rotary: ModelConfig['rotary'];
  /** Window of the local layers where the file names none. */
  window?: number;
  /** Every such layer is a global one; without it all layers are local, if the file has a window. */
  globalPeriod?: number;
  /** theta of the local layers, which have no scaling. Left out: all layers are alike. */
  localTheta?: number;
  /** Every such layer is without RoPE. */
  nopePeriod?: number;
  /** Layers of the one size (27B) in which q . k is scaled by hidden / n_heads instead of head_dim. */
  layersScaledByHidden?: number;
  /** What only this architecture reads. */
  differences?: (read: ConfigReader) => Partial<ModelConfig>;
}

/** By general.architecture; Mistral is a llama there. */
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
