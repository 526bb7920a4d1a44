// Warnings and failures of the engine: a visitor reads no kernel's name unless the site lets him choose kernels, and no
// address of a model.

import { expect, test } from 'vitest';
import { failureFor, warningsFor } from '../../../src/embed/shared/warnings_for';

const WARNINGS = [
  'webgpu-unavailable',
  'attention-fallback',
  'attention-drifted',
  'step-gave-up',
  'context-shortened',
  'server-option',
].map((code) => ({ code, message: code }));

test.each(['off', 'sampling'] as const)(
  'with settings %s, warnings about kernels and options of servers are left out',
  (settings) => {
    expect(warningsFor(settings, WARNINGS).map(({ code }) => code)).toEqual([
      'webgpu-unavailable',
      'context-shortened',
    ]);
  },
);

test('with all settings, all warnings are shown', () => {
  expect(warningsFor('all', WARNINGS)).toEqual(WARNINGS);
});

test('a failed load is a chat that is not available, with the reason in a fold', () => {
  const advice = { what: 'x.gguf was not found (404).', next: 'Open a model file of your own.', offers: [] };
  const state = { kind: 'failed', advice, code: 'model-fetch' } as const;
  const shown = failureFor('sampling', state);
  expect(shown).toMatchObject({ kind: 'failed', advice: { detail: advice.what, offers: [] } });
  expect(JSON.stringify(shown)).not.toContain(advice.next);
  expect(failureFor('all', state)).toBe(state);
  const onGpu = { ...state, advice: { ...advice, offers: ['cpu' as const] } };
  expect(failureFor('off', onGpu)).toBe(onGpu);
  expect(failureFor('off', { kind: 'ready' })).toEqual({ kind: 'ready' });
});
