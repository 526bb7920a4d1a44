// A tokenizer for models without words: the text of a prompt names its ids, every id is four letters, and no id ends an
// answer.

import type { Tokenizer } from '../../../src/text/tokenizer';
import { randomSource } from '../../../test/random';

const WORD = new TextEncoder().encode(' tok');

/** A prompt of `length` ids; of two prompts of one length, only the last `own` differ where the seeds do. */
export function seededPrompt(length: number, own: number, seed: number): string {
  return [length, own, seed].join(' ');
}

function promptIds(prompt: string, vocabSize: number): Uint32Array {
  const [length, own, seed] = prompt.split(' ').map(Number);
  const shared = randomSource(0);
  const different = randomSource(seed + 1);
  return Uint32Array.from({ length }, (_, i) => {
    const next = i < length - own ? shared : different;
    return Math.floor(next() * vocabSize);
  });
}

export function seededTokenizer(vocabSize: number): Tokenizer {
  const encode = (prompt: string) => promptIds(prompt, vocabSize);
  return {
    vocabSize,
    bosToken: null,
    eosToken: null,
    eosIds: [],
    encode,
    encodePlain: encode,
    encodeAuthored: encode,
    couldForge: () => false,
    forgeableUnits: () => new Set(),
    decode: (ids) => ' tok'.repeat(ids.length),
    tokenBytes: () => WORD,
    isAdded: () => false,
    tokenText: () => ' tok',
  };
}
