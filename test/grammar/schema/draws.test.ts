// A fixed share of `npm run constraint-search`: documents of random schemas, validated by ajv.

import { expect, test } from 'vitest';
import { drawDocuments } from './draws';

test('every document of 200 random schemas is valid', () => {
  const seeds = Array.from({ length: 200 }, (_, seed) => seed);
  const { documents, refused, wrong } = drawDocuments(seeds, 4);
  expect(wrong).toEqual([]);
  // `false`, a schema that is only itself, and an object beside one that may be any.
  const mayBeRefused = /^No document fits|begins with itself|alternatives that begin alike/;
  expect([...refused.keys()].filter((reason) => !mayBeRefused.test(reason))).toEqual([]);
  expect(documents).toBeGreaterThan(600);
});
