// A fixed share of `npm run constraint-search`: documents of random schemas, validated by ajv.

import { expect, test } from 'vitest';
import { drawDocuments } from './draws';

test('every document of 200 random schemas is valid', () => {
  const seeds = Array.from({ length: 200 }, (_, seed) => seed);
  const { documents, refused, wrong } = drawDocuments(seeds, 4);
  expect(wrong).toEqual([]);
  const mayBeRefused = /^No document fits|begins with itself/; // `false`, and a schema that is only itself
  expect([...refused.keys()].filter((reason) => !mayBeRefused.test(reason))).toEqual([]);
  expect(documents).toBeGreaterThan(600);
});
