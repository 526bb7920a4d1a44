// JSON as a tree that can hold values beyond JSON.stringify: repeated keys, numbers past every range, half a surrogate
// pair, a hundred thousand brackets.

import fc from 'fast-check';
import { EDGE_NUMBERS, NASTY_NAMES } from '../edges';
import type { Random } from '../random';

export type Tree = { raw: string } | { list: Tree[] } | { map: [key: string, value: Tree][] };

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { list: value.map(treeOf) };
  if (typeof value === 'object' && value !== null) {
    return { map: Object.entries(value).map(([key, inner]) => [JSON.stringify(key), treeOf(inner)]) };
  }
  return { raw: JSON.stringify(value) };
}

export function printTree(tree: Tree): string {
  if ('raw' in tree) return tree.raw;
  if ('list' in tree) return `[${tree.list.map(printTree).join(',')}]`;
  return `{${tree.map.map(([key, value]) => `${key}:${printTree(value)}`).join(',')}}`;
}

/** A copy with one to three changes at any depth. `numbers`: the share of changes that set a number. */
export function mutateTree(random: Random, tree: Tree, numbers = 0.3): Tree {
  let changed = tree;
  for (let n = 1 + random.int(3); n > 0; n--) changed = changeSomewhere(random, changed, numbers);
  return changed;
}

const STOP = 0.15;

function changeSomewhere(random: Random, tree: Tree, numbers: number): Tree {
  const size = 'list' in tree ? tree.list.length : 'map' in tree ? tree.map.length : 0;
  if ('raw' in tree || size === 0) return changeValue(random, tree, numbers);
  if (random.chance(STOP))
    return random.chance(0.15) ? changeValue(random, tree, numbers) : changeChildren(random, tree);
  const at = random.int(size);
  if ('list' in tree) return { list: tree.list.with(at, changeSomewhere(random, tree.list[at], numbers)) };
  const [key, value] = tree.map[at];
  return { map: tree.map.with(at, [key, changeSomewhere(random, value, numbers)]) };
}

/** Drops, repeats, renames, swaps or shuffles children of a list or an object. */
function changeChildren(random: Random, tree: Exclude<Tree, { raw: string }>): Tree {
  if ('list' in tree) return { list: rearrange(random, tree.list) };
  if (random.chance(0.5)) return { map: rearrange(random, tree.map) };
  const at = random.int(tree.map.length);
  const [key, value] = tree.map[at];
  const name = random.chance(0.5) ? JSON.stringify(random.pick(NASTY_NAMES)) : random.pick(tree.map)[0];
  return { map: random.chance(0.5) ? tree.map.with(at, [name, value]) : [...tree.map, [key, value], [name, value]] };
}

function rearrange<T>(random: Random, items: readonly T[]): T[] {
  const [a, b] = [random.int(items.length), random.int(items.length)];
  switch (random.int(4)) {
    case 0:
      return items.filter((_, i) => i !== a);
    case 1:
      return items.with(a, items[b]).with(b, items[a]);
    case 2:
      return [...items, items[a]];
    default:
      return items.length < 50 ? Array.from({ length: 40 }, () => items).flat() : items.slice(0, a);
  }
}

function changeValue(random: Random, tree: Tree, numbers: number): Tree {
  if (random.chance(numbers)) return { raw: random.pick(EDGE_NUMBERS) };
  switch (random.int(7)) {
    case 0:
      return { raw: random.pick(['null', 'true', 'false', '[]', '{}', '""', '[[]]', '{"a":1}']) };
    case 1:
      return { raw: JSON.stringify(random.pick(NASTY_NAMES)) };
    case 2:
      return {
        raw: random.pick(['"\\ud800"', '"\\u0000"', '"a', '"\\x"', '"\t"', "'a'", ',', '', ':', '//', 'undefined']),
      };
    case 3:
      return { list: [tree, tree] };
    case 4:
      return nest(tree, random.chance(0.1) ? 100_000 : random.pick([1, 2, 61, 62, 63, 64, 65]));
    case 5:
      return {
        raw: JSON.stringify(random.pick(['x', '\u2581', '🙂', ' ', '\\']).repeat(random.pick([100, 1000, 65_537]))),
      };
    default:
      return treeOf(random.sample(fc.jsonValue({ maxDepth: 2 })));
  }
}

function nest(tree: Tree, depth: number): Tree {
  const inner = printTree(tree);
  return { raw: `${'['.repeat(depth)}${inner.length < 1000 ? inner : 0}${']'.repeat(depth)}` };
}
