// The storyteller's vocabulary as bytes.

import { createTokenizer } from '../../../src/text/any_tokenizer';
import { files, projectFile, readJson } from '../../text/fixtures';

const tokenizer = createTokenizer(
  files({ tokenizerJson: readJson(projectFile('public/models/storyteller/tokenizer.json')) }),
);
const tokens = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.tokenBytes(id));
const isByte = (bytes: Uint8Array, first: number, last: number) =>
  bytes.length === 1 && bytes[0] >= first && bytes[0] <= last;

export const STORYTELLER = {
  tokens,
  /** What is shown for a token. Of a control token its name. */
  names: tokens.map((_, id) => new TextEncoder().encode(tokenizer.tokenText(id))),
  ends: tokenizer.eosIds,
  /** The byte C1, which no text has. */
  never: tokens.findIndex((bytes) => isByte(bytes, 0xc1, 0xc1)),
  /** Not: bytes that begin no character. The wasm of llama.cpp stops where it should tell one of them. */
  isTold: tokens.map((bytes) => !isByte(bytes, 0x80, 0xbf) && !isByte(bytes, 0xf5, 0xff)),
};
