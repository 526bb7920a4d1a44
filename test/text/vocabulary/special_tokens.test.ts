// The tokens that end an answer: from configurations, GGUF keys, and well-known names.

import { expect, test } from 'vitest';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { findSpecialTokens, strayEnd } from '../../../src/text/vocabulary/special_tokens';
import { files, type Json } from '../fixtures';
import { byteLevelGguf } from '../tiny_vocabulary';

interface Case {
  added: string[];
  config?: Json;
  generation?: Json;
  gguf?: [string, unknown][];
  ends: string[];
}

const CASES: Record<string, Case> = {
  'Llama 3': {
    added: ['<|begin_of_text|>', '<|end_of_text|>', '<|eom_id|>', '<|eot_id|>'],
    config: { eos_token: '<|end_of_text|>' },
    ends: ['<|end_of_text|>', '<|eom_id|>', '<|eot_id|>'],
  },
  Gemma: {
    added: ['<pad>', '<eos>', '<bos>', '<start_of_turn>', '<end_of_turn>'],
    gguf: [['eos_token_id', 1]],
    ends: ['<eos>', '<end_of_turn>'],
  },
  'Phi-3': {
    added: ['<s>', '</s>', '<|endoftext|>', '<|assistant|>', '<|end|>', '<|user|>'],
    config: { eos_token: '<|endoftext|>' },
    generation: { eos_token_id: [2, 4] },
    ends: ['</s>', '<|endoftext|>', '<|end|>'],
  },
  'Qwen 2.5': {
    added: ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<|fim_pad|>', '<|repo_name|>', '<|file_sep|>'],
    config: { eos_token: { content: '<|im_end|>' } },
    ends: ['<|endoftext|>', '<|im_end|>', '<|fim_pad|>', '<|repo_name|>', '<|file_sep|>'],
  },
  Granite: {
    added: ['<|end_of_text|>', '<|start_of_role|>', '<|end_of_role|>'],
    generation: { eos_token_id: 0 },
    ends: ['<|end_of_text|>'],
  },
  'a file that names eot': {
    added: ['<|done|>', '<|over|>'],
    gguf: [
      ['eot_token_id', 1n],
      ['eos_token_id', 0],
    ],
    ends: ['<|done|>', '<|over|>'],
  },
  'channels, each of which ends': {
    added: ['<|return|>', '<|call|>', '<|end|>', '<|start|>'],
    ends: ['<|return|>', '<|call|>'],
  },
  'ids past the vocabulary': {
    added: ['<|im_end|>'],
    generation: { eos_token_id: [7, -1, 'x'] },
    ends: ['<|im_end|>'],
  },
};

test.each(Object.entries(CASES))('%s', (_, { added, config = {}, generation = null, gguf, ends }) => {
  const found = findSpecialTokens(
    config,
    generation,
    gguf ? new Map(gguf.map(([key, value]) => [`tokenizer.ggml.${key}`, value])) : null,
    (token) => (added.includes(token) ? added.indexOf(token) : undefined),
    (id) => added[id],
    () => true,
  );
  expect(found.eosIds.map((id) => added[id]).sort()).toEqual(ends.sort());
});

test('a word that looks like an end token ends answers only in a GGUF file', () => {
  const known = () => 5;
  const ordinary = findSpecialTokens({}, null, null, known, String, () => false);
  expect(ordinary.eosIds).toEqual([]);
  const gguf = byteLevelGguf();
  const tokens = gguf.get('tokenizer.ggml.tokens') as string[];
  const types = gguf.get('tokenizer.ggml.token_type') as number[];
  const id = tokens.push('<|im_end|>') - 1;
  types.push(1);
  const tokenizer = createTokenizer(files({ gguf }));
  expect(tokenizer.eosIds).toContain(id);
  expect([...tokenizer.encode('<|im_end|>')]).toEqual([id]);
  expect([...tokenizer.encodePlain('<|im_end|>')]).not.toContain(id);
});

test.each<[string, number | undefined, unknown, [string, unknown][]?]>([
  ['one past the end', 100, 100],
  ['the last one', undefined, 99],
  ['a list', 100, [3, 100, -1, 'x', null, 4_294_967_296]],
  ['none', undefined, undefined],
  [
    'those of a GGUF file',
    200,
    undefined,
    [
      ['eos_token_id', 0xffff_ffff],
      ['eot_token_id', 200n],
      ['eog_token_ids', [5, 100]],
    ],
  ],
])('an end past a vocabulary of 100 ids: %s', (_, stray, eos, gguf = []) => {
  const keys = new Map(gguf.map(([key, value]) => [`tokenizer.ggml.${key}`, value]));
  expect(strayEnd({ generationConfig: { eos_token_id: eos }, gguf: keys }, 100)).toBe(stray);
});
