// The engine's figures of the machine and of a model, compared with the actual buffers: a tiny model on Dawn.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type LoadedModel, loadModel } from '../../../src/engine/load/load';
import { GpuMemoryError } from '../../../src/errors';
import { Gpu } from '../../../src/gpu/device';
import { measureRoofline } from '../../../src/tune/roofline';
import { testGpu } from '../../gpu/test_device';
import { trackBuffers } from '../../gpu/track_buffers';
import { droppedFolder } from '../../model/fixtures/files';
import { byteLevelJson } from '../../text/tiny_vocabulary';
import { ask, numberTokenizer, TINY } from '../doubles/loop_session';

const never = () => false;
let gpu: Gpu;
let live: Set<GPUBuffer>;
let loaded: LoadedModel;
beforeAll(async () => {
  gpu = await testGpu(['subgroups']); // without them kernels compile faster
  live = trackBuffers(gpu);
  vi.spyOn(Gpu, 'request').mockResolvedValue(gpu);
  const files = droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname);
  files.push(new File([JSON.stringify(byteLevelJson())], 'tokenizer.json'));
  const options = { contextLength: 64, attention: 'split_kv_decode' } as const; // a sibling with scratch memory
  loaded = await loadModel(files, options, () => {}, new AbortController().signal);
  loaded.session.tokenizer = numberTokenizer();
}, 120_000);
afterAll(() => vi.restoreAllMocks());

const sum = (buffers: readonly GPUBuffer[]) => buffers.reduce((bytes, { size }) => bytes + size, 0);
const labeled = (prefix: string) => [...live].filter(({ label }) => label.startsWith(prefix));

test('memory by kind is that of the buffers, by their labels, and leaves none out', () => {
  const { weights, kvCache, activations } = loaded.info.gpuBytes!;
  expect(weights).toBe(sum(labeled('weights.')));
  expect(kvCache).toBe(sum(labeled('kv_cache.')));
  expect(activations).toBe(sum([...live]) - weights - kvCache);
  expect(sum(labeled('split_kv_decode.'))).toBeGreaterThan(0); // scratch memory exists and counts
});

test('a step reads every matrix once, the norms, the biases, and one row of a tied embedding again', () => {
  const matrices = labeled('weights.').filter(({ label }) => !label.endsWith('.scales') && !label.endsWith('.params'));
  // Each of 2 layers: two norms of 32 columns, a bias of 192 rows and one of 32. Then the last norm.
  const vectors = 4 * (2 * (2 * 32 + 192 + 32) + 32);
  const row = 4 * 32;
  expect(loaded.info.bytesPerToken).toEqual({
    weights: sum(matrices) + vectors + row,
    kvPerPosition: loaded.info.gpuBytes!.kvCache / 64,
    kvInWindows: [],
  });
});

test('the roofline is a figure above zero, measured once; its buffers go, and the answer stays the same', async () => {
  const { session } = loaded;
  const options = { temperature: 0, maxTokens: 4 };
  const input = { prompt: '195 104 122' };
  const before = await ask(session, input, options);
  const buffers = live.size;
  gpu.peakBytes = gpu.allocatedBytes; // the load needed more than the measurement on a software GPU
  const { allocatedBytes, peakBytes } = gpu;
  const measured = await session.backend.roofline(never);
  expect(measured.readGBps).toBeGreaterThan(0);
  expect(measured.readGBps).toBeLessThan(Number.POSITIVE_INFINITY);
  expect(measured.clock).toBe(gpu.can.timestamps ? 'gpu' : 'cpu');
  expect([live.size, gpu.allocatedBytes, gpu.peakBytes]).toEqual([buffers, allocatedBytes, peakBytes]);
  const { dispatches } = gpu.counters;
  expect(await session.backend.roofline(never)).toEqual(measured);
  expect(gpu.counters.dispatches).toBe(dispatches);
  expect((await ask(session, input, options)).ids).toEqual(before.ids);
  expect(gpu.failure).toBeNull();
});

test('a roofline that is canceled is an AbortError, and leaves nothing behind', async () => {
  const buffers = live.size;
  await expect(measureRoofline(gpu, () => true)).rejects.toMatchObject({ name: 'AbortError' });
  expect(live.size).toBe(buffers);
});

test('a GPU that has no memory for it says so, after asking for less and less', async () => {
  const buffers = live.size;
  const guard = vi.spyOn(gpu, 'guardMemory').mockImplementation(async (what, allocate) => {
    allocate();
    throw new GpuMemoryError(what, 1, null, 'Close other pages.');
  });
  vi.spyOn(gpu, 'isSoftware', 'get').mockReturnValue(false);
  await expect(measureRoofline(gpu, never)).rejects.toMatchObject({ code: 'gpu-memory' });
  expect(guard.mock.calls.length).toBeGreaterThan(2);
  expect(live.size).toBe(buffers);
});
