// What constrained answers need to know of a vocabulary.

import { packTokens, type TokenBytes } from '../../sampling/token_bytes';
import type { Tokenizer } from '../../text/tokenizer';

export interface Vocabulary {
  tokens: TokenBytes;
  /** 1 for each byte that a token writes alone. */
  writes: Uint8Array;
  /** A text that begins with a space is decoded without it. */
  dropsSpace: boolean;
}

export function readVocabulary(tokenizer: Tokenizer, vocabSize: number): Vocabulary {
  const { eosIds } = tokenizer;
  const writes = new Uint8Array(256);
  let spaced: number | null = null;
  const bytesOf = (id: number) => {
    const bytes = tokenizer.tokenBytes(id);
    if (bytes.length === 1 && !eosIds.includes(id)) writes[bytes[0]] = 1;
    if (bytes[0] === 0x20) spaced ??= id;
    return bytes;
  };
  const tokens = packTokens(vocabSize, bytesOf, eosIds);
  return { tokens, writes, dropsSpace: spaced !== null && !tokenizer.decode([spaced]).startsWith(' ') };
}
