// What each rule may begin with: the first bytes, and whether it may write nothing at all. Refuses left recursion.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import type { Grammar, Node } from '../grammar';
import type { Fuel } from '../limits';
import { shown } from '../shown';
import { addAll, addRanges, type ByteSet, noBytes } from './byte_set';

export interface FirstBytes {
  /** Whether a rule may write nothing. */
  readonly isNullable: readonly boolean[];
  /** The first bytes of a rule. */
  readonly first: readonly ByteSet[];
}

/** @throws ConstraintError for a rule that may begin with itself */
export function firstBytes(grammar: Grammar, fuel: Fuel): FirstBytes {
  const isNullable = grammar.map(() => false);
  const first = grammar.map(noBytes);
  settle(grammar, fuel, (node, rule) => {
    if (isNullable[rule] || !mayBeEmpty(node, isNullable)) return false;
    isNullable[rule] = true;
    return true;
  });
  refuseLeftRecursion(grammar, isNullable, fuel);
  settle(grammar, fuel, (node, rule) => {
    let isNew = false;
    eachFirst(node, isNullable, fuel, (leaf) => {
      if (addLeaf(first[rule], leaf, first)) isNew = true;
    });
    return isNew;
  });
  return { isNullable, first };
}

/** Repeats until no rule changes. */
function settle(grammar: Grammar, fuel: Fuel, change: (node: Node, rule: number) => boolean): void {
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    // Rules mostly call later ones, so that one round from the end settles most.
    for (let rule = grammar.length - 1; rule >= 0; rule--) {
      fuel.spend(16);
      if (change(grammar[rule].node, rule)) isSettled = false;
    }
  }
}

type Leaf = Extract<Node, { kind: 'byte' | 'literal' | 'call' }>;

/** Adds the first bytes of a leaf. True where one of them is new. */
function addLeaf(set: ByteSet, leaf: Leaf, first: readonly ByteSet[]): boolean {
  if (leaf.kind === 'call') return addAll(set, first[leaf.rule]);
  if (leaf.kind === 'byte') return addRanges(set, leaf.ranges);
  const isNew = set[leaf.bytes[0]] === 0;
  set[leaf.bytes[0]] = 1;
  return isNew;
}

function mayBeEmpty(node: Node, isNullable: readonly boolean[]): boolean {
  const isEmpty = (part: Node) => mayBeEmpty(part, isNullable);
  switch (node.kind) {
    case 'byte':
    case 'list':
      return false;
    case 'literal':
      return node.bytes.length === 0;
    case 'sequence':
      return node.parts.every(isEmpty);
    case 'choice':
      return node.parts.some(isEmpty);
    case 'beginning':
      return node.parts.slice(0, node.min).every(isEmpty);
    case 'repeat':
      return node.min === 0 || node.max === 0 || isEmpty(node.part);
    case 'call':
      return isNullable[node.rule];
    case 'scan':
      return node.states[0].some((way) => way.next === null && isEmpty(way.node));
  }
}

/** Calls `see` with every leaf that may come first. */
function eachFirst(node: Node, isNullable: readonly boolean[], fuel: Fuel, see: (leaf: Leaf) => void): void {
  fuel.spend(8);
  switch (node.kind) {
    case 'byte':
    case 'call':
      see(node);
      return;
    case 'literal':
      if (node.bytes.length > 0) see(node);
      return;
    case 'choice':
      for (const part of node.parts) eachFirst(part, isNullable, fuel, see);
      return;
    case 'sequence':
    case 'beginning':
      for (const part of node.parts) {
        eachFirst(part, isNullable, fuel, see);
        if (!mayBeEmpty(part, isNullable)) return;
      }
      return;
    case 'repeat':
      if (node.max !== 0) eachFirst(node.part, isNullable, fuel, see);
      return;
    case 'list':
      for (const part of node.parts) {
        eachFirst(part.node, isNullable, fuel, see);
        if (!part.isOptional) return;
      }
      return;
    case 'scan':
      for (const way of node.states[0]) eachFirst(way.node, isNullable, fuel, see);
  }
}

/** A rule that begins with itself would be entered for ever by one byte. */
function refuseLeftRecursion(grammar: Grammar, isNullable: readonly boolean[], fuel: Fuel): void {
  const beginsWith = grammar.map(({ node }) => {
    const rules = new Set<number>();
    eachFirst(node, isNullable, fuel, (leaf) => leaf.kind === 'call' && rules.add(leaf.rule));
    return [...rules];
  });
  const state = new Uint8Array(grammar.length); // 1: on the way, 2: done
  for (let root = 0; root < grammar.length; root++) {
    const way: { rule: number; next: number }[] = state[root] === 0 ? [{ rule: root, next: 0 }] : [];
    while (way.length > 0) {
      const at = way[way.length - 1];
      state[at.rule] = 1;
      const rule = beginsWith[at.rule][at.next++];
      if (rule === undefined) {
        state[at.rule] = 2;
        way.pop();
      } else if (state[rule] === 1) {
        const { name } = grammar[rule];
        throw new ConstraintError(
          name,
          why`${shown(name)} begins with itself, so that it has no first letter. Rewrite it.`,
        );
      } else if (state[rule] === 0) {
        way.push({ rule, next: 0 });
      }
    }
  }
}
