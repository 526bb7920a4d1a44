// Sizes, times and counts as texts: the unit fits the number as it is shown.

import { expect, test } from 'vitest';
import { formatMilliseconds, formatSize, formatTokenRate } from '../../src/shared/format';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [99_949, '99.9 kB'],
  [99_950, '100 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [999_950_000, '1.0 GB'],
  [5e15, '5000 TB'],
])('%d bytes are %s', (bytes, text) => expect(formatSize(bytes)).toBe(text));

test.each([
  [0, '0.00 ms'],
  [9.994, '9.99 ms'],
  [9.996, '10.0 ms'],
  [99.96, '100 ms'],
  [999.4, '999 ms'],
  [999.6, '1.00 s'],
  [9996, '10.0 s'],
])('%d ms are %s', (ms, text) => expect(formatMilliseconds(ms)).toBe(text));

test.each([
  [99.94, '99.9 tok/s'],
  [99.96, '100 tok/s'],
])('%d tokens a second are %s', (rate, text) => expect(formatTokenRate(rate)).toBe(text));
