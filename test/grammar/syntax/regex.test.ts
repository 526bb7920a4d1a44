// Regular expressions against those of JavaScript.

import { describe, expect, test } from 'vitest';
import { ConstraintError } from '../../../src/errors';
import { compileGrammar } from '../../../src/grammar/compile/compile';
import { regexGrammar } from '../../../src/grammar/syntax/regex';
import { randomSource } from '../../random';
import { documentSource, takes } from '../documents';

const SOURCES = [
  'abc',
  'a|b|',
  '^(?:yes|no)$',
  'a*b+c?',
  '(a|b)*abb',
  'a{2}b{1,}c{0,2}',
  '(?<word>ab)+',
  'a+?b*?',
  '[abc]+[^abc]',
  '[a-c-]*',
  '[\\]\\-^]+',
  '.{2}',
  '\\d+\\.\\D',
  '\\w\\W\\s\\S',
  '\\t\\n\\x41\\u0042\\u{43}\\ud83d\\ude00',
  '[\\u{1f600}-\\u{1f64f}]x',
  '[^\\u0000-\\uffff]|ä',
  '\\(\\)\\[\\]\\{\\}\\*\\+\\?\\.\\^\\$\\|\\/',
  '(?:a(?:b(?:c|d)?)?)?',
  '[\\d_]{1,3}-[^\\w]',
  '(?:\\s|\\u00a0)b',
  '[^]',
];
const LETTERS = [
  ...'abcdxyzABC0129_-.^$()[]{}*+?|/ \t\n\\"äéя€',
  '\u{1f600}',
  '\u{10ffff}',
  '\u00a0',
  '\u2028',
  '\ufeff',
];

describe.each(SOURCES)('%s', (source) => {
  const automaton = compileGrammar(regexGrammar(source));
  const whole = new RegExp(`^(?:${source})$`, 'u');

  test('takes what JavaScript matches', () => {
    const random = randomSource(7);
    const pick = () => LETTERS[Math.floor(random() * LETTERS.length)];
    const texts = [
      '',
      ...LETTERS,
      ...Array.from({ length: 300 }, () => Array.from({ length: 1 + Math.floor(random() * 5) }, pick).join('')),
    ];
    for (const text of texts) expect([text, takes(automaton, text)]).toEqual([text, whole.test(text)]);
  });

  test('writes what JavaScript matches', () => {
    const draw = documentSource(automaton, randomSource(8));
    for (let i = 0; i < 30; i++) expect(draw()).toMatch(whole);
  });
});

test.each([
  '(',
  ')',
  'a)',
  '[a',
  '*a',
  'a**',
  'a{3,2}',
  'a{70000}',
  '(?=a)',
  '(?<!a)b',
  '\\1',
  '\\bword',
  '\\p{L}',
  'a^b',
  'a$b',
  '(a$)',
  '[z-a]',
  '[\\d-z]',
  '\\u{110000}',
  '\\xZZ',
  '\\',
  `${'('.repeat(33)}${')'.repeat(33)}`,
  'a'.repeat(70_000),
  '((a{100}){100}){100}',
  '(a|b)*a(a|b){20}',
])('%.40s is refused', (source) => {
  expect(() => compileGrammar(regexGrammar(source))).toThrow(ConstraintError);
});
