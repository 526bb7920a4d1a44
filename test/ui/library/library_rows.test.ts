// Groups of the list of conversations, and the row to focus after a deletion.

import { expect, test } from 'vitest';
import { groupByDay, neighborOf } from '../../../src/ui/library/library_rows';

test('days begin at the midnight of the reader', () => {
  const now = new Date(2026, 2, 1, 0, 30);
  const at = (id: string, ...date: [number, number, number, number, number]) => ({
    id,
    title: id,
    turns: 1,
    updatedAt: new Date(...date).getTime(),
  });
  const summaries = [at('a', 2026, 2, 1, 0, 1), at('b', 2026, 1, 28, 23, 59), at('c', 2026, 1, 27, 23, 59)];
  expect(groupByDay(summaries, now).map(({ name, summaries: found }) => [name, found.map(({ id }) => id)])).toEqual([
    ['today', ['a']],
    ['yesterday', ['b']],
    ['earlier', ['c']],
  ]);
  expect(groupByDay(summaries.slice(2), now).map(({ name }) => name)).toEqual(['earlier']);
});

test('after a deletion the next row has the focus, or the one before', () => {
  expect(['a', 'b', 'c'].map((id) => neighborOf(['a', 'b', 'c'], id))).toEqual(['b', 'c', 'b']);
  expect(neighborOf(['a'], 'a')).toBeNull();
});
