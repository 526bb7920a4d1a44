// The states of an engine that was lost, in words.

import { expect, test } from 'vitest';
import { DeviceLostError, GpuMemoryError, WorkerError } from '../../../src/errors';
import { describeRecovery, describeWithoutGpu, recoveryRemark } from '../../../src/ui/shared/recovery';

test('what was lost, and how often', () => {
  const cause = new DeviceLostError('unknown');
  expect(describeRecovery({ cause, loss: 1 })).toBe('The GPU was lost. Loading the model again…');
  expect(describeRecovery({ cause, loss: 2 })).toBe(
    'The GPU was lost for the second time in ten minutes. Loading the model again…',
  );
  expect(describeRecovery({ cause: new WorkerError('It ended.'), loss: 4 })).toBe(
    'The engine’s worker was lost for the 4th time in ten minutes. Loading the model again…',
  );
  expect(describeRecovery({ cause: new GpuMemoryError('The cache', 2, 1, 'Free some.'), loss: 1 })).toMatch(
    /^The model was lost\./,
  );
});

test('an answer that went on says for how long it paused, and what wrote the rest', () => {
  expect(recoveryRemark('device-lost', 1_840, null)).toBe('The GPU was lost for 1.8 s; the answer went on.');
  expect(recoveryRemark('worker', 90_000, null)).toBe(
    'The engine’s worker was lost for 1 min 30 s; the answer went on.',
  );
  expect(recoveryRemark('device-lost', 40, 'cpu')).toBe('The GPU was lost for 0.0 s; the CPU wrote the rest.');
  expect(recoveryRemark('worker', 2_000, 'webgpu')).toContain('the GPU wrote the rest');
});

test('a page without the GPU hears why, for how long, and when the next try is', () => {
  const text = describeWithoutGpu({ nextTryAt: new Date(2026, 4, 10, 14, 5, 9).getTime() });
  expect(text).toContain('about two minutes');
  expect(text).toContain('CPU');
  expect(text).toMatch(/Next try of the GPU: 14:05:09\.$/);
});
