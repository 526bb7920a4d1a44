// JSON of a server that is not to be trusted.

import { expect, test } from 'vitest';
import {
  countIn,
  errorText,
  numberIn,
  objectIn,
  objectsIn,
  parseObject,
  textIn,
} from '../../../src/remote/server/bounded_json';

const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;

test('objects are parsed up to 64 levels; brackets in strings do not count', () => {
  expect(parseObject(`{"text":"${'[{'.repeat(500)}\\"[["}`)).toHaveProperty('text');
  expect(parseObject(nested(64))).toHaveProperty('a');
  expect(() => parseObject(nested(66))).toThrow('more than 64 levels');
  expect(() => parseObject(`{"a":${'['.repeat(1e6)}`)).toThrow('more than 64 levels');
});

test.each(['', 'null', '[]', '"a"', '1', '{', '{"a":1}}', '<html>', '{"a":"\\'])('%j is no object', (text) => {
  expect(() => parseObject(text)).toThrow(expect.objectContaining({ code: 'server-answer', canRetry: false }));
});

test('fields of another kind count as absent, and so do those of the prototype', () => {
  const object = parseObject('{"n":1.5,"k":-1,"big":1e300,"t":5,"o":[],"l":[1,{"a":1},null],"__proto__":{"x":"y"}}');
  expect([numberIn(object, 'n'), countIn(object, 'n'), numberIn(object, 'k'), numberIn(object, 'big')]).toEqual([
    1.5,
    null,
    null,
    null,
  ]);
  expect([textIn(object, 't', 'toString'), objectIn(object, 'o'), objectIn(object, 'constructor')]).toEqual([
    '',
    {},
    {},
  ]);
  expect([objectsIn(object, 'l', 9), objectsIn(object, 'l', 1)]).toEqual([[{ a: 1 }], []]);
});

test('the sentence of an error, in the shapes of several servers', () => {
  expect(errorText({ error: { message: 'No\n slots.', code: 503 } })).toBe('No slots.');
  expect(errorText({ object: 'error', message: 'Too long.' })).toBe('Too long.');
  expect(errorText({ detail: 'Not Found' })).toBe('Not Found');
  expect(errorText({ error: 'Unauthorized' })).toBe('Unauthorized');
  expect(errorText({ error: { message: 5 } })).toBe('');
  expect(errorText({ error: { message: '長'.repeat(5000) } })).toHaveLength(300);
  expect(errorText({ error: { message: 'six words '.repeat(500) } })).toMatch(/^(six words ){29}six …$/);
});
