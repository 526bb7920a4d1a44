// Small GGUF files of random weights, in every format.

import type { WeightFormat } from '../../src/kernels/linear/weight_format';
import type { FileType } from '../../src/kernels/load/file_types';
import { SUPPORTED_GGML_TYPES } from '../../src/storage/formats/ggml_types';
import { randomFileBytes, STORED } from '../kernels/file_bytes';
import { randomArray } from '../random';
import { type Bytes, type GgufTensor, T, value, writeGguf } from '../storage/write_gguf';

const GGML_TYPE = new Map([...SUPPORTED_GGML_TYPES].map(([number, name]) => [name, number]));
const typeNumber = (name: WeightFormat | FileType): number =>
  GGML_TYPE.get(name in STORED ? STORED[name as WeightFormat] : (name as FileType)) ?? Number.NaN;
/** Sizes for K-quants, whose rows are multiples of 256. */
export const WIDE = { vocab: 67, hidden: 256, intermediate: 256, layers: 1, heads: 4, kvHeads: 1, headDim: 64 };
export const SHAPE = { vocab: 133, hidden: 96, intermediate: 160, layers: 2, heads: 6, kvHeads: 2, headDim: 32 };

/**
 * Sizes that are not multiples of 32, for full precision: similar to stories260K of karpathy/tinyllamas, with three
 * heads of 12 for one key head.
 */
export const STORIES = { vocab: 133, hidden: 64, intermediate: 172, layers: 2, heads: 8, kvHeads: 4, headDim: 8 };
export const ODD = { vocab: 133, hidden: 52, intermediate: 90, layers: 2, heads: 3, kvHeads: 1, headDim: 12 };

export interface Variant {
  format: WeightFormat | FileType;
  /** Other formats for the matrices of some stems, such as attn_v, or of one layer, such as blk.0.attn_v. */
  mixed?: Readonly<Record<string, WeightFormat | FileType>>;
  tied?: boolean;
  ropeFactors?: boolean;
  biased?: boolean;
  /** Metadata of a tokenizer, as made by test/text/tiny_vocabulary. */
  vocabulary?: ReadonlyMap<string, unknown>;
}

/** Writes a value of metadata by its JavaScript type. */
function written(found: unknown): (out: Bytes) => void {
  if (typeof found === 'string') return value.string(found);
  if (typeof found === 'number') return value.u32(found);
  if (found instanceof Int32Array) return value.array(T.i32, found.length, new Uint8Array(found.buffer));
  if (found instanceof Float32Array) return value.array(T.f32, found.length, new Uint8Array(found.buffer));
  return value.strings(found as string[]);
}

export function modelFile(variant: Variant, shape = SHAPE): File {
  const { format, mixed = {}, tied = false, ropeFactors = false, biased = false, vocabulary = new Map() } = variant;
  const { vocab, hidden, intermediate, layers, heads, kvHeads, headDim } = shape;
  let seed = 1;
  const matrix = (name: string, rows: number, cols: number): GgufTensor => {
    const stored = mixed[name.replace('.weight', '')] ?? mixed[name.split('.').at(-2) ?? ''] ?? format;
    const data = randomFileBytes(stored, rows * cols, seed++);
    return { name, ne: [cols, rows], type: typeNumber(stored), data };
  };
  const vector = (name: string, size: number, around: number): GgufTensor => ({
    name,
    ne: [size],
    type: typeNumber('f32'),
    data: new Uint8Array(randomArray(size, seed++, 0.5).map((v) => v + around).buffer),
  });
  const layer = (i: number) => [
    vector(`blk.${i}.attn_norm.weight`, hidden, 1),
    matrix(`blk.${i}.attn_q.weight`, heads * headDim, hidden),
    matrix(`blk.${i}.attn_k.weight`, kvHeads * headDim, hidden),
    matrix(`blk.${i}.attn_v.weight`, kvHeads * headDim, hidden),
    matrix(`blk.${i}.attn_output.weight`, hidden, heads * headDim),
    vector(`blk.${i}.ffn_norm.weight`, hidden, 1),
    matrix(`blk.${i}.ffn_gate.weight`, intermediate, hidden),
    matrix(`blk.${i}.ffn_up.weight`, intermediate, hidden),
    matrix(`blk.${i}.ffn_down.weight`, hidden, intermediate),
    ...(biased
      ? [
          vector(`blk.${i}.attn_q.bias`, heads * headDim, 0),
          vector(`blk.${i}.attn_k.bias`, kvHeads * headDim, 0),
          vector(`blk.${i}.attn_v.bias`, kvHeads * headDim, 0),
        ]
      : []),
  ];
  const bytes = writeGguf({
    keys: [
      ['general.architecture', value.string('llama')],
      ['llama.block_count', value.u32(layers)],
      ['llama.context_length', value.u32(64)],
      ['llama.embedding_length', value.u32(hidden)],
      ['llama.feed_forward_length', value.u32(intermediate)],
      ['llama.attention.head_count', value.u32(heads)],
      ['llama.attention.head_count_kv', value.u32(kvHeads)],
      ['llama.attention.key_length', value.u32(headDim)],
      ['llama.attention.value_length', value.u32(headDim)],
      ['llama.attention.layer_norm_rms_epsilon', value.f32(1e-5)],
      ['llama.rope.freq_base', value.f32(5000)],
      ...Array.from(vocabulary, ([key, found]) => [key, written(found)] as [string, (out: Bytes) => void]),
    ],
    tensors: [
      matrix('token_embd.weight', vocab, hidden),
      ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
      vector('output_norm.weight', hidden, 1),
      ...(tied ? [] : [matrix('output.weight', vocab, hidden)]),
      ...(ropeFactors ? [vector('rope_freqs.weight', headDim / 2, 4)] : []),
    ],
  });
  return new File([bytes], `${format}.gguf`);
}
