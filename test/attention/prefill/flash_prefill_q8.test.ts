// flash_prefill_q8: exact where queries, keys, values and p are bytes already, at the edges of its tiles; close to the
// textbook elsewhere; plan and limits.

import { describe, expect, test } from 'vitest';
import { planFlashPrefillQ8 } from '../../../src/attention/prefill/flash_prefill_q8_plan';
import { roundedToBytes } from '../../../src/cpu/quantize_activations';
import { PATHS, pathName } from '../../gpu/test_device';
import { bothWaysCases, scored, scoredCases } from '../baselines/scored_cases';
import { type AttentionCase, CASES, COMMON, geometry, PROGRESS, passOf, plainScores, SMALL } from '../cases';
import { attentionRef } from '../oracle';
import { attentionOnGpu, type Pass, replayOnGpu, rounded, type Target } from '../run';

const target = (without: Target['without'] = []): Target => ({ name: 'flash_prefill_q8', without });

const isServed = ({ shape }: Pick<AttentionCase, 'shape'>) => shape.headDim % 32 === 0 && shape.headDim <= 128;
const served = (cases: readonly AttentionCase[]) => cases.filter(isServed);

/** A number from 0 to 1 that looks random, the same for equal arguments (the finalizer of MurmurHash3). */
function hash(...values: readonly number[]): number {
  let state = 0;
  for (const value of values) {
    state = Math.imul(state ^ (value + 0x9e3779b9), 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
    state ^= state >>> 16;
  }
  return (state >>> 0) / 2 ** 32;
}

/**
 * A pass that loses nothing in bytes: a row sees each key with a score of 0 or one whose p is nothing, and values are
 * -1, 0 or 1. So an output is a mean of whole numbers.
 */
function exactPass(c: Omit<AttentionCase, 'title'>): Pass {
  const pass = passOf(c);
  const { headDim } = c.shape;
  const far = (-60 * Math.LN2) / c.shape.scale;
  const each = (rows: Float32Array, value: (row: number, d: number) => number) =>
    rows.map((x, i) => (Number.isNaN(x) ? x : value(Math.floor(i / headDim), i % headDim)));
  return {
    ...pass,
    q: each(pass.q, (row, d) => (d === row % 3 ? 1 : 0)), // which of three columns of the keys counts
    k: each(pass.k, (row, d) => (d < 3 && hash(row, d) < 0.5 ? far : 0)),
    v: each(pass.v, (row, d) => Math.floor(3 * hash(row, d, 7)) - 1),
  };
}

function wanted(pass: Pass): Float32Array {
  const inBytes = pass.shape.kvType === 'q8';
  const [k, v] = [pass.k, pass.v].map((rows) =>
    inBytes ? roundedToBytes(rows, pass.shape.headDim) : rounded(rows, pass.shape),
  );
  return attentionRef(pass.q, k, v, pass.shape, pass);
}

/** The largest difference as a share of the largest |v|, and all differences as a share of all outputs. */
async function errorsOf(pass: Pass, on = target()) {
  const want = wanted(pass);
  const got = await attentionOnGpu(on, pass);
  const largest = pass.v.reduce((most, x) => (Math.abs(x) > most ? Math.abs(x) : most), 0);
  let [worst, squares, all] = [0, 0, 0];
  for (const [i, x] of got.entries()) {
    const error = x - want[i];
    if (!(Math.abs(error) / largest <= worst)) worst = Math.abs(error) / largest; // a NaN stays
    squares += error * error;
    all += want[i] * want[i];
  }
  return { worst, share: Math.sqrt(squares / all) };
}

const GEOMETRIES = [
  geometry(32, 3, 1, 'f16'),
  geometry(64, 2, 3, 'f32'),
  geometry(96, 1, 7, 'f16'),
  geometry(128, 1, 8, 'f32'),
  geometry(32, 1, 19, 'f16'),
].flat();

/** Windows whose first key is the last of a tile, or the first. */
const FIRST_KEYS = [63, 64].map((first): AttentionCase => {
  const [shape, position] = [scored('f32'), 130];
  return { title: `the first key is ${first}`, shape, position, nTokens: 20, window: position + 1 - first };
});

describe.each(PATHS.map((without) => [pathName(without), without] as const))('exact in bytes, %s', (_, without) => {
  const isPlain = without.length > 0;
  const cases = [
    ...(isPlain ? PROGRESS.filter((_, i) => i % 3 === 0) : PROGRESS),
    ...GEOMETRIES,
    ...served(scoredCases(isPlain ? 'f32' : 'f16')).filter(({ fill }) => !fill),
    ...served(bothWaysCases(isPlain)),
    ...FIRST_KEYS,
  ];
  test.each(cases.map((c) => [c.title, c] as const))('%s', async (_, { shape, ...c }) => {
    // A cap would bend scores, and a scale of 1 leaves them: keys that do not count are as far for every shape.
    const pass = exactPass({ ...c, shape: { ...shape, softcap: null } });
    expect((await errorsOf(pass, target(without))).worst).toBeLessThan(1e-6);
  });
});

test('exact over a cache in signed bytes', async () => {
  const shape = { ...COMMON, contextLength: 300, kvType: 'q8' } as const;
  expect((await errorsOf(exactPass({ shape, position: 200, nTokens: 65 }))).worst).toBeLessThan(1e-6);
});

test('a command list made once serves every position', async () => {
  const passes = [40, 0, 129, 61].map((position) => exactPass({ shape: COMMON, position, nTokens: 3 }));
  const outs = await replayOnGpu(target(), passes);
  for (const [i, out] of outs.entries()) {
    const want = wanted(passes[i]);
    out.forEach((x, at) => {
      expect(x).toBeCloseTo(want[at], 5);
    });
  }
});

describe('close to the textbook', () => {
  const random = [...PROGRESS.filter((_, i) => i % 4 === 1), ...GEOMETRIES];
  test.each(random.map((c) => [c.title, c] as const))('%s', async (_, c) => {
    const { worst, share } = await errorsOf(passOf(c));
    expect(worst).toBeLessThan(0.01);
    expect(share).toBeLessThan(0.015);
  });

  const extremes = served(CASES).filter(({ fill, title }) => fill && title.endsWith('prefill'));
  test.each(extremes.map((c) => [c.title, c] as const))('%s', async (_, c) => {
    expect((await errorsOf(passOf(c))).worst).toBeLessThan(0.005);
  });

  // A scale of 1 makes scores, and with them what bytes lose of them, eight times as large as in most models.
  test('large scores with a cap, in windows', async () => {
    for (const c of scoredCases('f16').filter(({ nTokens }) => nTokens === 41)) {
      expect((await errorsOf(passOf(c))).worst).toBeLessThan(0.04);
    }
  });

  test('a key that is 1,000 times as large as others costs others nothing outside its own tile', async () => {
    const shape = { ...COMMON, contextLength: 200 };
    const pass = passOf({ shape, position: 0, nTokens: 65, fill: { q: () => 0 } });
    const [large, own] = [3, shape.headDim];
    for (let h = 0; h < shape.nKvHeads; h++) pass.v.fill(1000, (h * 200 + large) * own, (h * 200 + large + 1) * own);
    const got = await attentionOnGpu(target(), pass);
    const want = wanted(pass);
    const last = got.length - shape.nHeads * own; // token 64, the first of the second tile
    for (let i = last; i < got.length; i++) expect(Math.abs(got[i] - want[i])).toBeLessThan(1000 / 254);
  });
});

test('a NaN or an infinity in a query stays in its own head', async () => {
  const width = COMMON.nHeads * COMMON.headDim;
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const pass = passOf({ shape: COMMON, position: 3, nTokens: 4 });
    const clean = await attentionOnGpu(target(), pass);
    const head = 2 * width + COMMON.headDim; // token 2, head 1
    const q = pass.q.slice();
    q[head + 5] = bad;
    const out = await attentionOnGpu(target(), { ...pass, q });
    const here = (i: number) => i >= head && i < head + COMMON.headDim;
    expect(out.filter((_, i) => !here(i))).toEqual(clean.filter((_, i) => !here(i)));
    expect(out.filter((_, i) => here(i)).every(Number.isNaN)).toBe(true);
  }
});

describe('the plan', () => {
  const limits = {
    maxComputeWorkgroupStorageSize: 32768,
    maxComputeInvocationsPerWorkgroup: 256,
    maxStorageBufferBindingSize: 2 ** 27,
  };
  const of = (headDim: number) => ({ ...SMALL, headDim, ...plainScores(headDim) });

  test.each([32, 64, 96, 128])('heads of %i fit 128 invocations, and 24 KiB, or 16 up to 64 columns', (headDim) => {
    const maxComputeWorkgroupStorageSize = headDim > 64 ? 24576 : 16384;
    const least = { ...limits, maxComputeInvocationsPerWorkgroup: 128, maxComputeWorkgroupStorageSize };
    expect(planFlashPrefillQ8(of(headDim), least).parameters).toEqual({});
    const tight = { ...least, maxComputeWorkgroupStorageSize: 136 * headDim + 6143 };
    expect(() => planFlashPrefillQ8(of(headDim), tight)).toThrow(
      `needs ${136 * headDim + 6144} bytes of workgroup memory`,
    );
  });

  test('its scratch memory is a byte for each element, and the scales', () => {
    const { scratchBytes } = planFlashPrefillQ8({ ...of(64), nHeads: 32, nKvHeads: 8, contextLength: 32768 }, limits);
    const elements = 8 * 32768 * 64;
    expect(scratchBytes).toBe(2 * elements + elements / 8 + elements / 8);
  });

  test.each([
    [40, {}, 'head_dim 40 is no multiple of 32 up to 128'],
    [160, {}, 'head_dim 160 is no multiple of 32 up to 128'],
    [64, { BLOCK_N: 64 }, 'it has no parameters, so no BLOCK_N either'],
  ])('heads of %i with %o are refused before anything is compiled: %s', (headDim, given, reason) => {
    expect(() => planFlashPrefillQ8(of(headDim), limits, given)).toThrow(reason);
  });
});
