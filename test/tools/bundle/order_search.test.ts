// The search for an order of modules: imports first, and nothing but what is smaller.

import { expect, test } from 'vitest';
import { type BundledModules, orderWith, searchOrder } from '../../../tools/lib/bundle/order_search';
import { randomSource } from '../../random';

const MODULES: BundledModules = {
  entry: 'entry',
  ids: ['base', 'left', 'right', 's1', 's2', 'entry'],
  imports: new Map([
    ['entry', ['left', 'right', 'later']],
    ['left', ['base']],
    ['right', ['base', 's2']],
    ['later', ['s1']],
  ]),
};

test('each module stands behind what it imports, through modules of other bundles, too', () => {
  expect(orderWith(MODULES, [])).toEqual(['base', 'left', 's2', 'right', 's1', 'entry']);
  expect(orderWith(MODULES, ['right', 's1'])).toEqual(['base', 's2', 'right', 's1', 'left', 'entry']);
});

test('modules that import each other stand once each', () => {
  const round = new Map([...MODULES.imports, ['base', ['right']]]);
  expect(orderWith({ ...MODULES, imports: round }, []).toSorted()).toEqual(MODULES.ids.toSorted());
});

test('the best order that is tried is kept, with a block in one piece', () => {
  // Bytes as the distance of two modules that are alike, and more names are not worth it.
  const sizeOf = (order: readonly string[]) => 100 * (1 + Math.abs(order.indexOf('right') - order.indexOf('base')));
  const seen: number[] = [];
  const options = { tries: 200, random: randomSource(1), onBetter: (size: number) => seen.push(size) };
  const { first, size } = searchOrder(MODULES, ['left', 's1', 's2'], ['s1', 's2'], sizeOf, options);
  expect(size).toBe(200);
  expect(size).toBe(sizeOf(orderWith(MODULES, first)));
  expect(seen.at(-1)).toBe(size);
  expect(first.indexOf('s2') - first.indexOf('s1')).toBe(1);
});

test('what the entry does not import at once is never named: it stands behind the entry, whoever names it', () => {
  const modules = { ...MODULES, ids: [...MODULES.ids, 'part', 's3'] };
  const sizeOf = (order: readonly string[]) => 100 * (9 - order.indexOf('entry')); // smaller with `part` in front
  const options = { tries: 200, random: randomSource(2) };
  const { first } = searchOrder(modules, ['part', 's1', 's2', 's3'], ['s1', 's2', 's3'], sizeOf, options);
  expect(first).not.toContain('part');
  expect(first).not.toContain('s3');
});
