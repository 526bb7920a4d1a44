// The product of a few tokens against the textbook, at the edges of its tokens, rows and lanes; and each token alone.

import { describe, expect, test } from 'vitest';
import { linear } from '../../../src/cpu/linear';
import { quantizeActivations } from '../../../src/cpu/quantize_activations';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { createQuantizeActivations, xqBytes } from '../../../src/kernels/elementwise/quantize_activations';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import type { LinearShape } from '../../../src/kernels/linear/linear';
import { createMatmulFew } from '../../../src/kernels/linear/matmul_few';
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

const all = (nTokens: number) => Array.from({ length: nTokens }, (_, t) => t);
const flat = (rows: readonly ArrayLike<number>[]) => Float32Array.from(rows.flatMap((row) => Array.from(row)));

describe.each([
  ['f32', 'f16', 65, 96, { normEps: 1e-5, bias: true }],
  ['f32', 'q4', 66, 160, { normEps: 1e-5, parts: rowParts(66, 64) }],
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
  ['as in software', testGpu, []],
  ['without subgroups and immediates', hardwareGpu, PATHS[1]],
] as const)('5 tokens, %s', async (_, gpuOf, without) => {
  const shape: LinearShape = { rows: 37, cols: 224, format: 'q8', normEps: null, bias: true };
  const { found, textbook } = await products(await gpuOf(without), shape, 'q8', 5, [all(5)]);
  assertClose(found[0], flat(textbook), 1e-5);
});

test('weights without integers are refused', async () => {
  const shape: LinearShape = { rows: 2, cols: 32, format: 'f16', normEps: null, bias: false };
  const gpu = await testGpu();
  expect(() => createMatmulFew(gpu, shape, residualEpilogue(1), 'q8')).toThrow('f16 have no integers');
});
