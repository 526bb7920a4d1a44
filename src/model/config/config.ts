// The model room: what a model is (config), where its numbers lie on the GPU (weights, kv_cache), and the forward pass (llama).
// It knows nothing of text, of workers, or of time.

import type { RopeParameters } from '../../cpu/rope';

/** What may differ from layer to layer. */
export interface LayerConfig {
  /** Which of `ropes` turns q and k; null: none does (NoPE). */
  rope: number | null;
  /** Keys that a token sees, itself included; null: all before it. */
  window: number | null;
}

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
  /** The kinds of rotary embedding that layers have, one or two. All turn as many elements of a head. */
  ropes: readonly RopeParameters[];
  /** One for each layer. */
  layers: readonly LayerConfig[];
  /** How the rows of Wq and Wk pair up: halves (Hugging Face) or neighbors (GGUF of some architectures). */
  rotary: 'half' | 'interleaved';
  /** Positions that the model was made for. */
  contextLength: number;
  tiedEmbedding: boolean;
  /** The file promises these biases; they must be there. */
  qkvBias: boolean;
  outputBias: boolean;
  mlpBias: boolean;
  /** Of the gate of the MLP. */
  activation: 'silu' | 'gelu_tanh';
  /** RMSNorm multiplies by this plus the stored weight: 1 in Gemma's safetensors, else 0. */
  normOffset: number;
  /** RMSNorm of what attention and the MLP read; all but OLMo 2 have it. */
  preNorms: boolean;
  /** RMSNorm of what attention and the MLP add to the residual stream (Gemma, OLMo 2). */
  postNorms: boolean;
  /** RMSNorm of q and k before they are turned: of each head (Qwen 3, Gemma 3), or of all heads as one vector (OLMo 2). */
  qkNorm: 'none' | 'heads' | 'vector';
  /** Factor of the embedding. */
  embeddingScale: number;
  /** Factor of q . k; 1 / sqrt(head_dim) in most models. */
  attentionScale: number;
  /** cap: score -> cap * tanh(score / cap) after scaling, before the mask; null: none. */
  attentionSoftcap: number | null;
  /** Factor of what attention and the MLP add to the residual stream. */
  residualScale: number;
  /** Factor of the logits, before the cap. */
  logitScale: number;
  logitSoftcap: number | null;
}

/** Layers that are all alike. */
export function sameLayers(nLayers: number): LayerConfig[] {
  return Array.from({ length: nLayers }, () => ({ rope: 0, window: null }));
}
