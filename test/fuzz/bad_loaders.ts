// Loaders with one fault each, to test the harness itself.

import { ModelFileError } from '../../src/errors';
import { cpuMs } from '../cpu_time';
import type { Loader } from './loaders';

function bad(name: string, run: () => unknown): Loader {
  return { name, makeInput: () => null, prepare: () => run };
}

function spin(ms: number): void {
  for (const end = cpuMs() + ms; cpuMs() < end; );
}

export const BAD_LOADERS: readonly Loader[] = [
  bad('good', () => {
    throw new ModelFileError('x', 'is no model.');
  }),
  bad('hangs', () => spin(60_000)),
  bad('never settles', () => new Promise(() => {})),
  bad('is slow', () => spin(1400)),
  bad('throws untyped', () => (undefined as unknown as { x: number }).x),
  bad('says too much', () => {
    const error = new ModelFileError('x', 'is no model.');
    error.message = 'x'.repeat(2000); // the constructor would cut it
    throw error;
  }),
  bad('leaves a rejection', () => {
    Promise.reject(new ModelFileError('x', 'nobody waits for this.'));
  }),
  bad('fills the heap', () => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array(10_000).fill(kept.length + 0.5));
  }),
  bad('allocates a lot', () => new Float64Array(2 ** 28)),
];
