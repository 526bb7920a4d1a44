// Ids to bytes. Every token of a language model stands for fixed bytes, and text is the UTF-8 of all bytes in a row.
// Decoding and streaming share this file, so they cannot differ.

import { byteLevelBytes, byteOfToken, utf8Bytes } from '../byte_alphabet';
import { SPACE_MARK } from '../encode/text_pipeline';

export interface ByteRules {
  /** Bytes of one ordinary token. */
  bytes(token: string): Uint8Array;
  /** The first space of a decoded text is an artifact of the vocabulary and is dropped. */
  readonly dropFirstSpace: boolean;
}

export const BYTE_LEVEL: ByteRules = { bytes: byteLevelBytes, dropFirstSpace: false };

/** SentencePiece writes a space as a mark, by default one before each text, and a byte as <0xHH>. */
export function spaceMarks(dropFirstSpace: boolean): ByteRules {
  const bytes = (token: string) => {
    const byte = byteOfToken(token);
    return byte === null ? utf8Bytes(token.replaceAll(SPACE_MARK, ' ')) : Uint8Array.of(byte);
  };
  return { bytes, dropFirstSpace };
}

/** Decodes UTF-8. A byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
