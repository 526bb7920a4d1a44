// GBNF by hand: texts that a grammar takes and does not take, and grammars that are refused.

import { describe, expect, test } from 'vitest';
import { ConstraintError } from '../../../src/errors';
import { compileGrammar } from '../../../src/grammar/compile/compile';
import { gbnfGrammar } from '../../../src/grammar/syntax/gbnf';
import { randomSource } from '../../random';
import { documentSource, takes } from '../documents';

const compile = (source: string) => compileGrammar(gbnfGrammar(source));

/** The grammar, texts that it takes, texts that it does not. */
const CASES: readonly [name: string, source: string, taken: readonly string[], refused: readonly string[]][] = [
  ['a text', 'root ::= "yes"', ['yes'], ['', 'ye', 'yess']],
  ['alternatives', 'root ::= "yes" | "no" |\n  "maybe"', ['yes', 'no', 'maybe'], ['', 'yesno']],
  ['an empty alternative', 'root ::= "a" ( | "b")', ['a', 'ab'], ['', 'b']],
  [
    'repetitions',
    'root ::= "a"* "b"+ "c"? "d"{2} "e"{1,} "f"{0,2}',
    ['bdde', 'aabbcddeeff'],
    ['dde', 'bde', 'bddefff'],
  ],
  ['a repetition of a repetition', 'root ::= ("a"{2})*', ['', 'aa', 'aaaa'], ['a', 'aaa']],
  [
    'classes',
    'root ::= [a-c_\\]-] [^a-z\\n] [\\x41\\u00e4\\U0001f600]',
    ['a1A', '-Z\u{1f600}', '] ä'],
    ['d1A', 'aaA', 'a\nA'],
  ],
  ['a dot', 'root ::= .', ['a', 'ä', '\n'], ['', 'ab']],
  ['escapes', 'root ::= "\\"\\\\\\n\\r\\t\\x7e"', ['"\\\n\r\t~'], ['~']],
  ['comments and lines', '# first\nroot ::= ( # inside\n  "a"\n  | "b" ) # last\n\n', ['a', 'b'], ['']],
  ['rules in any order', 'x ::= "1"\nroot ::= y x\ny-2_z ::= "3"\ny ::= y-2_z', ['31'], ['13']],
  ['itself', 'root ::= "(" root? ")"', ['()', '((()))'], ['(', '())']],
  ['rules that begin alike', 'root ::= a "x" | b "y"\na ::= [0-9]+\nb ::= [0-9]+ "z"', ['12x', '1zy'], ['1y', '12zx']],
  [
    'rules that may be empty, repeated',
    'root ::= (a | "b" | c)+ "d"\na ::= "c"?\nc ::= "c" "e"? | ',
    ['d', 'bd', 'cbcd', 'ceccbd'],
    ['', 'cb', 'ed', 'dd'],
  ],
  ['a rule that ends as its caller goes on', 'root ::= a "ab"\na ::= "a"*', ['ab', 'aaab'], ['a', 'aa']],
];

test.each(CASES)('%s', (_, source, taken, refused) => {
  const automaton = compile(source);
  expect(taken.filter((text) => !takes(automaton, text))).toEqual([]);
  expect(refused.filter((text) => takes(automaton, text))).toEqual([]);
});

describe('a grammar of JSON', () => {
  const automaton = compile(String.raw`
    root   ::= object
    value  ::= object | array | string | number | ("true" | "false" | "null") ws
    object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
    array  ::= "[" ws ( value ("," ws value)* )? "]" ws
    string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
    number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
    ws     ::= | " " | "\n" [ \t]{0,20}`);

  test('takes JSON', () => {
    const value = { a: [1, -2.5, 'ä\n'], b: { c: null, d: [] } };
    expect(takes(automaton, JSON.stringify(value))).toBe(true);
    expect(takes(automaton, JSON.stringify(value, null, 2))).toBe(true);
    expect(takes(automaton, '{"a": }')).toBe(false);
  });

  test('writes JSON', () => {
    const draw = documentSource(automaton, randomSource(1));
    for (let i = 0; i < 50; i++) expect(JSON.parse(draw())).toBeTypeOf('object');
  });
});

test('a grammar of moves, where one letter decides late', () => {
  const automaton = compile(String.raw`
    root   ::= "1. " move " " move "\n" ([1-9] [0-9]? ". " move " " move "\n")+
    move   ::= (pawn | nonpawn | castle) [+#]?
    nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
    pawn   ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
    castle ::= "O-O" "-O"?`);
  expect(takes(automaton, '1. e4 Nf6\n2. exd5 O-O-O+\n')).toBe(true);
  expect(takes(automaton, '1. e4 Nbd7\n2. R1xa8 O-O\n')).toBe(true);
  expect(takes(automaton, '1. e4\n')).toBe(false);
});

test.each([
  ['no root', 'a ::= "b"'],
  ['nothing', ''],
  ['a missing rule', 'root ::= a'],
  ['two rules of one name', 'root ::= "a"\nroot ::= "b"'],
  ['no ::=', 'root = "a"'],
  ['an open text', 'root ::= "a'],
  ['an open class', 'root ::= [a'],
  ['an open parenthesis', 'root ::= ("a"'],
  ['a ) alone', 'root ::= "a")'],
  ['a token', 'root ::= <think>'],
  ['an unknown escape', 'root ::= "\\q"'],
  ['a descending range', 'root ::= [z-a]'],
  ['half a pair', 'root ::= "\\ud800"'],
  ['a rule that begins with itself', 'root ::= root "a" | "b"'],
  ['an ambiguous rule that contains itself', 'root ::= "a" root "a" | "a"'],
  ['a rule without an end', 'root ::= "a" root'],
  ['too many parentheses', `root ::= ${'('.repeat(40)}"a"${')'.repeat(40)}`],
  ['too many repetitions', 'root ::= ((("a"{1000}){1000}){1000}){1000}'],
  ['too many repetitions of one another', `root ::= "a"${'*'.repeat(50_000)}`],
  ['a long text', `root ::= "${'a'.repeat(70_000)}"`],
])('%s is refused', (_, source) => {
  expect(() => compile(source)).toThrow(ConstraintError);
});
