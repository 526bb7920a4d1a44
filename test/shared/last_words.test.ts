// What closing pages leave in localStorage: moved once, whatever was damaged, refused or written meanwhile.

import { expect, test, vi } from 'vitest';
import { LastWords } from '../../src/shared/last_words';

/** Entries are own properties, as in a browser. */
function storageOf(values: Record<string, string>): Storage {
  const methods = {
    getItem: (key: string) => values[key] ?? null,
    setItem: (key: string, value: string) => {
      values[key] = value;
    },
    removeItem: (key: string) => {
      delete values[key];
    },
  };
  return new Proxy(values, { get: (_, name) => Reflect.get({ ...methods, ...values }, name) }) as unknown as Storage;
}

test('values are moved to the writer once; those of others stay', async () => {
  const values: Record<string, string> = { theme: 'dark', 'table2/a': '1' };
  const words = new LastWords('table', () => storageOf(values));
  words.put('a', { text: 'ä', list: [1, null] });
  words.put('b', 'gone');
  words.remove('b');
  const write = vi.fn(async () => {});
  await Promise.all([words.moveAll(write), words.moveAll(write)]);
  await words.moveAll(write);
  expect(write.mock.calls).toEqual([['a', { text: 'ä', list: [1, null] }]]);
  expect(values).toEqual({ theme: 'dark', 'table2/a': '1' });
});

test('a value that the writer refuses stays, and so does one that is written during the move', async () => {
  const values: Record<string, string> = {};
  const words = new LastWords('table', () => storageOf(values));
  words.put('a', 1);
  words.put('b', 1);
  await words.moveAll(async (key) => {
    if (key === 'a') throw new Error('No');
    words.put('b', 2);
  });
  expect(values).toEqual({ 'table/a': '1', 'table/b': '2' });
});

test('damaged text is null, a huge value is left out, and refused storage is no error', async () => {
  const values: Record<string, string> = { 'table/a': '{"turns":' };
  const words = new LastWords('table', () => storageOf(values));
  words.put('b', 'old');
  words.put('b', 'x'.repeat(2_000_000));
  const write = vi.fn(async () => {});
  await words.moveAll(write);
  expect(write.mock.calls).toEqual([['a', null]]);
  const refused = new LastWords('table', () => {
    throw new DOMException('No', 'SecurityError');
  });
  refused.put('a', 1);
  refused.remove('a');
  await refused.moveAll(write);
  expect(write).toHaveBeenCalledTimes(1);
});
