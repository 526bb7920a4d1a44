// A complete GGUF file for the engine: metadata, vocabulary, template, and the tensors of one layer.

import type { GgufSpec, GgufTensor } from '../storage/write_gguf';
import { byteLevelGguf, sentencePieceGguf } from '../text/tiny_vocabulary';
import { keysOf } from './cases/gguf_values';
import { TEMPLATES } from './cases/template_grammar';

const SIZE = 32; // hidden, intermediate and head size

const MODEL_METADATA: ReadonlyMap<string, string | number> = new Map<string, string | number>([
  ['general.architecture', 'llama'],
  ['llama.block_count', 1],
  ['llama.context_length', 64],
  ['llama.embedding_length', SIZE],
  ['llama.feed_forward_length', SIZE],
  ['llama.attention.head_count', 1],
  ['llama.attention.head_count_kv', 1],
  ['llama.attention.key_length', SIZE],
  ['llama.attention.value_length', SIZE],
  ['llama.attention.layer_norm_rms_epsilon', 1e-5],
  ['llama.rope.freq_base', 10_000],
  ['llama.rope.dimension_count', SIZE],
]);

/** One file per kind of vocabulary. */
export const GGUF_SPECS: readonly GgufSpec[] = [byteLevelGguf(), sentencePieceGguf()].map((vocabulary) => ({
  keys: keysOf(new Map([...MODEL_METADATA, ...vocabulary, ['tokenizer.chat_template', TEMPLATES[0]]])),
  tensors: tensors((vocabulary.get('tokenizer.ggml.tokens') as string[]).length),
}));

function tensors(vocab: number): GgufTensor[] {
  const f16 = (name: string, ...ne: number[]): GgufTensor => ({
    name,
    ne,
    type: 1,
    data: new Uint8Array(2 * ne.reduce((product, size) => product * size, 1)),
  });
  const f32 = (name: string): GgufTensor => ({ name, ne: [SIZE], type: 0, data: new Uint8Array(4 * SIZE) });
  return [
    f16('token_embd.weight', SIZE, vocab),
    f32('blk.0.attn_norm.weight'),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => f16(`blk.0.${name}.weight`, SIZE, SIZE)),
    f32('blk.0.ffn_norm.weight'),
    ...['ffn_gate', 'ffn_up', 'ffn_down'].map((name) => f16(`blk.0.${name}.weight`, SIZE, SIZE)),
    f32('output_norm.weight'),
  ];
}
