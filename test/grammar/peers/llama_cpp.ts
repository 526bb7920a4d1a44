// What llama.cpp allows under a grammar, by our automaton: the same tokens, but for two kinds of token.
//  - Control tokens. It reads them as the letters of their name, so that <|im_start|> may stand in a string. Here they
//    are no text and never fit. Ours is right: what follows would be read as a message by somebody else.
//  - The byte 00. It takes a token that begins with one for an empty token and refuses it, where the grammar allows all
//    letters, or all but some. Ours is right, by the grammar's text.

import { maskTokens, type Place, walkToken } from '../../../src/cpu/grammar';
import type { Automaton } from '../../../src/grammar/automaton';
import { STORYTELLER } from './storyteller_tokens';

const { tokens, names, ends, never, isTold } = STORYTELLER;

/** Documents that llama.cpp drew, recorded by `VIVACE_RECORD=1 npm run test-servers`. */
export interface LlamaRecord {
  source: string;
  documents: { ids: number[]; masks: string[] }[];
}

/** A flag for each token. Those that cannot be told (storyteller_tokens.ts) have none. */
export function llamaMask(automaton: Automaton, place: Place): Uint8Array {
  const mask = maskTokens(automaton, place, tokens, ends);
  for (const [id, bytes] of tokens.entries()) {
    if (!isTold[id] || id === never || bytes[0] === 0) mask[id] = 0;
    else if (bytes.length === 0 && !ends.includes(id)) mask[id] = walkToken(automaton, place, names[id]) ? 1 : 0;
  }
  return mask;
}

/** A mask as a short text: FNV-1a of its flags. */
export function maskHash(mask: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const flag of mask) hash = Math.imul(hash ^ flag, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
