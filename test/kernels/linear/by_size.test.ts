// The choice among the kernels of a product by the tokens of a pass.

import { expect, test } from 'vitest';
import type { CommandList } from '../../../src/gpu/kernel';
import { bySize, type Linear } from '../../../src/kernels/linear/linear';

test('the first kernel for at least as many tokens runs, with its own groups', () => {
  const ran: unknown[] = [];
  const linear = (name: string): Linear => ({
    bind: () => [`${name} 0`, `${name} 1`] as never,
    record: (_list, groups, nTokens) => void ran.push([groups, nTokens]),
  });
  const sized = bySize([
    { most: 4, linear: linear('few') },
    { most: Number.POSITIVE_INFINITY, linear: linear('many') },
  ]);
  const groups = sized.bind({ parts: [] });
  expect(groups).toEqual(['few 0', 'few 1', 'many 0', 'many 1']);
  for (const nTokens of [1, 4, 5]) sized.record({} as CommandList, groups, nTokens);
  const few = ['few 0', 'few 1'];
  const many = ['many 0', 'many 1'];
  expect(ran).toEqual([
    [few, 1],
    [few, 4],
    [many, 5],
  ]);
});
