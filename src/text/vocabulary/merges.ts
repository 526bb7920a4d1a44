// The merges of byte pair encoding, as texts in both kinds of files.

import { TokenizerError } from '../../errors';

const isText = (value: unknown) => typeof value === 'string' && value !== '';

/** Reads merges in both notations: "a b", and ["a", "b"] for tokens with spaces. */
export function readMerges(value: unknown, vocab: ReadonlyMap<string, number>): Uint32Array {
  if (!Array.isArray(value)) throw new TokenizerError('The vocabulary has no list of merges.');
  const ids = new Uint32Array(3 * value.length);
  value.forEach((merge: unknown, i) => {
    const pair = typeof merge === 'string' ? merge.split(' ') : merge;
    if (!Array.isArray(pair) || pair.length !== 2 || !isText(pair[0]) || !isText(pair[1])) {
      throw new TokenizerError(`Merge ${i} is not a pair of tokens.`);
    }
    const left = vocab.get(pair[0]);
    const right = vocab.get(pair[1]);
    const both = vocab.get(pair[0] + pair[1]);
    if (left === undefined || right === undefined || both === undefined) {
      throw new TokenizerError(`Merge ${i} (${JSON.stringify(pair)}) names a token that the vocabulary lacks.`);
    }
    ids[3 * i] = left;
    ids[3 * i + 1] = right;
    ids[3 * i + 2] = both;
  });
  return ids;
}
