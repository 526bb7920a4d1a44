// The product of a few tokens against the textbook, at the edges of its tokens, rows and lanes; and each token alone.

import { describe, expect, test } from 'vitest';
import { linear } from '../../../src/cpu/linear';
import { quantizeActivations } from '../../../src/cpu/quantize_activations';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { createQuantizeActivations, xqBytes } from '../../../src/kernels/elementwise/quantize_activations';
import { gateUpRowsQ8Epilogue } from '../../../src/kernels/linear/epilogues/gate_up_rows_q8';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import type { LinearShape } from '../../../src/kernels/linear/linear';
import { createMatmulFew, planFew } from '../../../src/kernels/linear/matmul_few';
import { rowParts } from '../../../src/kernels/linear/weight_format';
import { assertClose } from '../../close';
import { hardwareGpu, PATHS, testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { randomMatrix, readFloats } from '../matrix';

/** The products of `chosen` tokens on the GPU, and all of the textbook. */
async function products(gpu: Gpu, shape: LinearShape, input: 'f32' | 'q8', nTokens: number, chosen: number[][]) {
  const { rows, cols, format, bias, normEps, parts } = shape;
  const { matrix, values } = await randomMatrix(gpu, format, rows, cols, rows + cols, parts?.[0].rows);
  const biases = bias ? randomArray(rows, 13) : null;
  const norm = randomArray(normEps === null ? 0 : cols, 12);
  const x = Array.from({ length: nTokens }, (_, t) => randomArray(cols, 100 + t, t + 1));
  const params = gpu.upload('params', new Float32Array([...norm, ...(biases ?? []), 0, 0, 0, 0]));
  const xBuffer = gpu.upload('x', new Float32Array(nTokens * cols));
  const xq = gpu.upload('xq', new Uint8Array(xqBytes(nTokens, cols)));
  const out = gpu.upload('out', new Float32Array(nTokens * rows + 8));
  const [product, quantize] = await Promise.all([
    createMatmulFew(gpu, shape, residualEpilogue(1), input),
    createQuantizeActivations(gpu, { cols, normEps }),
  ]);
  const groups = product.bind(matrix, input === 'q8' ? xq : xBuffer, params, out);
  const found: Float32Array[] = [];
  for (const tokens of chosen) {
    gpu.write(xBuffer, Float32Array.from(tokens.flatMap((t) => [...x[t]])));
    gpu.write(out, new Float32Array(nTokens * rows + 8).fill(-7));
    const list = new CommandList(gpu);
    if (input === 'q8') quantize.record(list, quantize.bind(xBuffer, params, xq), tokens.length);
    product.record(list, groups, tokens.length);
    await list.run({ position: 3, nTokens: tokens.length });
    const read = await readFloats(gpu, out, nTokens * rows + 8);
    expect([...read.subarray(tokens.length * rows)]).toEqual(Array((nTokens - tokens.length) * rows + 8).fill(-7));
    found.push(read.slice(0, tokens.length * rows));
  }
  expect(gpu.failure).toBeNull();
  const textbook = x.map((row) => {
    const normed = normEps === null ? row : rmsNorm(row, norm, normEps);
    const { q, d } = quantizeActivations(normed);
    const seen = input === 'q8' ? Float32Array.from(q, (each, i) => each * d[Math.floor(i / 32)]) : normed;
    return linear(seen, values, biases).map((value) => value - 7);
  });
  return { found, textbook };
}

/** Rows in the layout of quantize_activations. */
function packed(rows: readonly { q: Int8Array; d: Float32Array }[]): Uint8Array<ArrayBuffer> {
  const cols = rows[0].q.length;
  const bytes = new Uint8Array(xqBytes(rows.length, cols));
  for (const [t, { q, d }] of rows.entries()) {
    bytes.set(new Uint8Array(q.buffer, q.byteOffset, cols), t * cols);
    bytes.set(new Uint8Array(d.buffer, d.byteOffset, d.byteLength), rows.length * cols + t * d.byteLength);
  }
  return bytes;
}

const all = (nTokens: number) => Array.from({ length: nTokens }, (_, t) => t);
const flat = (rows: readonly ArrayLike<number>[]) => Float32Array.from(rows.flatMap((row) => Array.from(row)));

describe.each([
  ['f32', 'f16', 65, 96, { normEps: 1e-5, bias: true }],
  ['f32', 'q4', 66, 160, { normEps: 1e-5, parts: rowParts(66, 64) }],
  ['f32', 'q8', 34, 1056, { normEps: 1e-5, bias: true }],
  ['q8', 'q4', 65, 2080, { normEps: 1e-5, bias: true }],
  ['q8', 'q8', 3, 32, { bias: true }],
  ['q8', 'q6_k', 33, 512, {}],
  ['q8', 'q4_k', 34, 256, { parts: rowParts(34, 32) }],
] as const)('%s x %s, %ix%i', (input, format, rows, cols, rest) => {
  const shape: LinearShape = { rows, cols, format, normEps: null, bias: false, ...rest };

  test('1, 4, 5 and 8 tokens are those of the textbook, and each of them the same beside any others', async () => {
    const chosen = [all(8), all(5), all(4), [0], [7], [3, 0, 7, 1, 2, 6]];
    const { found, textbook } = await products(await hardwareGpu(), shape, input, 8, chosen);
    // Signed bytes of a norm may round the other way where its factor is summed in another order.
    const bound = input === 'q8' && shape.normEps !== null ? 2e-3 : 1e-5;
    assertClose(found[0], flat(textbook), bound);
    for (const [i, tokens] of chosen.entries()) {
      const beside = tokens.map((t) => found[0].subarray(t * rows, (t + 1) * rows));
      expect(found[i]).toEqual(flat(beside));
    }
  });
});

test.each([
  ['q4', 16386, 1056, [all(8), all(4), all(3), [5, 2], [7]]],
  ['q4_1', 16384, 1024, [all(5)]],
  ['q4_k', 16384, 1024, [all(5)]],
  ['q6_k', 16390, 1024, [all(5)]],
] as const)('%s, %ix%i: x is staged where rows are many', async (format, rows, cols, chosen) => {
  expect(planFew({ rows, cols, input: 'q8', normEps: null }, false)).toMatchObject({ staged: true, PAIRS: 2 });
  const shape: LinearShape = { rows, cols, format, normEps: null, bias: false };
  const tokens = chosen.map((each) => [...each]);
  const { found, textbook } = await products(await hardwareGpu(), shape, 'q8', Math.max(...tokens.flat()) + 1, tokens);
  assertClose(found[0], flat(tokens[0].map((t) => textbook[t])), 1e-5);
  for (const [i, each] of tokens.entries()) {
    expect(found[i]).toEqual(flat(each.map((t) => found[0].subarray(t * rows, (t + 1) * rows))));
  }
});

test.each([
  ['as in software', testGpu, []],
  ['without subgroups and immediates', hardwareGpu, PATHS[1]],
] as const)('5 tokens, %s', async (_, gpuOf, without) => {
  const shape: LinearShape = { rows: 37, cols: 224, format: 'q8', normEps: null, bias: true };
  const { found, textbook } = await products(await gpuOf(without), shape, 'q8', 5, [all(5)]);
  assertClose(found[0], flat(textbook), 1e-5);
});

describe.each([
  ['as hardware', hardwareGpu, []],
  ['as in software', testGpu, []],
  ['without subgroups and immediates', hardwareGpu, PATHS[1]],
] as const)('gate_up_rows_q8, %s', (_, gpuOf, without) => {
  // Lanes of one block, and of several where the tokens are added up in two halves; the last workgroup is half empty.
  test.each([
    [192, 64, 8],
    [192, 64, 3],
    [96, 1056, 5],
  ])('is silu(gate) * up in signed bytes: 2x%i rows, %i columns, %i tokens', async (intermediate, cols, nTokens) => {
    const gpu = await gpuOf(without);
    const [rows, epilogue] = [2 * intermediate, gateUpRowsQ8Epilogue('silu')];
    const shape: LinearShape = { rows, cols, format: 'q8', normEps: null, bias: false };
    const { matrix, values } = await randomMatrix(gpu, 'q8', rows, cols, 21);
    const x = Array.from({ length: nTokens }, (_, t) => quantizeActivations(randomArray(cols, 40 + t, 2)));
    const xq = gpu.upload('xq', packed(x));
    const h = gpu.upload('h', new Uint8Array(xqBytes(nTokens, intermediate)));
    const product = await createMatmulFew(gpu, shape, epilogue, 'q8');
    const list = new CommandList(gpu);
    product.record(list, product.bind(matrix, xq, gpu.upload('params', new Float32Array(4)), h), nTokens);
    await list.run({ position: 0, nTokens });
    const read = await gpu.read(h);
    expect(gpu.failure).toBeNull();
    const [q, d] = [new Int8Array(read), new Float32Array(read, nTokens * intermediate)];
    for (const [t, { q: bytes, d: scales }] of x.entries()) {
      const seen = Float32Array.from(bytes, (each, i) => each * scales[Math.floor(i / 32)]);
      const y = linear(seen, values, null);
      for (let i = 0; i < intermediate; i++) {
        const at = t * intermediate + i;
        const scale = d[Math.floor(at / 32)];
        const expected = (y[2 * i] / (1 + Math.exp(-y[2 * i]))) * y[2 * i + 1];
        expect(Math.abs(q[at] * scale - expected), `token ${t}, value ${i}`).toBeLessThan(0.501 * scale);
      }
    }
  });
});

test('every plan has whole pairs, and fits the workgroup memory that any device has', () => {
  for (const rows of [2, 64, 2048, 3072, 16384, 128256])
    for (const cols of [32, 96, 576, 2048, 4096, 14336])
      for (const input of ['f32', 'q8'] as const)
        for (const finishRows of [undefined, 64])
          for (const isSoftware of [false, true]) {
            const plan = planFew({ rows, cols, input, normEps: 1e-5, finishRows }, isSoftware);
            const { PAIRS, WORKGROUP, LANES, AT_ONCE, staged } = plan;
            const groups = WORKGROUP / LANES;
            const squares = input === 'f32' ? groups * 4 : 0;
            const x = staged ? 8 * LANES * 40 : 0;
            const bytes = AT_ONCE * (LANES + 1) * (groups * PAIRS * 8 + squares) + x + (finishRows ? 1024 : 0);
            expect(bytes, `${rows}x${cols} ${input} ${JSON.stringify(plan)}`).toBeLessThanOrEqual(16384);
            expect(WORKGROUP).toBeLessThanOrEqual(256);
            expect(groups).toBeGreaterThanOrEqual(1);
            if (staged) expect(WORKGROUP).toBe(8 * LANES); // a block of x a thread and trip
            if (finishRows) expect((groups * PAIRS * 2) % finishRows).toBe(0);
          }
});

test('lanes fill a large GPU: many share a short row of few, and each has two pairs of many', () => {
  const plan = (rows: number, cols: number) => {
    const { PAIRS, LANES, WORKGROUP } = planFew({ rows, cols, input: 'q8', normEps: null }, false);
    return [PAIRS, LANES, WORKGROUP];
  };
  expect(plan(2048, 8192)).toEqual([1, 64, 128]);
  expect(plan(2048, 2048)).toEqual([1, 32, 128]);
  expect(plan(3072, 2048)).toEqual([1, 32, 128]);
  expect(plan(128256, 2048)).toEqual([2, 8, 64]);
});

test('weights without integers are refused', async () => {
  const shape: LinearShape = { rows: 2, cols: 32, format: 'f16', normEps: null, bias: false };
  const gpu = await testGpu();
  expect(() => createMatmulFew(gpu, shape, residualEpilogue(1), 'q8')).toThrow('f16 have no integers');
});
