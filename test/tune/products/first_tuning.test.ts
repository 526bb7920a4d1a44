// The tuning of a load: which products, in which time, and what becomes of those that it has no time for.

import { expect, test } from 'vitest';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../../src/gpu/device';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import { planMatvec } from '../../../src/kernels/linear/matvec_plan';
import { FirstTuning, tunedAtLoad } from '../../../src/tune/products/first_tuning';
import { fewMatvecCandidates, matvecCandidates } from '../../../src/tune/products/product_candidates';
import type { NamedProduct } from '../../../src/tune/products/products';
import { testGpu } from '../../gpu/test_device';
import { randomMatrix } from '../../kernels/matrix';
import { randomArray } from '../../random';

const COLS = 64;
const PREFILL_TOKENS = 33;
const LONG_MS = 1e9;
const goOn = () => {};

/** Products of one layer in f32, with these rows. */
async function products(gpu: Gpu, ...rows: number[]): Promise<NamedProduct[]> {
  const buffer = (label: string, count: number) =>
    gpu.createBuffer(label, 4 * count, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  return Promise.all(
    rows.map(async (each, i) => ({
      name: 'o',
      pass: 'decode',
      shape: { rows: each, cols: COLS, format: 'q4', normEps: null, bias: false },
      epilogue: residualEpilogue(1),
      input: 'f32',
      matrix: (await randomMatrix(gpu, 'q4', each, COLS, i)).matrix,
      params: gpu.upload('params', randomArray(COLS, 1, 1)),
      buffers: [buffer('x', COLS), buffer('out', each)],
    })),
  );
}

const keyOf = (rows: number) => `residual ${rows}x${COLS} q4 f32`;

function shapeOf({ shape, input }: NamedProduct) {
  return { ...shape, input, finishRows: 2 };
}

test('each product that is not known gets parameters from among its candidates', async () => {
  const gpu = await testGpu();
  const all = await products(gpu, 64, 96, 128);
  const before = gpu.allocatedBytes;
  const known = {
    matvec: { [keyOf(96)]: planMatvec(shapeOf(all[1]), gpu.limits, gpu.can.subgroupMinSize) },
    tiles: {},
  };
  const tuning = new FirstTuning(gpu, PREFILL_TOKENS, known);
  expect(tuning.isEmpty).toBe(true);
  tuning.add(all.slice(0, 2));
  tuning.add(all); // those that it has already, too
  const found = await tuning.run(goOn, LONG_MS);
  const matvec = { ...tuning.usual.matvec, ...found.matvec };
  expect([Object.keys(matvec), tuning.usual.tiles, found.tiles]).toEqual([[keyOf(64), keyOf(128)], {}, {}]);
  for (const product of [all[0], all[2]]) {
    const candidates = fewMatvecCandidates(shapeOf(product), gpu.limits, gpu.can.subgroupMinSize);
    expect(candidates).toHaveLength(2);
    expect(candidates).toContainEqual(matvec[keyOf(product.shape.rows)]);
  }
  expect(gpu.allocatedBytes).toBe(before);
  expect(gpu.failure).toBeNull();
});

test('nothing is left to do where all are known', async () => {
  const gpu = await testGpu();
  const all = await products(gpu, 64);
  const tuning = new FirstTuning(gpu, PREFILL_TOKENS, null);
  tuning.add(all);
  const again = new FirstTuning(gpu, PREFILL_TOKENS, tuning.usual);
  again.add(all);
  expect([tuning.isEmpty, again.isEmpty]).toEqual([false, true]);
});

test('products that there is no time for keep their defaults, and nothing runs', async () => {
  const gpu = await testGpu();
  const all = await products(gpu, 64, 128);
  const tuning = new FirstTuning(gpu, PREFILL_TOKENS, null);
  tuning.add(all);
  const { submits } = gpu.counters;
  expect(await tuning.run(goOn, -1)).toEqual({ matvec: {}, tiles: {} });
  expect(gpu.counters.submits).toBe(submits);
  const usual = all.map((each) => planMatvec(shapeOf(each), gpu.limits, gpu.can.subgroupMinSize));
  expect(Object.values(tuning.usual.matvec)).toEqual(usual);
});

test('a cancel ends it', async () => {
  const gpu = await testGpu();
  const tuning = new FirstTuning(gpu, PREFILL_TOKENS, null);
  tuning.add(await products(gpu, 64));
  const stop = () => {
    throw new DOMException('Loading was canceled.', 'AbortError');
  };
  await expect(tuning.run(stop, LONG_MS)).rejects.toMatchObject({ name: 'AbortError' });
});

test('a load tunes large products of prompts, the head, and the layers that no fused step runs', () => {
  const names = ['qkv', 'o', 'gate_up', 'down', 'head'] as const;
  const all = (pass: NamedProduct['pass']) =>
    names.map((name) => ({ name, pass, input: 'f32', matrix: {} }) as NamedProduct);
  const tuned = (pass: NamedProduct['pass'], isFused: boolean, onMatrices: boolean) =>
    tunedAtLoad(all(pass), { isFused, onMatrices }).map(({ name }) => name);
  expect(tuned('decode', false, true)).toEqual(names);
  expect(tuned('decode', true, true)).toEqual(['head']);
  expect(tuned('prefill', true, false)).toEqual(['gate_up', 'down']);
  expect(tuned('prefill', false, true)).toEqual([]);
  const decode = all('decode');
  const merging: NamedProduct = { ...decode[1], input: 'parts' };
  const merged = tunedAtLoad([...decode, merging], { isFused: false, onMatrices: false });
  expect(merged).toEqual([decode[0], ...decode.slice(2), merging]);
});

test.each([
  ['q4', 'f32', 8],
  ['f16', 'f32', 6],
  ['q8', 'to_q8', 5],
  ['q4', 'q8', 5],
] as const)('a matrix in %s on x in %s has %i candidates at most, the default first', (format, input, most) => {
  const limits = {
    maxComputeInvocationsPerWorkgroup: 1024,
    maxComputeWorkgroupStorageSize: 32768,
    maxStorageBufferBindingSize: 2 ** 31,
  };
  for (const [rows, cols] of [
    [512, 512],
    [3072, 2048],
    [16384, 2048],
    [2048, 8192],
    [128256, 4096],
  ]) {
    const shape = { rows, cols, format, normEps: null, bias: false, input, finishRows: 2 };
    for (const subgroup of [0, 8, 32]) {
      const few = fewMatvecCandidates(shape, limits, subgroup);
      expect(few[0]).toEqual(matvecCandidates(shape, limits, subgroup)[0]);
      expect(few.length).toBeLessThanOrEqual(most);
      expect(few.length).toBeGreaterThan(rows > 512 ? 1 : 0);
      for (const each of few) expect(planMatvec(shape, limits, subgroup, each)).toEqual(each);
    }
  }
});
