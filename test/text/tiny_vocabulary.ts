// Small vocabularies made for each test: byte pair encoding learned from a few lines, as tokenizer.json and as GGUF
// metadata.

import { BYTE_TO_CHAR, byteToken, utf8Bytes } from '../../src/text/byte_alphabet';
import { ggufVocabulary } from '../../src/text/vocabulary/gguf_vocabulary';
import type { Json } from './fixtures';

const TEXT =
  "the quick brown fox jumps over the lazy dog; the dog doesn't mind. they're there, then the other thing happened: " +
  'über die Brücke läuft ein Äffchen — 文字は文字です。🙂🙂 hello hello world';

/** Repeatedly merges the most frequent pair into a token: the textbook's training. */
function learn(words: string[][], count: number): [string, string][] {
  const merges: [string, string][] = [];
  for (let i = 0; i < count; i++) {
    const counts = new Map<string, number>();
    for (const word of words) {
      for (let j = 0; j + 1 < word.length; j++) {
        const pair = JSON.stringify([word[j], word[j + 1]]);
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const [best] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    const [left, right] = JSON.parse(best) as [string, string];
    merges.push([left, right]);
    for (const word of words) {
      for (let j = 0; j + 1 < word.length; j++) {
        if (word[j] === left && word[j + 1] === right) word.splice(j, 2, left + right);
      }
    }
  }
  return merges;
}

export const CONTROL = ['<|end|>', '<|user|>', '<|assistant|>', '<|end', '<s>'];

function addedTokens(firstId: number): Json[] {
  const token = (content: string, i: number, more: Json = {}) => ({
    id: firstId + i,
    content,
    normalized: false,
    ...more,
  });
  return [
    ...CONTROL.map((content, i) => token(content, i, { special: true })),
    token('<tool>', CONTROL.length, { special: false }),
    token('\n\n', CONTROL.length + 1, { special: false }),
  ];
}

/** A byte-level vocabulary like GPT-2's. Each caller gets a copy to change. */
export function byteLevelJson(): Json {
  learned ??= learnByteLevel();
  return structuredClone(learned);
}

let learned: Json | null = null;

function learnByteLevel(): Json {
  const spelled = (text: string) => Array.from(utf8Bytes(text), (byte) => BYTE_TO_CHAR[byte]);
  const merges = learn(TEXT.match(/ ?\S+/g)!.map(spelled), 80);
  const tokens = [...BYTE_TO_CHAR, ...merges.map((pair) => pair.join(''))];
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    added_tokens: addedTokens(tokens.length),
    normalizer: null,
    pre_tokenizer: bytes,
    post_processor: null,
    decoder: bytes,
    model: { type: 'BPE', vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges },
  };
}

/** A SentencePiece vocabulary like Llama 2's as GGUF metadata: pieces with scores, and byte fallback. */
export function sentencePieceGguf(): Map<string, unknown> {
  const marked = `▁${TEXT.replaceAll(' ', '▁')}`;
  const merges = learn(
    marked.match(/▁[^▁]+/g)!.map((word) => Array.from(word)),
    80,
  );
  const pieces = merges.map((pair) => pair.join(''));
  const bytes = Array.from({ length: 256 }, (_, byte) => byteToken(byte));
  const letters = [...new Set(marked)].filter((char) => !/[🙂。]/u.test(char));
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, ...pieces, ...letters, '<|user|>', '<tool>'];
  const type = (token: string, id: number) =>
    id === 0 ? 2 : id < 3 || token === '<|user|>' ? 3 : id < 259 ? 6 : token === '<tool>' ? 4 : 1;
  return new Map<string, unknown>([
    ['tokenizer.ggml.model', 'llama'],
    ['tokenizer.ggml.tokens', tokens],
    ['tokenizer.ggml.token_type', Int32Array.from(tokens, type)],
    ['tokenizer.ggml.scores', Float32Array.from(tokens, (_, id) => (id < 259 ? 0 : 259 - id))],
    ['tokenizer.ggml.bos_token_id', 1],
    ['tokenizer.ggml.eos_token_id', 2],
    ['tokenizer.ggml.unknown_token_id', 0],
  ]);
}

/** The same pieces as tokenizer.json, merged by the order of their cuts. */
export function sentencePieceJson(): Json {
  const { vocab, model, addedTokens, unkToken } = ggufVocabulary(sentencePieceGguf());
  const texts = [...vocab.keys()];
  const ids = Array.from(model.merges);
  const merges = ids.flatMap((left, i) => (i % 3 === 0 ? [[texts[left], texts[ids[i + 1]]]] : []));
  const replace = (from: string, content: string) => ({ type: 'Replace', pattern: { String: from }, content });
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 };
  return {
    added_tokens: addedTokens.map(({ id, content, special }) => ({ id, content, special, normalized: false })),
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, replace(' ', '▁')] },
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Sequence', decoders: [replace('▁', ' '), { type: 'ByteFallback' }, { type: 'Fuse' }, strip] },
    model: {
      ...{ type: 'BPE', vocab: Object.fromEntries(vocab), merges },
      ...{ unk_token: unkToken, fuse_unk: true, byte_fallback: true },
    },
  };
}

/** The byte-level vocabulary as GGUF metadata. */
export function byteLevelGguf(pre = 'gpt-2'): Map<string, unknown> {
  const { model, added_tokens } = byteLevelJson() as {
    model: { vocab: Json; merges: [string, string][] };
    added_tokens: Json[];
  };
  const byId = Object.entries(model.vocab).sort((a, b) => Number(a[1]) - Number(b[1]));
  const tokens = [...byId.map(([token]) => token), ...added_tokens.map((token) => token.content)];
  const firstAdded = tokens.length - added_tokens.length;
  return new Map<string, unknown>([
    ['tokenizer.ggml.model', 'gpt2'],
    ['tokenizer.ggml.pre', pre],
    ['tokenizer.ggml.tokens', tokens],
    [
      'tokenizer.ggml.token_type',
      tokens.map((_, id) => (id < firstAdded ? 1 : added_tokens[id - firstAdded].special ? 3 : 4)),
    ],
    ['tokenizer.ggml.merges', model.merges.map((pair) => pair.join(' '))],
    ['tokenizer.ggml.eos_token_id', BigInt(firstAdded)],
  ]);
}
