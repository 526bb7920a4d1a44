// The bytes of all tokens, one after another, as kernels walk them.

/** Longest token that a constrained answer may draw, in bytes. The longest in use are 128 spaces. */
export const MAX_TOKEN_BYTES = 256;

/** A flag in `starts`: the token ends an answer, whatever its bytes. */
const ENDS = 0x80000000;

export interface TokenBytes {
  /** The first byte of each token, + ENDS; one more for the end. */
  readonly starts: Uint32Array<ArrayBuffer>; // (vocab + 1)
  readonly bytes: Uint8Array<ArrayBuffer>; // padded to whole words, one at least
}

/**
 * @param bytesOf none for a control token. Of a token that is too long none are kept, so that it is never drawn.
 * @param ends ids that end an answer
 */
export function packTokens(
  vocabSize: number,
  bytesOf: (id: number) => Uint8Array,
  ends: readonly number[],
): TokenBytes {
  const tokens = Array.from({ length: vocabSize }, (_, id) => bytesOf(id));
  const isKept = ({ length }: Uint8Array) => length <= MAX_TOKEN_BYTES;
  const size = tokens.reduce((sum, token) => sum + (isKept(token) ? token.length : 0), 0);
  const starts = new Uint32Array(vocabSize + 1);
  const bytes = new Uint8Array(4 * Math.max(1, Math.ceil(size / 4)));
  let at = 0;
  for (const [id, token] of tokens.entries()) {
    starts[id] = at;
    if (!isKept(token)) continue;
    bytes.set(token, at);
    at += token.length;
  }
  starts[vocabSize] = at;
  for (const id of ends) if (id < vocabSize) starts[id] |= ENDS;
  return { starts, bytes };
}

/** The bytes of each token, and the ids that end an answer. */
export function unpackTokens({ starts, bytes }: TokenBytes): { tokens: Uint8Array[]; ends: number[] } {
  const at = (id: number) => starts[id] & ~ENDS;
  const tokens = Array.from({ length: starts.length - 1 }, (_, id) => bytes.subarray(at(id), at(id + 1)));
  return { tokens, ends: [...tokens.keys()].filter((id) => starts[id] >= ENDS) };
}
