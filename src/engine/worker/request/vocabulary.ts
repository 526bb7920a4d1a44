// What constrained answers need to know of a vocabulary.

import { walkedBytes } from '../../../grammar/answer/control_bytes';
import { LAST_OF_TEXT } from '../../../grammar/answer/control_range';
import { MAX_TOKEN_BYTES, packTokens, type TokenBytes } from '../../../sampling/token_bytes';
import type { Tokenizer } from '../../../text/tokenizer';

export interface Vocabulary {
  tokens: TokenBytes;
  /** The bytes of a token as a constraint walks them. */
  bytesOf: (id: number) => Uint8Array;
  /** 1 for each byte that a token writes alone, and for those that are no text. */
  writes: Uint8Array;
  /** A text that begins with a space is decoded without it. */
  dropsSpace: boolean;
}

/** @param controls the texts of control tokens that a constraint tells from others */
export function readVocabulary(tokenizer: Tokenizer, vocabSize: number, controls: readonly string[]): Vocabulary {
  const { eosIds } = tokenizer;
  const writes = new Uint8Array(256).fill(1, LAST_OF_TEXT + 1);
  const bytesOf = (id: number) =>
    walkedBytes(tokenizer.tokenBytes(id), () => tokenizer.tokenText(id), controls, MAX_TOKEN_BYTES);
  let spaced: number | null = null;
  const seen = (id: number) => {
    const bytes = bytesOf(id);
    if (bytes.length === 1 && !eosIds.includes(id)) writes[bytes[0]] = 1;
    if (bytes[0] === 0x20) spaced ??= id;
    return bytes;
  };
  const tokens = packTokens(vocabSize, seen, eosIds);
  return { tokens, bytesOf, writes, dropsSpace: spaced !== null && !tokenizer.decode([spaced]).startsWith(' ') };
}
