// A fixed share of `npm run constraint-search -- --hostile 10000`, without its clock: work is counted (limits.ts).

import { expect, test } from 'vitest';
import { compileHostile } from './hostile_search';

test('20 hostile constraints are compiled or refused with a typed error, and the compiler stays as it was', () => {
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  const { compiled, refused, wrong } = compileHostile(seeds, () => 0);
  expect(wrong).toEqual([]);
  expect(compiled).toBeGreaterThan(3);
  expect(refused).toBeGreaterThan(8);
});
