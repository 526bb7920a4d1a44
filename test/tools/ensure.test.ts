// The comparison of the installed packages with the locked ones.

import { expect, test } from 'vitest';
import { inStep } from '../../tools/lib/ensure.mjs';

const locked = {
  packages: {
    '': {},
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
};

test('what is installed as locked is in step, packages of other platforms aside', () => {
  expect(inStep(locked, { packages: { 'node_modules/a': { version: '1.0.0', integrity: 'x' } } })).toBe(true);
});

test('a missing, older, surplus or altered package is out of step, and so is a missing lockfile', () => {
  expect(inStep(locked, { packages: {} })).toBe(false);
  expect(inStep(locked, { packages: { 'node_modules/a': { version: '0.9.0', integrity: 'x' } } })).toBe(false);
  expect(inStep(locked, { packages: { 'node_modules/a': { version: '1.0.0', integrity: 'y' } } })).toBe(false);
  const a = locked.packages['node_modules/a'];
  expect(inStep(locked, { packages: { 'node_modules/a': a, 'node_modules/b': a } })).toBe(false);
  expect(inStep(locked, null)).toBe(false);
});
