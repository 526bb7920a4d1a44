// The tuner of attention: candidates and winners on made-up times, then on a GPU.

import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AttentionShape } from '../../../src/attention/attention';
import { checkAttention } from '../../../src/attention/check';
import { createAttention } from '../../../src/attention/create';
import { kvRoom } from '../../../src/attention/kv_layout';
import type { AttentionProfile } from '../../../src/attention/profile';
import { rangeOf } from '../../../src/gpu/buffer_range';
import type { Gpu } from '../../../src/gpu/device';
import { type TuneAttentionOptions, tuneAttention } from '../../../src/tune/attention/attention';
import {
  type AttentionCandidate,
  firstCandidates,
  type TunedPass,
} from '../../../src/tune/attention/attention_candidates';
import { AttentionMeter, type AttentionTuneBuffers } from '../../../src/tune/attention/attention_meter';
import type { AttentionResult } from '../../../src/tune/results';
import { measure } from '../../../src/tune/tuner';
import { modelBuffers, withBrokenShaders } from '../../attention/buffers';
import { plainScores } from '../../attention/cases';
import { testGpu } from '../../gpu/test_device';
import { mockMeter } from '../mock_meter';

const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
const passKey = ({ pass, kvLen }: AttentionResult) => `${pass} ${kvLen}`;

describe('with times that are made up', () => {
  const SHAPE: AttentionShape = {
    nHeads: 8,
    nKvHeads: 2,
    headDim: 128,
    contextLength: 4096,
    maxTokens: 256,
    kvType: 'f16',
    ...plainScores(128),
  };
  const limits = {
    maxComputeWorkgroupStorageSize: 32768,
    maxComputeInvocationsPerWorkgroup: 1024,
    maxStorageBufferBindingSize: 2 ** 30,
  };
  const measured: { candidate: AttentionCandidate; pass: TunedPass }[] = [];

  afterEach(() => {
    vi.restoreAllMocks();
    measured.length = 0;
  });

  /** Tunes a GPU on which each candidate takes `time` milliseconds. A text is the reason of a refusal. */
  function tune(
    time: (candidate: AttentionCandidate, pass: TunedPass) => number | string,
    options: TuneAttentionOptions = {},
  ) {
    mockMeter((candidate, pass) => {
      measured.push({ candidate, pass });
      return time(candidate, pass);
    });
    const gpu = { limits, can: { timestamps: true } } as unknown as Gpu;
    return tuneAttention(gpu, SHAPE, {} as AttentionTuneBuffers, options);
  }

  test('prefill is tried with A to H first, in full and in this order', async () => {
    const { results } = await tune(() => 1);
    const first = results.slice(0, 8);
    expect(
      first.map(({ combination, parameters: { BLOCK_M, BLOCK_N, DV_TILE } }) => [
        combination,
        BLOCK_M,
        BLOCK_N,
        DV_TILE,
      ]),
    ).toEqual([
      ['A', 32, 32, 32],
      ['B', 32, 32, 64],
      ['C', 32, 64, 32],
      ['D', 32, 64, 64],
      ['E', 64, 32, 32],
      ['F', 64, 64, 64],
      ['G', 32, 32, 128],
      ['H', 32, 16, 16],
    ]);
    for (const result of first) expect(result).toMatchObject({ name: 'flash_prefill', nTokens: 256, kvLen: 2048 });
    expect(results.slice(8).every(({ combination }) => combination === null)).toBe(true);
  });

  test('decode is tried at each length, with splits of 32 keys or more', async () => {
    const { profile, results } = await tune(() => 1);
    expect(profile.decode.map(({ kvLen }) => kvLen)).toEqual([128, 512, 2048, 4096]);
    const splits = (kvLen: number) => {
      const all = results.filter((result) => result.kvLen === kvLen && result.name === 'split_kv_decode');
      return [...new Set(all.map(({ parameters }) => parameters.SPLITS))].sort((a, b) => a - b);
    };
    expect(splits(128)).toEqual([2, 4]);
    expect(splits(512)).toEqual([2, 4, 8, 16]);
    expect(splits(4096)).toEqual([2, 4, 8, 16, 32, 64, 128]);
    const workgroups = results.filter(({ name, kvLen }) => name === 'fused_decode' && kvLen === 128);
    expect(workgroups.map(({ parameters }) => parameters.WORKGROUP)).toEqual(expect.arrayContaining([64, 128, 256]));
  });

  test('lengths past the context are left out', async () => {
    const { profile } = await tune(() => 1, { kvLens: [4096, 256, 256, 8192] });
    expect(profile.decode.map(({ kvLen }) => kvLen)).toEqual([256, 4096]);
    const { profile: alone } = await tune(() => 1, { kvLens: [8192] });
    expect(alone.decode.map(({ kvLen }) => kvLen)).toEqual([4096]);
  });

  test('nothing is measured twice at one length', async () => {
    const { results } = await tune(() => 1);
    const keys = results.map((result) => JSON.stringify([passKey(result), result.name, result.parameters]));
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('a prefill walks from the fastest combination to faster neighbors', async () => {
    const distance = ({ BLOCK_M, BLOCK_N, DV_TILE }: Record<string, number>) =>
      Math.abs(Math.log2(BLOCK_M / 128)) + Math.abs(Math.log2(BLOCK_N / 16)) + Math.abs(Math.log2(DV_TILE / 128));
    const { profile } = await tune(({ name, parameters }) => (name === 'flash_prefill' ? 1 + distance(parameters) : 9));
    expect(profile.prefill).toMatchObject({ name: 'flash_prefill', ms: 1 });
    expect(profile.prefill.parameters).toMatchObject({ BLOCK_M: 128, BLOCK_N: 16, DV_TILE: 128 });
  });

  test('the best splits are tried with other workgroups, and the winner is kept', async () => {
    const { profile } = await tune(({ name, parameters: { SPLITS, WORKGROUP } }) => {
      if (name !== 'split_kv_decode') return 9;
      return 1 + Math.abs(Math.log2(SPLITS / 8)) + Math.abs(Math.log2(WORKGROUP / 256));
    });
    expect(profile.decode.at(-1)).toMatchObject({ name: 'split_kv_decode', kvLen: 4096, ms: 1 });
    expect(profile.decode.at(-1)?.parameters).toMatchObject({ SPLITS: 8, WORKGROUP: 256 });
  });

  test.each([
    [0.99, 128],
    [0.9, 64],
  ])('a challenger at %f of the time of what runs untuned: a WORKGROUP of %i', async (share, workgroup) => {
    const time = ({ name, parameters: { WORKGROUP, HEADS } }: AttentionCandidate) => {
      if (name !== 'fused_decode' || HEADS !== 4) return 9;
      return WORKGROUP === 64 ? share : WORKGROUP === 128 ? 1 : 9;
    };
    const { profile, results } = await tune(time, { kvLens: [128] });
    expect(profile.decode).toMatchObject([{ name: 'fused_decode', parameters: { WORKGROUP: workgroup } }]);
    const fastest = results.filter((result) => result.fastest && result.pass === 'decode');
    expect(fastest).toMatchObject([{ parameters: { WORKGROUP: workgroup } }]);
  });

  test('one result of each pass is the fastest, the one in the profile', async () => {
    const { profile, results } = await tune(({ parameters }) => 10 / (parameters.WORKGROUP ?? parameters.BLOCK_M));
    const kept = results.filter(({ fastest }) => fastest);
    expect(kept.map(passKey)).toEqual(['prefill 2048', 'decode 128', 'decode 512', 'decode 2048', 'decode 4096']);
    const inProfile = [profile.prefill, ...profile.decode].map(({ name, parameters, ms }) => ({
      name,
      parameters,
      ms,
    }));
    expect(kept.map(({ name, parameters, ms }) => ({ name, parameters, ms }))).toEqual(inProfile);
    expect(new Date(profile.tunedAt).getTime()).toBeGreaterThan(0);
  });

  test('a slow GPU gets a shorter prefill', async () => {
    const slow = ({ pass, nTokens, kvLen }: TunedPass) => (pass === 'prefill' ? (nTokens * kvLen) / 100 : 1);
    const { results } = await tune((_, pass) => slow(pass));
    const [{ nTokens, kvLen, ms }] = results;
    expect(nTokens).toBeGreaterThanOrEqual(64);
    expect(nTokens).toBeLessThan(256);
    expect(kvLen).toBe(8 * nTokens);
    expect(ms).toBeLessThan(400);
  });

  test('prefillTokens bounds the pass', async () => {
    expect((await tune(() => 1, { prefillTokens: 100 })).results[0]).toMatchObject({ nTokens: 100, kvLen: 2048 });
    expect((await tune(() => 1, { prefillTokens: 9999 })).results[0]).toMatchObject({ nTokens: 256, kvLen: 2048 });
  });

  test('where a sibling is refused in every way, the next one is measured', async () => {
    const time = ({ name }: AttentionCandidate) =>
      name === 'flash_prefill' || name === 'fused_decode' ? 'it is wrong' : 1;
    const { profile, results } = await tune(time);
    expect(profile.prefill.name).not.toBe('flash_prefill');
    expect(profile.decode[0].name).toBe('split_kv_decode');
    const flash = results.filter(({ name }) => name === 'flash_prefill');
    expect(flash.every(({ ms, refused, fastest }) => ms === null && refused === 'it is wrong' && !fastest)).toBe(true);
  });

  test('where nothing runs, the error says why of each', async () => {
    await expect(tune(({ name }) => `${name} is wrong`)).rejects.toMatchObject({
      code: 'attention-unavailable',
      message: expect.stringMatching(/flash_prefill is wrong.*fused_decode is wrong/),
    });
  });

  test('progress counts every result once and never passes its total', async () => {
    const seen: [AttentionResult, number, number][] = [];
    const { results } = await tune(() => 1, { onResult: (...report) => seen.push(report) });
    expect(seen.map(([, done]) => done)).toEqual(results.map((_, i) => i + 1));
    for (const [, done, total] of seen) expect(total).toBeGreaterThanOrEqual(done);
    expect(seen[0][2]).toBeLessThan(2 * results.length);
    expect(seen.every(([result]) => !result.fastest)).toBe(true);
  });

  test.each([0, 1, 5, 20])('stopped after %i results, it measures nothing more', async (enough) => {
    let results = 0;
    const tuning = tune(() => 1, { onResult: () => results++, stopped: () => results >= enough });
    await expect(tuning).rejects.toMatchObject({ name: 'AbortError' });
    expect(results).toBe(enough);
    if (enough === 0) expect(measured).toEqual([]);
  });
});

describe('on a GPU', () => {
  const SHAPE: AttentionShape = {
    nHeads: 2,
    nKvHeads: 1,
    headDim: 64,
    contextLength: 150,
    maxTokens: 48,
    kvType: 'f16',
    ...plainScores(64),
    windowed: true,
  };

  /** Tunes on buffers of two layers, and expects all other memory to be freed. */
  async function tune(gpu: Gpu, shape: AttentionShape, options: TuneAttentionOptions) {
    const before = gpu.allocatedBytes;
    const layers = [modelBuffers(gpu, shape), modelBuffers(gpu, shape)];
    const { q, out } = layers[0];
    try {
      return await tuneAttention(
        gpu,
        shape,
        { q, out, k: layers.map(({ k }) => k), v: layers.map(({ v }) => v), windows: [40, null] },
        options,
      );
    } finally {
      for (const layer of layers) for (const buffer of Object.values(layer)) gpu.destroyBuffer(buffer);
      expect(gpu.allocatedBytes).toBe(before);
      expect(gpu.failure).toBeNull();
    }
  }

  async function expectRight(gpu: Gpu, shape: AttentionShape, { prefill, decode }: AttentionProfile) {
    const buffers = modelBuffers(gpu, shape);
    for (const [{ name, parameters }, nTokens] of [
      [prefill, 48] as const,
      ...decode.map((tuned) => [tuned, 1] as const),
    ]) {
      const kernel = await createAttention(gpu, name, shape, parameters);
      expect(await checkAttention(gpu, kernel, shape, buffers, nTokens)).toBeNull();
      kernel.destroy();
    }
    for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
  }

  test('combinations that cannot run are listed with the reason, the winners are right', async () => {
    const gpu = await testGpu();
    const { profile, results } = await tune(gpu, SHAPE, { kvLens: [150] });
    const letters = results.filter(({ combination }) => combination !== null);
    expect(letters.map(({ combination }) => combination)).toEqual(LETTERS);
    expect(letters[6]).toMatchObject({ ms: null, refused: 'DV_TILE 128 does not divide head_dim 64', fastest: false });
    const ran = results.filter(({ refused }) => refused === null);
    expect(ran.length).toBeGreaterThan(results.length / 2);
    for (const { ms } of ran) expect(ms).toBeGreaterThan(0);
    expect(profile.decode.map(({ kvLen }) => kvLen)).toEqual([150]);
    await expectRight(gpu, SHAPE, profile);
  });

  /** Measures the default of fused_decode, compiled from rewritten source. No other test may compile this shape. */
  async function measureBroken(gpu: Gpu, contextLength: number, rewrite: (code: string) => string) {
    const shape = { ...SHAPE, contextLength };
    const { q, k, v, out } = modelBuffers(gpu, shape);
    const meter = new AttentionMeter(gpu, shape, { q, out, k: [k], v: [v], windows: [null] });
    const timing = { budgetMs: Number.POSITIVE_INFINITY };
    const measureAt = async (at: TunedPass) => (await measure(gpu, meter.at(at, timing), [candidate], () => {}))[0];
    const pass = { pass: 'decode', nTokens: 1, kvLen: 40 } as const;
    const [candidate] = firstCandidates(pass, { shape, limits: gpu.limits });
    const before = gpu.counters.dispatches;
    const measured = await withBrokenShaders(gpu, `attention/${candidate.name}`, rewrite, () => measureAt(pass));
    const again = await measureAt({ ...pass, kvLen: 50 });
    for (const buffer of [q, k, v, out]) gpu.destroyBuffer(buffer);
    expect(gpu.failure).toBeNull();
    return { measured, again, dispatches: gpu.counters.dispatches - before };
  }

  test('a kernel that gives wrong numbers is refused: checked once, never timed', async () => {
    const gpu = await testGpu();
    const oneKeyShort = (code: string) => code.replaceAll('step.position', '(step.position - 1u)');
    const { measured, again, dispatches } = await measureBroken(gpu, 151, oneKeyShort);
    expect(measured).toMatchObject({
      ms: null,
      refused: expect.stringMatching(/^its outputs differ from the textbook by/),
    });
    expect(again).toEqual(measured);
    expect(dispatches).toBe(1);
  });

  test('each layer is timed with its window', async () => {
    const gpu = await testGpu();
    const { q, k, v, out } = modelBuffers(gpu, SHAPE);
    const meter = new AttentionMeter(gpu, SHAPE, { q, out, k: [k, k, k], v: [v, v, v], windows: [7, null, 7] });
    const pass = { pass: 'decode', nTokens: 1, kvLen: 150 } as const;
    const [candidate] = firstCandidates(pass, { shape: SHAPE, limits: gpu.limits });
    const written = vi.spyOn(gpu, 'write');
    const timing = { budgetMs: Number.POSITIVE_INFINITY };
    const [{ ms }] = await measure(gpu, meter.at(pass, timing), [candidate], () => {});
    expect(ms).toBeGreaterThan(0);
    const windows = written.mock.calls.filter(([to]) => rangeOf(to).buffer.label === 'attention.fused_decode.window');
    expect(windows.map(([, data]) => (data as Uint32Array)[0])).toEqual([75, 7, 2 ** 32 - 1]); // 75: the check
    vi.restoreAllMocks();
    for (const buffer of [q, k, v, out]) gpu.destroyBuffer(buffer);
  });

  test('a first layer whose ring is shorter than the context is checked within it', async () => {
    const gpu = await testGpu();
    const shape = { ...SHAPE, nHeads: 4, nKvHeads: 2, contextLength: 2000 };
    const { q, k, v, out } = modelBuffers(gpu, { ...shape, contextLength: kvRoom(shape, 7) });
    const meter = new AttentionMeter(gpu, shape, { q, out, k: [k], v: [v], windows: [7] });
    const pass = { pass: 'decode', nTokens: 1, kvLen: 2000 } as const;
    const [candidate] = firstCandidates(pass, { shape, limits: gpu.limits });
    const timing = { budgetMs: Number.POSITIVE_INFINITY };
    const [measured] = await measure(gpu, meter.at(pass, timing), [candidate], () => {});
    expect(measured).toMatchObject({ ms: expect.any(Number), refused: null });
    for (const buffer of [q, k, v, out]) gpu.destroyBuffer(buffer);
    expect(gpu.failure).toBeNull();
  });

  test('a shader that does not compile is refused with its name, and tried anew when asked again', async () => {
    const gpu = await testGpu();
    const { measured, again } = await measureBroken(gpu, 152, (code) => `${code}\nnonsense`);
    expect(measured).toMatchObject({
      ms: null,
      refused: expect.stringMatching(/^attention\/fused_decode: the shader was refused\. shaders.* line \d+/),
    });
    expect(again).toMatchObject({ ms: expect.any(Number), refused: null });
  });

  test('stopped in the middle, it frees its memory and the device stays usable', async () => {
    const gpu = await testGpu();
    let results = 0;
    const options = { onResult: () => results++, stopped: () => results >= 2 };
    await expect(tune(gpu, SHAPE, options)).rejects.toMatchObject({ name: 'AbortError' });
    expect(results).toBe(2);
  });

  test('a shape that no sibling serves is a typed error', async () => {
    const gpu = await testGpu();
    await expect(tune(gpu, { ...SHAPE, nHeads: 3, nKvHeads: 2 }, {})).rejects.toMatchObject({
      code: 'attention-unavailable',
    });
  });
});
