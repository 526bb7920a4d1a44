// The tuner of products on a GPU: a winner for each shape, wrong candidates refused, all memory freed.

import { describe, expect, test, vi } from 'vitest';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../../../src/gpu/device';
import { gateUpQ8Epilogue } from '../../../src/kernels/linear/epilogues/gate_up_q8';
import { qkvEpilogue } from '../../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import { STORE } from '../../../src/kernels/linear/epilogues/store';
import type { MatvecInput } from '../../../src/kernels/linear/matvec';
import { matvecCandidates, tileCandidates } from '../../../src/tune/products/product_candidates';
import { ProductMeter } from '../../../src/tune/products/product_meter';
import { faultOf } from '../../../src/tune/products/product_outputs';
import {
  groupsOf,
  type NamedProduct,
  type TuneProductsOptions,
  tuneGroup,
  tuneProducts,
} from '../../../src/tune/products/products';
import { withBrokenShaders } from '../../attention/buffers';
import { testGpu } from '../../gpu/test_device';
import { randomMatrix } from '../../kernels/matrix';
import { randomArray } from '../../random';

const GATE_UP_Q8 = gateUpQ8Epilogue('silu');
const RESIDUAL = residualEpilogue(1);

const SHAPE = { nHeads: 2, nKvHeads: 1, headDim: 32, contextLength: 40, kvType: 'f16' } as const;
const HIDDEN = 64;
/** Passes of many ticks of the GPU's clock, which browsers round to 65 microseconds: shorter ones may take no tick. */
const OPTIONS: TuneProductsOptions = { timing: { passMs: 2, mostMs: 20, warmMs: 0 } };

function empty(gpu: Gpu, label: string, bytes: number): GPUBuffer {
  return gpu.createBuffer(label, bytes, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
}

type Kind = Pick<NamedProduct, 'name' | 'pass' | 'epilogue' | 'input'> & { rows: number };

async function product(gpu: Gpu, kind: Kind, seed: number, buffers: GPUBuffer[]): Promise<NamedProduct> {
  const { rows, name } = kind;
  const { matrix } = await randomMatrix(gpu, 'q4', rows, HIDDEN, seed);
  const params = gpu.upload('params', randomArray(HIDDEN, seed, 1));
  const normEps = name === 'qkv' || name === 'gate_up' ? 1e-5 : null;
  const shape = { rows, cols: HIDDEN, format: 'q4' as const, normEps, bias: false };
  return { ...kind, shape, matrix, params, buffers };
}

/** The output projections of two layers. */
async function projections(gpu: Gpu, input: MatvecInput, pass: NamedProduct['pass'] = 'decode') {
  const kind: Kind = { name: 'o', pass, epilogue: RESIDUAL, input, rows: HIDDEN };
  const buffers = [empty(gpu, 'x', 33 * HIDDEN * 4), empty(gpu, 'out', 33 * HIDDEN * 4)];
  return [await product(gpu, kind, 3, buffers), await product(gpu, kind, 4, buffers)];
}

async function tune(gpu: Gpu, products: readonly NamedProduct[], options: Partial<TuneProductsOptions> = {}) {
  const before = gpu.allocatedBytes;
  try {
    return await tuneProducts(gpu, products, 33, { ...OPTIONS, ...options });
  } finally {
    expect(gpu.allocatedBytes).toBe(before);
    expect(gpu.failure).toBeNull();
  }
}

test('each shape of decode is measured, the layers of a shape together, and one candidate of each is kept', async () => {
  const gpu = await testGpu();
  const [x, q, h] = [empty(gpu, 'x', HIDDEN * 4), empty(gpu, 'q', 256), empty(gpu, 'h', 80)];
  const out = empty(gpu, 'out', HIDDEN * 4);
  const rope = gpu.upload('rope', randomArray(40 * 32, 1));
  const [k, v] = [empty(gpu, 'k', 40 * 32 * 2), empty(gpu, 'v', 40 * 32 * 2)];
  const of = { pass: 'decode', input: 'to_q8', rows: 128 } as const;
  const products = [
    await product(gpu, { ...of, name: 'qkv', epilogue: qkvEpilogue(SHAPE) }, 1, [x, rope, q, k, v]),
    await product(gpu, { ...of, name: 'gate_up', epilogue: GATE_UP_Q8 }, 2, [x, h]),
    ...(await projections(gpu, 'q8')),
    await product(gpu, { name: 'down', pass: 'decode', epilogue: STORE, input: 'q8', rows: HIDDEN }, 6, [x, out]),
  ];
  const heard: [string, number, number][] = [];
  const onResult: TuneProductsOptions['onResult'] = ({ name }, done, total) => heard.push([name, done, total]);
  const { profile, results } = await tune(gpu, products, { onResult });
  expect(heard).toEqual(
    ['qkv', 'o', 'gate_up', 'down'].flatMap((name, i) => [0, 1].map((j) => [name, 2 * i + j + 1, 8])),
  );
  expect(results.map(({ refused }) => refused)).toEqual(Array(8).fill(null));
  for (const { ms } of results) expect(ms).toBeGreaterThan(0);
  expect(results.map(({ isDefault }) => isDefault)).toEqual(Array(4).fill([true, false]).flat());
  const kept = results.filter(({ fastest }) => fastest);
  expect(Object.entries(profile.matvec)).toEqual([
    ['qkv 128x64 q4 to_q8', kept[0].parameters],
    ['residual 64x64 q4 q8', kept[1].parameters],
    ['gate_up_q8 128x64 q4 to_q8', kept[2].parameters],
    ['store 64x64 q4 q8', kept[3].parameters],
  ]);
});

test('an output projection that merges parts of attention is measured on parts', async () => {
  const gpu = await testGpu();
  const splits = gpu.createBuffer('splits', 16, GPU_UNIFORM | GPU_COPY_DST);
  gpu.write(splits, Uint32Array.of(2));
  const [o, out, ml] = [
    empty(gpu, 'o', 2 * 2 * 32 * 4),
    empty(gpu, 'out', HIDDEN * 4),
    empty(gpu, 'ml', 2 * 2 * 2 * 4),
  ];
  const epilogue = { ...RESIDUAL, constants: { ...RESIDUAL.constants, HEAD_DIM: 32 } };
  const kind: Kind = { name: 'o', pass: 'decode', epilogue, input: 'parts_to_q8', rows: HIDDEN };
  const { profile, results } = await tune(gpu, [await product(gpu, kind, 5, [o, out, ml, splits])]);
  expect(results.map(({ refused }) => refused)).toEqual([null, null]);
  expect(Object.keys(profile.matvec)).toEqual(['residual 64x64 q4 parts_to_q8']);
  const values = new Float32Array(await gpu.read(out, HIDDEN * 4));
  expect(values.every(Number.isFinite)).toBe(true);
});

test('the tiles of prefill are measured on a chunk of tokens', async () => {
  const gpu = await testGpu();
  const tiles: typeof tileCandidates = (rows, limits) => tileCandidates(rows, limits, false).slice(-2);
  const candidates = { matvec: matvecCandidates, tiles };
  const { profile, results } = await tune(gpu, await projections(gpu, 'q8', 'prefill'), { candidates });
  expect(results).toMatchObject([
    { nTokens: 33, refused: null },
    { nTokens: 33, refused: null },
  ]);
  expect(profile.matvec).toEqual({});
  expect(profile.tiles).toEqual({ 'residual 64x64 q4 q8': results.find(({ fastest }) => fastest)?.parameters });
});

test('outputs of a part of the tokens are compared where a load has no time for all', async () => {
  const gpu = await testGpu();
  const tiles: typeof tileCandidates = (rows, limits) => tileCandidates(rows, limits, false).slice(-2);
  const candidates = { matvec: matvecCandidates, tiles };
  const [group] = groupsOf(gpu, await projections(gpu, 'q8', 'prefill'), 33, candidates);
  const read = vi.spyOn(gpu, 'readMapped');
  const goOn = () => {};
  const meter = new ProductMeter(gpu, { ...group.measured, comparedTokens: 17 }, goOn, OPTIONS.timing);
  const { tried } = await tuneGroup(gpu, group, meter, { throwIfStopped: goOn });
  expect(tried.map(({ refused }) => refused)).toEqual([null, null]);
  for (const { ms } of tried) expect(ms).toBeGreaterThan(0);
  const bytes = read.mock.calls.map(([, size]) => size);
  expect(bytes.slice(0, 2)).toEqual([17 * HIDDEN * 4, 17 * HIDDEN * 4]); // and then the clock's
  read.mockRestore();
});

describe('a candidate', () => {
  /** Kernels are cached by device and source. A constant of its own makes the kernels of each call new. */
  let calls = 0;
  async function tuneRewritten(gpu: Gpu, rewrite: (code: string) => string) {
    calls++;
    const products = (await projections(gpu, 'f32')).map((each) => ({
      ...each,
      epilogue: { ...each.epilogue, constants: { ...each.epilogue.constants, CALL: calls } },
    }));
    return withBrokenShaders(gpu, 'kernels/residual', rewrite, () => tune(gpu, products));
  }

  /** The default of a software GPU has 8 threads. */
  const isSecond = (code: string) => code.includes('const WORKGROUP = 16u;');

  test.each([
    ['wrong in every row', 'before.x + SCALE * y.x', 'before.x + 1.2 * y.x'],
    ['wrong in one row', 'before.x + SCALE * y.x', 'before.x + select(y.x, 0.0, row == 30u)'],
    ['no number', 'before.y + SCALE * y.y', 'before.y + y.y / f32(PART_ROWS - ROWS)'],
  ])('that is %s is refused and never kept', async (_, right, wrong) => {
    const gpu = await testGpu();
    const rewrite = (code: string) => (isSecond(code) ? code.replaceAll(right, wrong) : code);
    const { profile, results } = await tuneRewritten(gpu, rewrite);
    expect(results.map(({ refused }) => refused)).toEqual([null, expect.stringMatching(/^its value \d+ is .*default/)]);
    expect(results.map(({ ms, fastest }) => [ms === null, fastest])).toEqual([
      [false, true],
      [true, false],
    ]);
    expect(Object.values(profile.matvec)).toEqual([results[0].parameters]);
  });

  test('that does not compile is refused, with the reason', async () => {
    const { results } = await tuneRewritten(await testGpu(), (code) => (isSecond(code) ? `${code} oops` : code));
    expect(results[1].refused).toMatch(/shader was refused/);
    expect(results[0]).toMatchObject({ refused: null, fastest: true });
  });

  test('has nothing to be compared with where the default does not run: nothing is kept', async () => {
    const { profile, results } = await tuneRewritten(await testGpu(), (code) =>
      isSecond(code) ? code : `${code} oops`,
    );
    expect(results.map(({ refused }) => refused)).toEqual([
      expect.stringMatching(/shader was refused/),
      expect.stringMatching(/default.* does not run/),
    ]);
    expect(profile.matvec).toEqual({});
  });
});

test("without the GPU's clock the CPU's is used", async () => {
  const gpu = await testGpu(['timestamps']);
  const { results } = await tune(gpu, await projections(gpu, 'f32'));
  for (const { ms } of results) expect(ms).toBeGreaterThan(0);
});

test.each([0, 1, 3])('stopped when asked for the time no. %i, it ends and keeps nothing', async (times) => {
  const gpu = await testGpu();
  let asked = 0;
  const tuning = tune(gpu, await projections(gpu, 'f32'), { stopped: () => asked++ >= times });
  await expect(tuning).rejects.toMatchObject({ name: 'AbortError' });
});

describe('outputs agree', () => {
  const plain = (...values: number[]) => [{ values: Float32Array.from(values), steps: null }];
  const stepped = (...values: number[]) => [
    { values: Float32Array.from(values), steps: new Float32Array(values.length).fill(0.5) },
  ];

  test('within 2 % of the RMS', () => {
    expect(faultOf(plain(3, -4, 0), plain(3.05, -4, 0.05))).toBeNull();
    expect(faultOf(plain(3, -4, 0), plain(3, -4, 0.07))).toMatch(/value 2 is 0.07.*default is 0/);
  });

  test('and a step of their encoding', () => {
    expect(faultOf(stepped(3, -4, 0), stepped(3.5, -4, 0))).toBeNull();
    expect(faultOf(stepped(3, -4, 0), stepped(4, -4, 0))).toContain('value 0 is 4');
  });

  test('never with what is no number', () => {
    expect(faultOf(plain(1, 2), plain(1, Number.NaN))).toContain('NaN');
    expect(faultOf(plain(Number.NaN, 2), plain(1, 2))).toContain('NaN');
    expect(faultOf(plain(1, 2), plain(1, Number.POSITIVE_INFINITY))).toContain('Infinity');
  });
});
