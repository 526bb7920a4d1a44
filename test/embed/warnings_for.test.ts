// Warnings of the engine: a visitor reads no kernel's name unless the site lets him choose kernels.

import { expect, test } from 'vitest';
import { warningsFor } from '../../src/embed/warnings_for';

const WARNINGS = [
  'webgpu-unavailable',
  'attention-fallback',
  'attention-drifted',
  'step-gave-up',
  'context-shortened',
].map((code) => ({ code, message: code }));

test.each(['off', 'sampling'] as const)('with settings %s, warnings about kernels are left out', (settings) => {
  expect(warningsFor(settings, WARNINGS).map(({ code }) => code)).toEqual(['webgpu-unavailable', 'context-shortened']);
});

test('with all settings, all warnings are shown', () => {
  expect(warningsFor('all', WARNINGS)).toEqual(WARNINGS);
});
