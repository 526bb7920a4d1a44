// The end of a load on a GPU that passes for hardware: products are tuned once, kept, and used where they can be kept.

import { beforeEach, expect, test, vi } from 'vitest';
import { settle } from '../../../src/engine/load/settle';
import { GpuMemoryError } from '../../../src/errors';
import { FirstTuning } from '../../../src/tune/first_tuning';
import type { Profile } from '../../../src/tune/profile';
import { storeProfile } from '../../../src/tune/profile_store';
import { relativeError } from '../../close';
import { testGpu } from '../../gpu/test_device';
import { CONTEXT, faultyLlama } from '../doubles/faulty_step';

vi.mock('../../../src/tune/profile_store', async (original) => ({
  ...(await original<typeof import('../../../src/tune/profile_store')>()),
  storeProfile: vi.fn(),
}));
beforeEach(() => {
  vi.restoreAllMocks();
  vi.mocked(storeProfile).mockReset().mockResolvedValue(true);
});

async function loaded() {
  const { gpu, llama, config, weights } = await faultyLlama({ step: 'plain' });
  const { signal } = new AbortController();
  const rest = { kvType: 'f32', contextLength: CONTEXT, activations: 'q8', asked: 'auto', profile: null } as const;
  return {
    gpu: Object.create(gpu, { isSoftware: { value: false } }),
    llama,
    load: { config, weights, signal, ...rest },
  };
}

async function logitsOf(llama: Awaited<ReturnType<typeof loaded>>['llama']) {
  llama.writeTokens(Uint32Array.of(3, 8, 30), 0);
  await llama.pass(3, 'sample', 0).run({ position: 0, nTokens: 3 });
  return llama.readLogits();
}

test('the parameters of all products are kept, and the next load measures nothing', async () => {
  const { gpu, llama, load } = await loaded();
  const before = await logitsOf(llama);
  await settle(gpu, llama, load)();
  const [[, found]] = vi.mocked(storeProfile).mock.calls;
  const names = Object.keys(found.matvec ?? {}).map((key) => key.split(' ')[0]);
  expect(names).toEqual(expect.arrayContaining(['qkv', 'residual', 'head']));
  expect(names.filter((name) => name === 'residual')).toHaveLength(2); // o and down
  expect(relativeError(await logitsOf(llama), before)).toBeLessThan(0.05);
  const profile = { attention: {}, step: {}, race: {}, matvec: {}, tiles: {}, ...found } as Profile;
  await settle(gpu, llama, { ...load, profile })();
  expect(storeProfile).toHaveBeenCalledTimes(1);
});

test('parameters that cannot be kept are not used', async () => {
  const { gpu, llama, load } = await loaded();
  vi.mocked(storeProfile).mockResolvedValue(false);
  const retune = vi.spyOn(llama, 'retune');
  await settle(gpu, llama, load)();
  expect(storeProfile).toHaveBeenCalledTimes(1);
  expect(retune).not.toHaveBeenCalled();
});

test('a cancel ends the load, and nothing is kept', async () => {
  const { gpu, llama, load } = await loaded();
  const canceling = new AbortController();
  const end = settle(gpu, llama, { ...load, signal: canceling.signal });
  canceling.abort(new DOMException('Loading was canceled.', 'AbortError'));
  await expect(end()).rejects.toMatchObject({ name: 'AbortError' });
  expect(storeProfile).not.toHaveBeenCalled();
});

test('a GPU in software measures nothing, nor does one without a clock', async () => {
  const { gpu, llama, load } = await loaded();
  const withoutClock = Object.create(gpu, { can: { value: { ...gpu.can, timestamps: false } } });
  for (const each of [await testGpu(), withoutClock]) await settle(each, llama, load)();
  expect(storeProfile).not.toHaveBeenCalled();
});

test('where the GPU has no memory for other kernels, the load goes on with the defaults', async () => {
  const { gpu, llama, load } = await loaded();
  vi.spyOn(FirstTuning.prototype, 'isUsual', 'get').mockReturnValue(false);
  vi.spyOn(llama, 'retune').mockRejectedValue(new GpuMemoryError('Attention', 1, null, 'refused'));
  await settle(gpu, llama, load)();
  expect(await logitsOf(llama)).toHaveLength(load.config.vocabSize);
});

test('what is known of other products stays', async () => {
  const { gpu, llama, load } = await loaded();
  vi.spyOn(FirstTuning.prototype, 'isUsual', 'get').mockReturnValue(false);
  const retune = vi.spyOn(llama, 'retune').mockResolvedValue();
  const other = { 'head 128x32 q8 f32': { WORKGROUP: 64, LANES: 4, GROUP_ROWS: 1, SLOTS: 4, TURNS: 1 } };
  const profile: Profile = { attention: {}, step: {}, race: {}, matvec: other, tiles: {} };
  await settle(gpu, llama, { ...load, profile })();
  const [[, tuned]] = retune.mock.calls;
  expect(tuned?.matvec).toMatchObject(other);
  expect(Object.keys(tuned?.matvec ?? {}).length).toBeGreaterThan(1);
});
