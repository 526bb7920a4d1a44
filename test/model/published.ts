// config.json of published models, without keys that do not matter for the numbers, and the configuration that
// transformers reads from each. Sources: the repositories of these names on the Hugging Face hub.

import type { ModelConfig } from '../../src/model/config/config';

export interface Published {
  name: string;
  config: Record<string, unknown>;
  expected: Partial<ModelConfig> & Pick<ModelConfig, 'headDim' | 'contextLength' | 'tiedEmbedding'>;
  /** Window and rope of the first layers. */
  layers: [window: number | null, rope: number | null][];
}

export const PLAIN_LAYER: Published['layers'] = [[null, 0]];

export const sizes = (
  vocab: number,
  hidden: number,
  intermediate: number,
  layers: number,
  heads: number,
  kvHeads: number,
) => ({
  vocab_size: vocab,
  hidden_size: hidden,
  intermediate_size: intermediate,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
});
