// The states of an engine that was lost, in words.

import { expect, test } from 'vitest';
import { DeviceLostError, GpuMemoryError, VivaceError, WebGpuUnavailableError, WorkerError } from '../../../src/errors';
import { describeRecovery, describeWithoutGpu, recoveryRemark } from '../../../src/ui/shared/recovery';

test('what was lost, and how often', () => {
  const cause = new DeviceLostError('unknown');
  expect(describeRecovery({ cause, loss: 1 })).toBe('The GPU was lost. Loading the model again…');
  expect(describeRecovery({ cause, loss: 2 })).toBe(
    'The GPU was lost (loss 2 in ten minutes). Loading the model again…',
  );
  expect(describeRecovery({ cause: new WorkerError('It ended.'), loss: 1 })).toMatch(/^The engine’s worker ended\./);
  expect(describeRecovery({ cause: new GpuMemoryError('The cache', 2, 1, 'Free some.'), loss: 1 })).toMatch(
    /^The GPU’s memory ran out\./,
  );
  expect(describeRecovery({ cause: new VivaceError('constructor', 'Odd.'), loss: 1 })).toMatch(/^The model was lost\./);
});

test('an answer that went on says after how long, and on what', () => {
  expect(recoveryRemark('device-lost', 1_840, null)).toBe('The GPU was lost; the answer went on after 1.8 s.');
  expect(recoveryRemark('worker', 90_000, null)).toBe(
    'The engine’s worker ended; the answer went on after 1 min 30 s.',
  );
  expect(recoveryRemark('device-lost', 40, 'cpu')).toBe('The GPU was lost; the CPU went on after 0.0 s.');
  expect(recoveryRemark('worker', 2_000, 'webgpu')).toContain('the GPU went on');
  expect(recoveryRemark(null, 300, 'webgpu')).toBe('The GPU is back; it went on after 0.3 s.');
});

test('a page without the GPU hears why, and when the next try is', () => {
  const cause = new WebGpuUnavailableError('blocked');
  const text = describeWithoutGpu({ cause, nextTryAt: new Date(2026, 4, 10, 14, 5, 9).getTime() });
  expect(text).toContain(cause.message);
  expect(text).toMatch(/ Next try of the GPU: 14:05:09\.$/);
});
