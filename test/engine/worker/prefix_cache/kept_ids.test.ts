// Prompts that spell an earlier answer as it was generated.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keptIds } from '../../../../src/engine/worker/prefix_cache/kept_ids';

/** Ids 0 to 15 are a letter each, 16 to 271 two letters. 300 shows a tag, 301 nothing. */
const LETTERS = 16;
const TAG = 300;
const END = 301;
const letters = (id: number) =>
  id < LETTERS ? [id] : [Math.floor((id - LETTERS) / LETTERS), (id - LETTERS) % LETTERS];
const spelling = {
  tokenBytes: (id: number) => Uint8Array.from(id === END ? [] : id === TAG ? [1, 2] : letters(id)),
  isAdded: (id: number) => id >= TAG,
};
const pair = (a: number, b: number) => LETTERS + LETTERS * a + b;
const bytesOf = (ids: ArrayLike<number>) => Array.from(ids).flatMap((id) => (id >= TAG ? [id] : letters(id)));
const kept = (ids: readonly number[], branch: readonly number[]) => [
  ...keptIds(Uint32Array.from(ids), branch, spelling),
];

const LONG = Array.from({ length: 20 }, (_, i) => i % LETTERS);

test('an answer in other tokens is spelled as it was generated, and what follows it as the prompt has it', () => {
  const branch = [7, END, 1, 2, pair(3, 4), ...LONG, END];
  expect(kept([7, END, pair(1, 2), 3, 4, ...LONG, END, 5, 6], branch)).toEqual([...branch, 5, 6]);
});

test('also where two answers differ in their spelling', () => {
  const branch = [7, END, 1, 2, ...LONG, END, 9, END, pair(5, 5), ...LONG, END];
  expect(kept([7, END, pair(1, 2), ...LONG, END, 9, END, 5, 5, ...LONG, END, 3], branch)).toEqual([...branch, 3]);
});

test('another text stays as the prompt has it, from the last token on that both have', () => {
  const branch = [7, 1, 2, ...LONG, 5, pair(6, 7)];
  expect(kept([7, pair(1, 2), ...LONG, pair(5, 6), 8], branch)).toEqual([7, 1, 2, ...LONG, pair(5, 6), 8]);
  expect(kept([7, 1, pair(2, 3), 4], [7, 1, 2, 3, 4, 5])).toEqual([7, 1, pair(2, 3), 4]); // little to win
});

test('letters that a person typed do not become a tag, nor a tag letters', () => {
  const rest = [...LONG, ...LONG];
  expect(kept([7, 1, 2, ...rest], [7, TAG, ...rest])).toEqual([7, 1, 2, ...rest]);
  expect(kept([7, TAG, ...rest], [7, 1, 2, ...rest])).toEqual([7, TAG, ...rest]);
});

test('says the same text, whatever the branch holds', () => {
  const token = fc.oneof(
    fc.nat(3),
    fc.tuple(fc.nat(3), fc.nat(3)).map(([a, b]) => pair(a, b)),
    fc.constantFrom(TAG, END),
  );
  const ids = fc.array(token, { maxLength: 60 });
  fc.assert(
    fc.property(ids, ids, fc.nat(60), (prompt, other, cut) => {
      const branch = [...prompt.slice(0, cut).flatMap((id) => (id >= TAG ? [id] : letters(id))), ...other];
      const found = kept(prompt, branch);
      expect(bytesOf(found)).toEqual(bytesOf(prompt));
      expect(found.filter((id) => id >= TAG)).toEqual(prompt.filter((id) => id >= TAG));
    }),
    { numRuns: 500 },
  );
});
