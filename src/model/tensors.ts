import { ModelFileError, UnsupportedModelError } from '../errors';
import type { ModelFiles, TensorInfo } from '../storage/model_file';
import type { ModelConfig } from './config';

/** The tensors of a layer, each of the shape that the config promises. Matrices are (rows out, columns in). */
export interface LayerTensors {
  /** null without pre-norms. */
  attnNorm: TensorInfo | null;
  wq: TensorInfo;
  wk: TensorInfo;
  wv: TensorInfo;
  wo: TensorInfo;
  bq: TensorInfo | null;
  bk: TensorInfo | null;
  bv: TensorInfo | null;
  bo: TensorInfo | null;
  /** (head_dim), or of the whole vector; null without q/k norms. */
  qNorm: TensorInfo | null;
  kNorm: TensorInfo | null;
  /** (hidden); null without post-norms. */
  postAttnNorm: TensorInfo | null;
  postMlpNorm: TensorInfo | null;
  mlpNorm: TensorInfo | null;
  wGate: TensorInfo;
  wUp: TensorInfo;
  wDown: TensorInfo;
  bGate: TensorInfo | null;
  bUp: TensorInfo | null;
  bDown: TensorInfo | null;
}

export interface ModelTensors {
  embedding: TensorInfo;
  layers: LayerTensors[];
  finalNorm: TensorInfo;
  /** null when the head is the embedding. */
  head: TensorInfo | null;
  /** (head_dim / 2): what a GGUF has instead of llama3 scaling. */
  ropeFactors: TensorInfo | null;
}

interface Names {
  embedding: string;
  finalNorm: string;
  head: string;
  ropeFactors: string | null;
  layer: (index: number) => string;
  /** Stems behind the layer prefix; a bias is the same stem with `bias` for `weight`. */
  part: Record<'attnNorm' | 'q' | 'k' | 'v' | 'o' | 'mlpNorm' | 'gate' | 'up' | 'down', string>;
  /** Tensors that say nothing new. */
  ignored: RegExp;
}

const HUGGING_FACE: Names = {
  embedding: 'model.embed_tokens.weight',
  finalNorm: 'model.norm.weight',
  head: 'lm_head.weight',
  ropeFactors: null,
  layer: (i) => `model.layers.${i}.`,
  part: {
    attnNorm: 'input_layernorm',
    q: 'self_attn.q_proj',
    k: 'self_attn.k_proj',
    v: 'self_attn.v_proj',
    o: 'self_attn.o_proj',
    mlpNorm: 'post_attention_layernorm',
    gate: 'mlp.gate_proj',
    up: 'mlp.up_proj',
    down: 'mlp.down_proj',
  },
  ignored: /\.rotary_emb\.inv_freq$/,
};

const GGUF: Names = {
  embedding: 'token_embd.weight',
  finalNorm: 'output_norm.weight',
  head: 'output.weight',
  ropeFactors: 'rope_freqs.weight',
  layer: (i) => `blk.${i}.`,
  part: {
    attnNorm: 'attn_norm',
    q: 'attn_q',
    k: 'attn_k',
    v: 'attn_v',
    o: 'attn_output',
    mlpNorm: 'ffn_norm',
    gate: 'ffn_gate',
    up: 'ffn_up',
    down: 'ffn_down',
  },
  ignored: /(?!)/,
};

/** Finds every tensor that the model needs, checks its shape, and refuses files with tensors that nobody would use. */
export function resolveTensors(files: ModelFiles, config: ModelConfig): ModelTensors {
  const names = files.gguf ? GGUF : HUGGING_FACE;
  const used = new Set<string>();
  const { hiddenSize, intermediateSize, headDim } = config;
  const qSize = config.nHeads * headDim;
  const kvSize = config.nKvHeads * headDim;

  const optional = (name: string, ...shape: number[]): TensorInfo | null => {
    const tensor = files.tensors.get(name);
    if (!tensor) return null;
    used.add(name);
    if (tensor.shape.length !== shape.length || tensor.shape.some((size, i) => size !== shape[i])) {
      throw new ModelFileError(
        files.name,
        `tensor ${name} has shape (${tensor.shape.join(', ')}); the config asks for (${shape.join(', ')}).`,
      );
    }
    return tensor;
  };
  const needed = (name: string, ...shape: number[]): TensorInfo => {
    const tensor = optional(name, ...shape);
    if (!tensor) throw new ModelFileError(files.name, `tensor ${name} (${shape.join(', ')}) is missing.`);
    return tensor;
  };
  const layer = (index: number): LayerTensors => {
    const at = (part: keyof Names['part'], kind: string) => `${names.layer(index)}${names.part[part]}.${kind}`;
    const weight = (part: keyof Names['part'], ...shape: number[]) => needed(at(part, 'weight'), ...shape);
    const bias = (part: keyof Names['part'], promised: boolean, size: number) =>
      promised ? needed(at(part, 'bias'), size) : null;
    const { qkvBias, outputBias, mlpBias } = config;
    return {
      attnNorm: weight('attnNorm', hiddenSize),
      wq: weight('q', qSize, hiddenSize),
      wk: weight('k', kvSize, hiddenSize),
      wv: weight('v', kvSize, hiddenSize),
      wo: weight('o', hiddenSize, qSize),
      bq: bias('q', qkvBias, qSize),
      bk: bias('k', qkvBias, kvSize),
      bv: bias('v', qkvBias, kvSize),
      bo: bias('o', outputBias, hiddenSize),
      qNorm: null,
      kNorm: null,
      postAttnNorm: null,
      postMlpNorm: null,
      mlpNorm: weight('mlpNorm', hiddenSize),
      wGate: weight('gate', intermediateSize, hiddenSize),
      wUp: weight('up', intermediateSize, hiddenSize),
      wDown: weight('down', hiddenSize, intermediateSize),
      bGate: bias('gate', mlpBias, intermediateSize),
      bUp: bias('up', mlpBias, intermediateSize),
      bDown: bias('down', mlpBias, hiddenSize),
    };
  };

  const tensors: ModelTensors = {
    embedding: needed(names.embedding, config.vocabSize, hiddenSize),
    layers: Array.from({ length: config.nLayers }, (_, i) => layer(i)),
    finalNorm: needed(names.finalNorm, hiddenSize),
    head: config.tiedEmbedding ? null : needed(names.head, config.vocabSize, hiddenSize),
    ropeFactors: names.ropeFactors ? optional(names.ropeFactors, headDim / 2) : null,
  };
  // A file with tied embeddings may still carry the head, a copy.
  if (config.tiedEmbedding) used.add(names.head);
  for (const name of files.tensors.keys()) {
    if (used.has(name) || names.ignored.test(name)) continue;
    throw new UnsupportedModelError(
      `${files.name}: tensor ${name} has no place in a ${config.architecture} model; ignoring it would give wrong answers.`,
    );
  }
  return tensors;
}
