// Each kind of constraint, from what is asked for to the documents that are taken.

import { expect, test } from 'vitest';
import { ConstraintError } from '../../src/errors';
import { type Constraint, compileConstraint } from '../../src/grammar/constraint';
import { takes } from './documents';

const CASES: readonly [constraint: Constraint, taken: readonly string[], refused: readonly string[]][] = [
  [{ kind: 'json_object' }, ['{}', '{"a":\n  [1, 2]}'], ['[]', '{', '']],
  [{ kind: 'json_object', layout: 'line' }, ['{"a": 1}'], ['{"a":1}']],
  [{ kind: 'json_schema', schema: { type: 'array', items: { type: 'null' } } }, ['[]', '[null,null]'], ['[1]']],
  [{ kind: 'json_schema', schema: { minLength: 1 }, open: true }, ['"a"', '1', '{"a":[]}'], ['""']],
  [{ kind: 'regex', source: '\\d+|none' }, ['12', 'none'], ['12none', '', ' 12']],
  [{ kind: 'grammar', source: 'root ::= "a" root? "b"' }, ['ab', 'aabb'], ['aab']],
  [
    { kind: 'choice', texts: ['yes', 'no', 'not now', 'nö'] },
    ['yes', 'no', 'not now', 'nö'],
    ['not', '"yes"', 'yesno'],
  ],
];

test.each(CASES)('%j', (constraint, taken, refused) => {
  const { automaton, warnings } = compileConstraint(constraint);
  expect(taken.filter((text) => !takes(automaton, text))).toEqual([]);
  expect(refused.filter((text) => takes(automaton, text))).toEqual([]);
  expect(warnings).toEqual([]);
});

test('warnings are passed on', () => {
  const schema = { oneOf: [{ const: 1 }, { const: 2 }] };
  expect(compileConstraint({ kind: 'json_schema', schema }).warnings).toHaveLength(1);
});

test.each<Constraint>([
  { kind: 'choice', texts: [] },
  { kind: 'choice', texts: ['a'.repeat(70_000)] },
  { kind: 'json_schema', schema: undefined },
  { kind: 'regex', source: '\\b' },
  { kind: 'grammar', source: '' },
])('%.60j is refused', (constraint) => {
  expect(() => compileConstraint(constraint)).toThrow(ConstraintError);
});
