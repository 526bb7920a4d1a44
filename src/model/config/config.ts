// The configuration of a model, as every other file of the engine uses it, whatever file format it was read from.

import type { RopeParameters } from '../../cpu/rope';

/** The settings that may differ from layer to layer. */
export interface LayerConfig {
  /** Index in `ropes` of the rotary embedding of q and k, or null for none (NoPE). */
  rope: number | null;
  /** Number of keys that a token sees, its own included, or null for all up to its own. */
  window: number | null;
}

/** The way from the vectors of a text's tokens, after the final norm, to the vector of the text. */
export interface EmbeddingConfig {
  /** The last token's vector, or the mean of all. */
  pooling: 'last' | 'mean';
  /** True if the vector has length 1. */
  normalized: boolean;
  /** Sizes of the outputs of linear layers behind the pooling. */
  dense: readonly number[];
}

/** A LLaMA-style model. Sizes are checked counts of elements. */
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
  /** The rotary embeddings of the layers, one or two. Both turn the same number of elements of a head. */
  ropes: readonly RopeParameters[];
  /** One for each layer. */
  layers: readonly LayerConfig[];
  /** The pairs of rows of Wq and Wk: halves (Hugging Face) or neighbors (GGUF of some architectures). */
  rotary: 'half' | 'interleaved';
  /** Positions that the model was made for. */
  contextLength: number;
  tiedEmbedding: boolean;
  /** Biases that the file promises and must contain. */
  qkvBias: boolean;
  outputBias: boolean;
  mlpBias: boolean;
  /** The activation of the MLP's gate. */
  activation: 'silu' | 'gelu_tanh';
  /** Addend of the stored weights of RMSNorm: 1 in Gemma's safetensors, else 0. */
  normOffset: number;
  /** RMSNorm of the inputs of attention and MLP. All models but OLMo 2 have it. */
  preNorms: boolean;
  /** RMSNorm of the outputs of attention and MLP, before the residual addition (Gemma, OLMo 2). */
  postNorms: boolean;
  /** RMSNorm of q and k before RoPE: of each head (Qwen 3, Gemma 3), or of all heads as one vector (OLMo 2). */
  qkNorm: 'none' | 'heads' | 'vector';
  /** Factor of the embedding. */
  embeddingScale: number;
  /** Factor of q . k; 1 / sqrt(head_dim) in most models. */
  attentionScale: number;
  /** cap * tanh(score / cap) after scaling, before the mask; null for none. */
  attentionSoftcap: number | null;
  /** Factor of the outputs of attention and MLP in the residual addition. */
  residualScale: number;
  /** Factor of the logits, before the cap. */
  logitScale: number;
  logitSoftcap: number | null;
  /** False if tokens also see those after them, as many as `window` says (EmbeddingGemma). */
  causal: boolean;
  /** True if the model has no head or no causal mask, so that it writes no text. */
  embedsOnly: boolean;
  embedding: EmbeddingConfig;
}

/** The vectors of a model's texts. `only`: the model writes no text. */
export function vectorsOf({ embedding, hiddenSize, embedsOnly: only }: ModelConfig) {
  const { pooling, normalized, dense } = embedding;
  return { pooling, normalized, size: dense.at(-1) ?? hiddenSize, only };
}

/** Layers that are all equal: one rotary embedding and no window. */
export function sameLayers(nLayers: number): LayerConfig[] {
  return Array.from({ length: nLayers }, () => ({ rope: 0, window: null }));
}
