// The end of a load on a GPU that passes for hardware: products are tuned once, kept, and used where they can be kept.

import { beforeEach, expect, test, vi } from 'vitest';
import { settle } from '../../../src/engine/load/settle';
import { GpuMemoryError } from '../../../src/errors';
import type { MatvecParameters } from '../../../src/kernels/linear/matvec_plan';
import { FirstTuning } from '../../../src/tune/products/first_tuning';
import type { Profile } from '../../../src/tune/profile/profile';
import { mergeProfiles } from '../../../src/tune/profile/profile_check';
import { storeProfile } from '../../../src/tune/profile/profile_store';
import { relativeError } from '../../close';
import { testGpu } from '../../gpu/test_device';
import { CONTEXT, faultyLlama } from '../doubles/faulty_step';

vi.mock('../../../src/tune/profile/profile_store', async (original) => ({
  ...(await original<typeof import('../../../src/tune/profile/profile_store')>()),
  storeProfile: vi.fn(),
}));

const OTHER: MatvecParameters = { WORKGROUP: 64, LANES: 4, GROUP_ROWS: 1, SLOTS: 4, TURNS: 1 };
const profileOf = (matvec: Profile['matvec'] = {}): Profile => ({
  attention: {},
  step: {},
  race: {},
  matvec,
  tiles: {},
});

/** The browser's storage. */
let stored: Profile;

beforeEach(() => {
  vi.restoreAllMocks();
  stored = profileOf();
  vi.mocked(storeProfile)
    .mockReset()
    .mockImplementation(async (_gpu, profile, keepsOld) => {
      const newer = mergeProfiles(null, profile);
      stored = keepsOld ? mergeProfiles(newer, stored) : mergeProfiles(stored, newer);
      return stored;
    });
});

async function loaded() {
  const { gpu, llama, config, weights } = await faultyLlama({ step: 'plain' });
  const { signal } = new AbortController();
  const rest = { kvType: 'f32', contextLength: CONTEXT, activations: 'q8', asked: 'auto', profile: null } as const;
  const load = { config, weights, signal, options: {}, ...rest };
  return { gpu: Object.create(gpu, { isSoftware: { value: false } }), llama, load };
}

type Loaded = Awaited<ReturnType<typeof loaded>>;

async function logitsOf(llama: Loaded['llama']) {
  llama.writeTokens(Uint32Array.of(3, 8, 30), 0);
  await llama.pass(3, 'sample', 0).run({ position: 0, nTokens: 3 });
  return llama.readLogits();
}

/** A tuning that finds these. */
const finds = (matvec: Profile['matvec']) =>
  vi.spyOn(FirstTuning.prototype, 'run').mockResolvedValue({ matvec, tiles: {} });

test('the parameters of all products are kept, and the next load measures nothing', async () => {
  const { gpu, llama, load } = await loaded();
  const before = await logitsOf(llama);
  await settle(gpu, llama, load)();
  const names = Object.keys(stored.matvec).map((key) => key.split(' ')[0]);
  expect(names).toEqual(expect.arrayContaining(['qkv', 'residual', 'head']));
  expect(names.filter((name) => name === 'residual')).toHaveLength(2); // o and down
  expect(relativeError(await logitsOf(llama), before)).toBeLessThan(0.05);
  vi.mocked(storeProfile).mockClear();
  const run = vi.spyOn(FirstTuning.prototype, 'run');
  await settle(gpu, llama, { ...load, profile: stored })();
  expect([vi.mocked(storeProfile).mock.calls, run.mock.calls]).toEqual([[], []]);
});

test('what is found is used and kept, beside what is known of other products', async () => {
  const { gpu, llama, load } = await loaded();
  const other = { 'head 128x32 q8 f32': OTHER };
  stored = profileOf(other);
  const retune = vi.spyOn(llama, 'retune').mockResolvedValue();
  finds({ 'head 64x32 q8 f32': OTHER });
  await settle(gpu, llama, { ...load, profile: stored })();
  const [[, tuned]] = retune.mock.calls;
  expect(tuned?.matvec).toEqual(stored.matvec);
  expect(stored.matvec).toMatchObject({ ...other, 'head 64x32 q8 f32': OTHER });
});

test('nothing is tuned where nothing is kept', async () => {
  const { gpu, llama, load } = await loaded();
  vi.mocked(storeProfile).mockResolvedValue(null);
  const run = vi.spyOn(FirstTuning.prototype, 'run');
  await settle(gpu, llama, load)();
  expect([vi.mocked(storeProfile).mock.calls.length, run.mock.calls]).toEqual([1, []]);
});

test('what another tab has kept since the load began is used, and not measured again', async () => {
  const { gpu, llama, load } = await loaded();
  await settle(gpu, llama, load)();
  const [key] = Object.keys(stored.matvec);
  stored = profileOf({ ...stored.matvec, [key]: { ...stored.matvec[key], TURNS: 8 } });
  const run = vi.spyOn(FirstTuning.prototype, 'run');
  const retune = vi.spyOn(llama, 'retune').mockResolvedValue();
  await settle(gpu, llama, load)();
  expect([run.mock.calls, retune.mock.calls.map(([, tuned]) => tuned?.matvec)]).toEqual([[], [stored.matvec]]);
});

test('a load that ends in the middle leaves the defaults, and the next one measures nothing', async () => {
  const { gpu, llama, load } = await loaded();
  const canceling = new AbortController();
  vi.spyOn(FirstTuning.prototype, 'run').mockImplementation(async () => {
    canceling.abort(new DOMException('Loading was canceled.', 'AbortError'));
    throw canceling.signal.reason;
  });
  const end = settle(gpu, llama, { ...load, signal: canceling.signal });
  await expect(end()).rejects.toMatchObject({ name: 'AbortError' });
  vi.restoreAllMocks();
  const run = vi.spyOn(FirstTuning.prototype, 'run');
  await settle(gpu, llama, { ...load, profile: stored })();
  expect(run).not.toHaveBeenCalled();
});

test('a load that is canceled before its weights are there keeps nothing', async () => {
  const { gpu, llama, load } = await loaded();
  const canceling = new AbortController();
  const end = settle(gpu, llama, { ...load, signal: canceling.signal });
  canceling.abort(new DOMException('Loading was canceled.', 'AbortError'));
  await expect(end()).rejects.toMatchObject({ name: 'AbortError' });
  expect(storeProfile).not.toHaveBeenCalled();
});

test('a GPU in software tunes nothing, nor one without a clock, nor a load that an answer goes on from', async () => {
  const { gpu, llama, load } = await loaded();
  const withoutClock = Object.create(gpu, { can: { value: { ...gpu.can, timestamps: false } } });
  for (const each of [await testGpu(), withoutClock]) await settle(each, llama, load)();
  const before = { decode: 'q8', prefill: 'q8', cause: 'raced', reason: 'raced', race: null } as const;
  await settle(gpu, llama, { ...load, options: { before } })();
  expect(storeProfile).not.toHaveBeenCalled();
});

test('where the GPU has no memory for other kernels, the load goes on with the defaults, and keeps them', async () => {
  const { gpu, llama, load } = await loaded();
  finds({ 'head 64x32 q8 f32': OTHER });
  vi.spyOn(llama, 'retune').mockRejectedValue(new GpuMemoryError('Attention', 1, null, 'refused'));
  await settle(gpu, llama, load)();
  expect(await logitsOf(llama)).toHaveLength(load.config.vocabSize);
  expect(stored.matvec).not.toHaveProperty('head 64x32 q8 f32');
});
