// Automata of grammars written by hand.

import { describe, expect, test } from 'vitest';
import { ConstraintError } from '../../src/errors';
import { type Automaton, NO_EDGE, PUSH_WORDS } from '../../src/grammar/automaton';
import { compileGrammar } from '../../src/grammar/compile/compile';
import {
  byteIn,
  call,
  choice,
  EMPTY,
  type Grammar,
  literal,
  NEVER,
  type Node,
  optional,
  repeat,
  sequence,
} from '../../src/grammar/grammar';
import { MAX_STACK } from '../../src/grammar/limits';
import { takes } from './documents';

const rules = (...nodes: readonly Node[]): Grammar => nodes.map((node, i) => ({ name: `rule ${i}`, node }));
const compile = (...nodes: readonly Node[]): Automaton => compileGrammar(rules(...nodes));
const LETTERS = byteIn([0x61, 0x7a]);

test('a literal is taken whole', () => {
  const automaton = compile(literal('abc'));
  expect(['', 'ab', 'abc', 'abcd'].filter((text) => takes(automaton, text))).toEqual(['abc']);
  expect(automaton).toMatchObject({ nStates: 4, nPushes: 1 });
});

test('all words of a choice are taken, those that begin alike too', () => {
  const automaton = compile(choice(literal('in'), literal('int'), literal('i')));
  expect(['i', 'in', 'int', '', 'n', 'intt'].filter((text) => takes(automaton, text))).toEqual(['i', 'in', 'int']);
});

test.each([
  [0, 0, ['']],
  [2, 3, ['aa', 'aaa']],
  [3, null, ['aaa', 'aaaa', 'aaaaa']],
  [0, 1, ['', 'a']],
])('from %i to %s repetitions', (min, max, expected) => {
  const automaton = compile(sequence(repeat(literal('a'), min, max)));
  const texts = Array.from({ length: 6 }, (_, n) => 'a'.repeat(n));
  expect(texts.filter((text) => takes(automaton, text))).toEqual(expected);
});

test('a list leaves out optional parts and separates the others', () => {
  const part = (text: string, isOptional: boolean) => ({ node: literal(text), isOptional });
  const list: Node = {
    kind: 'list',
    separator: literal(','),
    parts: [part('a', true), part('b', false), part('c', true)],
  };
  const automaton = compile(list);
  const texts = ['', 'a', 'b', 'c', 'a,b', 'b,c', 'a,c', 'a,b,c', ',b', 'b,', 'ab'];
  expect(texts.filter((text) => takes(automaton, text))).toEqual(['b', 'a,b', 'b,c', 'a,b,c']);
});

test('a beginning may stop after its least parts', () => {
  const parts = [literal('a'), literal('b'), literal('c')];
  const automaton = compile({ kind: 'beginning', parts, min: 1 });
  expect(['', 'a', 'ab', 'abc', 'b'].filter((text) => takes(automaton, text))).toEqual(['a', 'ab', 'abc']);
});

describe('calls', () => {
  const nested = rules(sequence(literal('('), optional(call(0)), literal(')')));

  test('a rule may contain itself, as deep as the stack', () => {
    const automaton = compileGrammar(nested);
    const deep = (depth: number) => '('.repeat(depth) + ')'.repeat(depth);
    expect(takes(automaton, deep(MAX_STACK + 1))).toBe(true);
    expect(takes(automaton, deep(MAX_STACK + 2))).toBe(false);
    expect(takes(automaton, '(()')).toBe(false);
  });

  test('the last call of a rule takes no place of the stack', () => {
    const automaton = compile(sequence(literal('a'), optional(call(0))));
    expect(takes(automaton, 'a'.repeat(1000))).toBe(true);
    expect(automaton.nPushes).toBe(1);
  });

  test('calls that begin alike are told apart by later bytes', () => {
    const automaton = compile(choice(call(1), call(2), literal('ax')), literal('ab'), sequence(literal('a'), call(1)));
    const texts = ['ab', 'aab', 'ax', 'a', 'aax'];
    expect(texts.filter((text) => takes(automaton, text))).toEqual(['ab', 'aab', 'ax']);
  });

  test('a rule whose end is not decided by one byte is decided by its caller', () => {
    const automaton = compile(sequence(call(1), literal('ab')), repeat(literal('a'), 0, null));
    expect(['ab', 'aab', 'aaaab', 'aa', 'b'].filter((text) => takes(automaton, text))).toEqual(['ab', 'aab', 'aaaab']);
  });

  test('a rule may be empty', () => {
    const automaton = compile(sequence(call(1), literal('b'), call(1)), choice(EMPTY, literal('a')));
    expect(['b', 'ab', 'ba', 'aba', 'aa'].filter((text) => takes(automaton, text))).toEqual(['b', 'ab', 'ba', 'aba']);
  });

  test('several rules can begin with one byte', () => {
    const automaton = compile(
      sequence(call(1), literal('!')),
      sequence(call(2), literal('?')),
      sequence(literal('a'), literal('b'), literal('c')),
    );
    expect(takes(automaton, 'abc?!')).toBe(true);
    const rows = [...automaton.edges].filter((edge) => edge !== NO_EDGE).map((edge) => PUSH_WORDS * (edge >>> 16));
    expect(Math.max(...rows.map((row) => automaton.pushes[row]))).toBe(2);
  });

  test('a palindrome needs more than a stack, and is refused', () => {
    const palindrome = choice(sequence(literal('a'), call(0), literal('a')), literal('a'));
    expect(() => compile(palindrome)).toThrow(ConstraintError);
  });

  test.each([
    ['with itself', [sequence(call(0), literal('a'))]],
    ['with itself by way of another', [call(1), sequence(optional(LETTERS), call(0))]],
    ['with itself behind an empty rule', [sequence(call(1), call(0)), repeat(literal('a'), 0, 1)]],
  ])('a rule that begins %s is refused', (_, nodes) => {
    expect(() => compile(...nodes)).toThrow('begins with itself');
  });
});

describe('documents that cannot end', () => {
  const nested = Array.from({ length: 40 }, (_, i) =>
    sequence(literal('('), i < 39 ? call(i + 1) : literal('x'), literal(')')),
  );

  test.each([
    ['nothing is allowed', [NEVER]],
    ['a rule contains itself for ever', [sequence(literal('a'), call(0))]],
    ['the stack does not suffice', nested],
  ])('%s', (_, nodes) => {
    expect(() => compile(...nodes)).toThrow('No document fits');
  });

  test('an alternative without an end is not entered', () => {
    const automaton = compile(
      choice(literal('ab'), sequence(literal('ac'), NEVER), sequence(literal('d'), call(1))),
      sequence(literal('a'), call(1)),
    );
    expect(takes(automaton, 'ab')).toBe(true);
    const begins = Array.from({ length: 256 }, (_, b) => b).filter(
      (b) => automaton.edges[automaton.classOf[b]] !== NO_EDGE,
    );
    expect(begins).toEqual([0x61]);
  });

  test('a call is refused where the stack would not suffice to end it', () => {
    // Each ( is a call, and what ends the innermost takes three more.
    const open = sequence(literal('('), choice(call(0), call(1)), literal(')'));
    const automaton = compile(
      open,
      sequence(literal('1'), call(2), literal('1')),
      sequence(literal('2'), call(3), literal('2')),
      literal('3'),
    );
    const text = (depth: number) => `${'('.repeat(depth)}12321${')'.repeat(depth)}`;
    const depths = Array.from({ length: 40 }, (_, depth) => depth + 1).filter((depth) => takes(automaton, text(depth)));
    expect(depths.length).toBeGreaterThan(20);
    const deepest = depths[depths.length - 1];
    expect(takes(automaton, text(deepest + 1))).toBe(false);
    expect(depths).toHaveLength(deepest);
  });
});
