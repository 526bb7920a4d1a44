// The walk of a document by hand: places, bytes, ends and masks.

import { expect, test } from 'vitest';
import { allowedBytes, maskTokens, mayEnd, type Place, START, stepByte, walk } from '../../src/cpu/grammar';
import { compileGrammar } from '../../src/grammar/compile/compile';
import { call, choice, literal, sequence } from '../../src/grammar/grammar';

const bytes = (text: string) => new TextEncoder().encode(text);
const letters = (codes: readonly number[]) => String.fromCharCode(...codes);

/** `(x)`, `((x))` and so on, where a call is under way between the brackets. */
const NESTED = compileGrammar([
  { name: 'root', node: sequence(literal('('), choice(literal('x'), call(0)), literal(')')) },
]);

const placeAfter = (text: string): Place => {
  const place = walk(NESTED, START, bytes(text));
  if (place === null) throw new Error(`refused: ${text}`);
  return place;
};

test('a call grows the stack, and the byte behind it leaves the call', () => {
  expect(placeAfter('(').stack).toHaveLength(0);
  expect(placeAfter('((').stack).toHaveLength(1);
  expect(placeAfter('((x)').stack).toHaveLength(1);
  expect(placeAfter('((x))').stack).toHaveLength(0);
});

test('a place is not changed by a step', () => {
  const place = placeAfter('((x');
  const copy = structuredClone(place);
  stepByte(NESTED, place, 0x29);
  expect(place).toEqual(copy);
});

test('the bytes that may come next', () => {
  expect(letters(allowedBytes(NESTED, START))).toBe('(');
  expect(letters(allowedBytes(NESTED, placeAfter('(')))).toBe('(x');
  expect(letters(allowedBytes(NESTED, placeAfter('((x)')))).toBe(')');
  expect(allowedBytes(NESTED, placeAfter('(x)'))).toEqual([]);
});

test('a document ends where every call has ended', () => {
  const texts = ['', '(', '(x', '(x)', '((x)', '((x))'];
  expect(texts.filter((text) => mayEnd(NESTED, text === '' ? START : placeAfter(text)))).toEqual(['(x)', '((x))']);
});

test('the mask of a vocabulary', () => {
  const tokens = ['', '(', '((', '(x', '(x))', 'x', ')', '(x)'].map(bytes);
  const mask = (text: string, ends = [0]) => [...maskTokens(NESTED, placeAfter(text), tokens, ends)];
  //                         '' ( (( (x (x)) x ) (x)
  expect(mask('(')).toEqual([0, 1, 1, 1, 1, 1, 0, 1]);
  expect(mask('((x')).toEqual([0, 0, 0, 0, 0, 0, 1, 0]);
  expect(mask('(x)')).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
  expect(mask('(x)', [])[0]).toBe(0);
});
