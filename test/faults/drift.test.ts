// A GPU that was right when a model was loaded and turns wrong later: the check in idle notices, keeps the conversation
// where nothing is wrong, and comes only some minutes apart.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebGpuBackend } from '../../src/engine/backend/webgpu_backend';
import { IdleCheck } from '../../src/engine/worker/turns/idle_check';
import { CommandList } from '../../src/gpu/kernel';
import { readConfig } from '../../src/model/config/read';
import { Llama } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import { overwritten } from '../../src/tune/witness';
import { fixtureFolder } from '../cpu/fixtures';
import { ask, numberSession, TINY } from '../engine/doubles/loop_session';
import { requestGpu } from '../gpu/test_device';
import { droppedFolder } from '../model/fixtures/files';

const CONTEXT = 48;
const TIMEOUT_MS = 180_000; // most of it compiling
const never = () => false;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('a sound GPU keeps the conversation; a wrong kernel of attention is replaced; wrong weights lose the device', {
  timeout: TIMEOUT_MS,
}, async () => {
  const gpu = await requestGpu();
  const files = await openModel(droppedFolder(fixtureFolder(TINY)));
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const llama = await Llama.create(gpu, config, weights, { contextLength: CONTEXT, kvType: 'f16', attention: 'auto' });
  await read(files);
  llama.start(weights);
  const backend = new WebGpuBackend(gpu, llama);
  const recheck = await backend.rechecker().then((check) => () => check(never));
  expect(await recheck()).toBeNull(); // nothing to compare with before the warm-up
  await backend.warmUp();

  const session = numberSession(backend);
  const greedy = { temperature: 0, maxTokens: 4 };
  const prompt = { prompt: '195 104 122' };
  const first = await ask(session, prompt, greedy);
  const kept = async () =>
    Promise.all(overwritten(llama.witnessed).map(async (range) => new Uint32Array(await gpu.read(range)).join()));
  const before = await kept();
  const bytes = gpu.allocatedBytes;
  expect(await recheck()).toBeNull();
  expect(await kept()).toEqual(before);
  expect(gpu.allocatedBytes).toBe(bytes);
  const longer = { prompt: `195 104 122 ${first.ids.join(' ')} 7` };
  const again = await ask(session, longer, greedy);
  expect(again.done.usage.cachedTokens).toBe(6);
  expect(again.ids).toEqual((await ask(numberSession(backend), longer, greedy)).ids);

  const add = CommandList.prototype.add;
  vi.spyOn(CommandList.prototype, 'add').mockImplementation(function (this: CommandList, kernel, ...rest) {
    if (!kernel.label.startsWith('attention/fused_decode')) add.call(this, kernel, ...rest);
  });
  expect(backend.attention.decode).toBe('fused_decode');
  expect(await recheck()).toMatch(/fused_decode: .* is not a number.*split_kv_decode decodes now/);
  expect(backend.attention.decode).toBe('split_kv_decode');
  expect(gpu.failure).toBeNull();
  expect((await ask(numberSession(backend), prompt, greedy)).ids).toEqual(first.ids);
  expect(await recheck()).toBeNull();

  const [{ weights: rotten }] = weights.layers[0].down.matrix.parts;
  gpu.write(rotten, new Float32Array(64).fill(1000));
  await expect(recheck()).rejects.toMatchObject({ code: 'device-lost', canRetry: true });
  expect(gpu.failure).toMatchObject({ code: 'device-lost' });
  expect(gpu.failure?.message).toContain('other numbers than when the model was loaded');
  await expect(backend.failing).resolves.toBe(gpu.failure);
});

describe('the moments of the check', () => {
  beforeEach(() => void vi.useFakeTimers());

  const MINUTE = 60_000;

  test('once after use, some minutes after the load, and no more without use', () => {
    const check = vi.fn();
    const idle = new IdleCheck(check);
    idle.busy();
    idle.idle();
    vi.advanceTimersByTime(4 * MINUTE);
    expect(check).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2 * MINUTE);
    expect(check).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(60 * MINUTE);
    expect(check).toHaveBeenCalledTimes(1);
    idle.busy();
    idle.idle();
    vi.advanceTimersByTime(6_000); // the last check is long ago
    expect(check).toHaveBeenCalledTimes(2);
  });

  test('not while a request runs', () => {
    const check = vi.fn();
    const idle = new IdleCheck(check);
    vi.advanceTimersByTime(10 * MINUTE);
    idle.idle();
    vi.advanceTimersByTime(4_000);
    idle.busy();
    vi.advanceTimersByTime(10 * MINUTE);
    expect(check).not.toHaveBeenCalled();
  });
});
