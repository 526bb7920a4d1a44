// The product of many tokens in signed bytes against the textbook, at the edges of its tiles and under every epilogue.

import { describe, expect, test } from 'vitest';
import { applyRope } from '../../../src/cpu/apply_rope';
import { linear } from '../../../src/cpu/linear';
import { quantizeActivations } from '../../../src/cpu/quantize_activations';
import { ropeTable } from '../../../src/cpu/rope';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { xqBytes } from '../../../src/kernels/elementwise/quantize_activations';
import { gateUpEpilogue } from '../../../src/kernels/linear/epilogues/gate_up';
import { gateUpTileQ8Epilogue } from '../../../src/kernels/linear/epilogues/gate_up_tile_q8';
import { qkvEpilogue } from '../../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import type { Epilogue, Linear } from '../../../src/kernels/linear/linear';
import { MATMUL_TILES, type Tiles } from '../../../src/kernels/linear/matmul_plan';
import { createMatmulQ8, createTiledMatmul, type MatmulQ8Shape } from '../../../src/kernels/linear/matmul_q8';
import { assumeRounding, roundsOnce } from '../../../src/kernels/linear/rounding';
import { rowParts } from '../../../src/kernels/linear/weight_format';
import { assertClose, relativeError } from '../../close';
import { hardwareGpu, PATHS, pathName, twinOf } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { randomMatrix, readFloats } from '../matrix';

const GATE_UP = gateUpEpilogue('silu');
const RESIDUAL = residualEpilogue(1);

/** 32 rows x 32 tokens in 32 threads: the quickest to compile and to run here. */
const SMALL = MATMUL_TILES[MATMUL_TILES.length - 1];

/** Random operands on both sides, and the textbook's rows of y for every token. */
async function operands(gpu: Gpu, shape: MatmulQ8Shape, nTokens: number) {
  const { rows, cols, format, bias, normEps, parts } = shape;
  const seed = rows * 7 + cols;
  const { matrix, values } = await randomMatrix(gpu, format, rows, cols, seed, parts?.[0].rows);
  const biases = bias ? randomArray(rows, 13) : null;
  const norm = randomArray(normEps === null ? 0 : cols, 12); // in front of the bias; the product must not look at it
  const x = Array.from({ length: nTokens }, (_, t) => quantizeActivations(randomArray(cols, 100 + t, t + 1)));
  const packed = new Uint8Array(xqBytes(nTokens, cols));
  const scales = new Float32Array(packed.buffer, nTokens * cols, (nTokens * cols) / 32);
  for (let block = 0; block < cols / 32; block++) {
    for (const [t, { q, d }] of x.entries()) {
      const at = block * nTokens + t;
      packed.set(new Uint8Array(q.buffer, block * 32, 32), at * 32);
      scales[at] = d[block];
    }
  }
  return {
    matrix,
    xq: gpu.upload('xq', packed),
    params: gpu.upload('params', new Float32Array([...norm, ...(biases ?? []), 0, 0, 0, 0])), // whole quads
    y: x.map(({ q, d }) =>
      linear(
        Float32Array.from(q, (each, i) => each * d[Math.floor(i / 32)]),
        values,
        biases,
      ),
    ),
  };
}

async function run(
  gpu: Gpu,
  shape: MatmulQ8Shape,
  epilogue: Epilogue,
  tiles: Tiles,
  { matrix, xq, params }: Awaited<ReturnType<typeof operands>>,
  outputs: readonly GPUBuffer[],
  step: { nTokens: number; position: number },
): Promise<void> {
  const product = await createTiledMatmul(gpu, shape, epilogue, tiles);
  const list = new CommandList(gpu);
  product.record(list, product.bind(matrix, xq, params, ...outputs), step.nTokens);
  list.run(step);
}

const flat = (rows: Float32Array[]) => Float32Array.from(rows.flatMap((row) => [...row]));

const shapeOf = (
  rows: number,
  cols: number,
  format: MatmulQ8Shape['format'],
  rest: Partial<MatmulQ8Shape> = {},
): MatmulQ8Shape => ({
  rows,
  cols,
  format,
  normEps: null,
  bias: false,
  ...rest,
});

for (const nTokens of [31, 32, 33]) {
  test(`residual adds W x + bias, q4, ${nTokens} tokens, 65x96 in parts of 64 rows and of 1`, async () => {
    const shape = shapeOf(65, 96, 'q4', { normEps: 1e-5, bias: true, parts: rowParts(65, 64) });
    const gpu = await hardwareGpu();
    const o = await operands(gpu, shape, nTokens);
    const before = randomArray(nTokens * shape.rows + 8, 14);
    const buffer = gpu.upload('residual', before);
    await run(gpu, shape, RESIDUAL, SMALL, o, [buffer], { nTokens, position: 0 });
    const expected = flat(o.y).map((v, i) => v + before[i]);
    const actual = await readFloats(gpu, buffer, before.length);
    assertClose(actual.subarray(0, expected.length), expected, 1e-5);
    expect([...actual.subarray(expected.length)]).toEqual([...before.subarray(expected.length)]);
    expect(gpu.failure).toBeNull();
  });
}

for (const [format, cols] of [
  ['q5_k', 512],
  ['q6_k', 512],
] as const) {
  test(`residual adds W x, ${format}, 33 tokens, 65x${cols}`, async () => {
    const gpu = await hardwareGpu();
    const shape = shapeOf(65, cols, format);
    const o = await operands(gpu, shape, 33);
    const residual = gpu.upload('residual', new Float32Array(33 * 65));
    await run(gpu, shape, RESIDUAL, SMALL, o, [residual], { nTokens: 33, position: 0 });
    assertClose(await readFloats(gpu, residual, 33 * 65), flat(o.y), 1e-5);
    expect(gpu.failure).toBeNull();
  });
}

test('gate_up is silu(gate) * up, q8, 63 and 65 tokens, 2x31 rows, a single block, 8 tokens a thread', async () => {
  const gpu = await hardwareGpu();
  for (const nTokens of [63, 65]) {
    const shape = shapeOf(62, 32, 'q8', { bias: true });
    const o = await operands(gpu, shape, nTokens);
    const h = gpu.upload('h', new Float32Array(nTokens * 31 + 8).fill(-7));
    await run(gpu, shape, GATE_UP, MATMUL_TILES[2], o, [h], { nTokens, position: 0 });
    const expected = flat(
      o.y.map((row) => Float32Array.from({ length: 31 }, (_, i) => silu(row[2 * i]) * row[2 * i + 1])),
    );
    const actual = await readFloats(gpu, h, expected.length + 8);
    assertClose(actual.subarray(0, expected.length), expected, 1e-5);
    expect([...actual.subarray(expected.length)]).toEqual(Array(8).fill(-7));
  }
});

describe('gate_up_tile_q8 is silu(gate) * up in signed bytes, all tokens of a block side by side', () => {
  const [LARGE, SHARED, WIDE] = [MATMUL_TILES[3], MATMUL_TILES[4], MATMUL_TILES[6]];
  for (const [what, format, intermediate, cols, tiles, nTokens, partRows] of [
    ['a thread a block', 'q4', 64, 64, LARGE, 67, undefined],
    ['two shares of k', 'q8', 32, 96, SHARED, 33, undefined],
    ['two blocks a tile, of which the second is half empty', 'q4_k', 96, 256, WIDE, 65, undefined],
    ['parts', 'q4', 96, 32, LARGE, 1, 128],
  ] as const) {
    test(`${what}, ${format}, ${nTokens} tokens, 2x${intermediate} rows, ${cols} columns`, async () => {
      const gpu = await hardwareGpu();
      const rows = 2 * intermediate;
      const shape = shapeOf(rows, cols, format, { bias: true, parts: partRows && rowParts(rows, partRows) });
      const o = await operands(gpu, shape, nTokens);
      const count = nTokens * intermediate;
      const h = gpu.upload('h', new Uint8Array(count + count / 8 + 16).fill(0xaa));
      await run(gpu, shape, gateUpTileQ8Epilogue('silu'), tiles, o, [h], { nTokens, position: 0 });
      const read = await gpu.read(h);
      const [q, d] = [new Int8Array(read, 0, count), new Float32Array(read, count, count / 32)];
      for (const [t, y] of o.y.entries()) {
        for (let block = 0; block < intermediate / 32; block++) {
          const at = block * nTokens + t;
          const expected = Float32Array.from({ length: 32 }, (_, i) => {
            const row = 2 * (32 * block + i);
            return silu(y[row]) * y[row + 1];
          });
          const largest = expected.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
          expect(d[at] / (largest / 127), `token ${t}, block ${block}`).toBeCloseTo(1, 4);
          const off = expected.map((v, i) => Math.abs(q[at * 32 + i] - v / d[at]));
          expect(Math.max(...off), `token ${t}, block ${block}`).toBeLessThan(0.51);
        }
      }
      expect([...new Uint8Array(read, count + count / 8)]).toEqual(Array(16).fill(0xaa));
      expect(gpu.failure).toBeNull();
    });
  }
});

test('gate and up leave bytes in tiles of whole blocks alone', async () => {
  const gpu = await hardwareGpu();
  const epilogue = { ...GATE_UP, quantizing: gateUpTileQ8Epilogue('silu') };
  const linear = await createMatmulQ8(gpu, shapeOf(64, 32, 'q4'), epilogue, MATMUL_TILES[3]);
  const plain = await createMatmulQ8(gpu, shapeOf(64, 32, 'q4'), GATE_UP, MATMUL_TILES[3]);
  const cut = await createMatmulQ8(gpu, shapeOf(62, 32, 'q4'), epilogue, MATMUL_TILES[3]);
  const small = await createMatmulQ8(gpu, shapeOf(64, 32, 'q4'), epilogue, SMALL);
  const leave = (each: Linear) => [64, 257].map((nTokens) => each.leavesBytes?.(nTokens) ?? false);
  expect([linear, plain, cut, small].map(leave)).toEqual([
    [false, true], // 64 tokens have tiles of 32 rows
    [false, false],
    [false, false],
    [false, false],
  ]);
});

const silu = (v: number) => v / (1 + Math.exp(-v));

test(`residual adds W x, q4, 67 rows, one token, one stage, ${pathName(PATHS[1])}`, async () => {
  const gpu = await hardwareGpu(PATHS[1]);
  const shape = shapeOf(67, 96, 'q4');
  const o = await operands(gpu, shape, 1);
  const residual = gpu.upload('residual', new Float32Array(67 + 4).fill(-7));
  await run(gpu, shape, RESIDUAL, { ...SMALL, stages: 1 }, o, [residual], { nTokens: 1, position: 0 });
  const actual = await readFloats(gpu, residual, 67 + 4);
  assertClose(
    actual.subarray(0, 67),
    o.y[0].map((v) => v - 7),
    1e-5,
  );
  expect([...actual.subarray(67)]).toEqual(Array(4).fill(-7));
});

test('qkv rotates q and k and writes the cache, q8, 67 tokens at 5, the default tiles', async () => {
  const gpu = await hardwareGpu();
  const [nTokens, position, context] = [67, 5, 72];
  const shape = shapeOf(160, 224, 'q8', { normEps: 1e-5, bias: true });
  const o = await operands(gpu, shape, nTokens);
  const table = ropeTable(32, { theta: 10000, scaling: null }, context) as Float32Array<ArrayBuffer>;
  const cache = () => gpu.upload('cache', new Float32Array(context * 32).fill(-7));
  const [rope, q, k, v] = [
    gpu.upload('rope', table),
    gpu.upload('q', new Float32Array(nTokens * 96)),
    cache(),
    cache(),
  ];
  const epilogue = qkvEpilogue({ nHeads: 3, nKvHeads: 1, headDim: 32, contextLength: context, kvType: 'f32' });
  await run(gpu, shape, epilogue, MATMUL_TILES[0], o, [rope, q, k, v], { nTokens, position });
  const rows = o.y.map((row, t) => {
    const rotated = row.slice(0, 128);
    applyRope(rotated, table.subarray((position + t) * 32, (position + t + 1) * 32), 32, 'interleaved');
    return { q: rotated.slice(0, 96), k: rotated.slice(96), v: row.slice(128) };
  });
  const untouched = new Float32Array(position * 32).fill(-7);
  assertClose(await readFloats(gpu, q, nTokens * 96), flat(rows.map((r) => r.q)), 1e-5);
  assertClose(await readFloats(gpu, k, context * 32), flat([untouched, ...rows.map((r) => r.k)]), 1e-5);
  assertClose(await readFloats(gpu, v, context * 32), flat([untouched, ...rows.map((r) => r.v)]), 1e-5);
});

describe('shares of k', () => {
  for (const [format, cols, kShares] of [
    ['q4', 96, 2],
    ['q6_k', 768, 8],
    ['q4_k', 256, 4],
  ] as const) {
    test(`residual adds W x + bias, ${format}, 33 tokens, 65x${cols}, ${kShares} shares`, async () => {
      const gpu = await hardwareGpu();
      const shape = shapeOf(65, cols, format, { bias: true });
      const o = await operands(gpu, shape, 33);
      const residual = gpu.upload('residual', new Float32Array(33 * 65));
      const tiles: Tiles = { ...SMALL, stages: 1, kShares };
      await run(gpu, shape, RESIDUAL, tiles, o, [residual], { nTokens: 33, position: 0 });
      assertClose(await readFloats(gpu, residual, 33 * 65), flat(o.y), 1e-5);
      expect(gpu.failure).toBeNull();
    });
  }
});

describe('with an fma for the zero of a sum', () => {
  for (const [format, cols] of [
    ['q4', 96],
    ['q8', 64],
    ['q4_k', 256],
    ['q6_k', 512],
  ] as const) {
    test(`residual adds W x, ${format}, 33 tokens, 65x${cols}, within half a step of a block`, async () => {
      const gpu = twinOf(await hardwareGpu());
      assumeRounding(gpu, true);
      const shape = shapeOf(65, cols, format);
      const o = await operands(gpu, shape, 33);
      const residual = gpu.upload('residual', new Float32Array(33 * 65));
      await run(gpu, shape, RESIDUAL, SMALL, o, [residual], { nTokens: 33, position: 0 });
      const error = relativeError(await readFloats(gpu, residual, 33 * 65), flat(o.y));
      // One that rounds once is as exact as the tests above ask; one that rounds twice shows that it ran.
      if (await roundsOnce(await hardwareGpu())) return expect(error).toBeLessThanOrEqual(1e-5);
      expect(error).toBeGreaterThan(1e-6);
      expect(error).toBeLessThan(1e-3);
    });
  }
});

test('a pass takes the kernel of its size', async () => {
  const gpu = await hardwareGpu();
  const shape = shapeOf(33, 32, 'q4', { bias: true });
  const product = await createMatmulQ8(gpu, shape, RESIDUAL, SMALL);
  for (const nTokens of [64, 65, 257]) {
    const { matrix, xq, params, y } = await operands(gpu, shape, nTokens);
    const residual = gpu.upload('residual', new Float32Array(nTokens * 33));
    const list = new CommandList(gpu);
    product.record(list, product.bind(matrix, xq, params, residual), nTokens);
    list.run({ nTokens, position: 0 });
    assertClose(await readFloats(gpu, residual, nTokens * 33), flat(y), 1e-5);
  }
  expect(gpu.failure).toBeNull();
});
