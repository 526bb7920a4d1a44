// The base class of errors: codes, names, and messages of bounded length.

import { expect, test } from 'vitest';
import * as errors from '../src/errors';

const { VivaceError, ...others } = errors;
type AnyError = new (...parts: unknown[]) => errors.VivaceError;

test.each(Object.entries(others))('%s says its name', (name, ErrorClass) => {
  const error = new (ErrorClass as AnyError)('a', 1, 2, 'b');
  expect(error).toBeInstanceOf(VivaceError);
  expect(error.name).toBe(name);
});

test('an error made from a code alone has the name of its class', () => {
  const names = ['model-file', 'webgpu-unavailable', 'worker'].map((code) => new VivaceError(code, '').name);
  expect(names).toEqual(['ModelFileError', 'WebGpuUnavailableError', 'WorkerError']);
});

test('codes that have no class are VivaceErrors', () => {
  expect(new VivaceError('internal', 'a sentence').name).toBe('VivaceError');
});
