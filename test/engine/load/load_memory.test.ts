// The memory of a load on the CPU: the context that fits, and memory that the browser refuses.

import { afterEach, expect, test, vi } from 'vitest';
import { loadModel } from '../../../src/engine/load/load';
import { typedMemory } from '../../../src/engine/load/load_memory';
import { chooseCpuContext } from '../../../src/engine/load/load_on_cpu';
import { resolveLoad } from '../../../src/engine/load/load_options';
import type { LoadOptions, Warning } from '../../../src/engine/protocol';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openModel } from '../../../src/storage/model_file';
import { chainFiles } from '../../chain/chain_model';

afterEach(() => vi.restoreAllMocks());

async function choose(parameters: number, contextLength: number, options: LoadOptions = {}) {
  const files = await openModel(chainFiles());
  const config = { ...readConfig(files), contextLength: 2 ** 20 };
  const warnings: Warning[] = [];
  const wanted = {
    tensors: resolveTensors(files, config),
    config,
    contextLength,
    options: resolveLoad(options),
    warnings,
  };
  return { ...chooseCpuContext(parameters, wanted), warnings };
}

/** Of the chain model: keys and values of one layer of one head of 64, in f32. */
const TOKEN_BYTES = 512;

test('the context that fits the CPU is shorter, with a warning, and the rest is an error with what would fit', async () => {
  const whole = await choose(1e6, 1000);
  expect(whole).toEqual({ contextLength: 1000, bytes: 4e6 + 1000 * TOKEN_BYTES, warnings: [] });
  const left = 5000 * TOKEN_BYTES;
  const short = await choose((2 ** 32 - left) / 4, 100_000);
  expect([short.contextLength, short.bytes]).toEqual([5000, 2 ** 32]);
  expect(short.warnings).toEqual([
    {
      code: 'context-shortened',
      message: `The context is 5000 tokens instead of ${2 ** 20}: more would take ${2 ** 32 - left + 100_000 * TOKEN_BYTES} bytes on the CPU, where ${2 ** 32} are allowed.`,
      facts: { contextLength: 5000, asked: 2 ** 20 },
    },
  ]);
  await expect(choose(2 ** 30, 100_000)).rejects.toMatchObject({
    code: 'memory',
    canRetry: false,
    requestedBytes: 2 ** 32 + 2048 * TOKEN_BYTES,
    message: expect.stringContaining(
      `at most 4294967296 are allowed. Use a browser with WebGPU, or a model of at most ${2 ** 30 - 512 * TOKEN_BYTES} parameters.`,
    ),
  });
});

test('memory that the browser refuses is a typed error with the bytes of the load', async () => {
  class Refused extends Float32Array {
    constructor() {
      super(0);
      throw new RangeError('Array buffer allocation failed');
    }
  }
  const loading = () => loadModel(chainFiles(), { backend: 'cpu' }, () => {}, new AbortController().signal);
  vi.stubGlobal('Float32Array', Refused);
  const failed = loading().catch((error: unknown) => error);
  const error = await failed;
  vi.unstubAllGlobals();
  expect(error).toMatchObject({
    name: 'MemoryError',
    code: 'memory',
    canRetry: true,
    message: expect.stringMatching(
      /^Loading this model needs \d+ bytes; this browser has no memory left\. Close other tabs,/,
    ),
  });
  expect((error as { requestedBytes: number }).requestedBytes).toBeGreaterThan(1e6);
});

test.each([
  ['Array buffer allocation failed', true],
  ['Invalid typed array length: 8589934592', true],
  ['Invalid array buffer length', true],
  ['Out of memory', true],
  ['offset is out of bounds', false],
  ['Maximum call stack size exceeded', false],
])('a RangeError "%s" is refused memory: %s', (message, isMemory) => {
  const error = new RangeError(message);
  expect(typedMemory(error, 5) === error).toBe(!isMemory);
  const other = new Error(message);
  expect(typedMemory(other, 5)).toBe(other);
});
