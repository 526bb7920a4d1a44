// Products of one token on quantized activations against the textbook: quantized in the kernel, or before. Parts of
// attention are merged here in f32, too.

import { describe, expect, test } from 'vitest';
import { dequantize } from '../../src/cpu/dequantize';
import { linear } from '../../src/cpu/linear';
import { linearQ8, quantizeActivations } from '../../src/cpu/quantize_activations';
import { rmsNorm } from '../../src/cpu/rms_norm';
import { GPU_COPY_DST, GPU_UNIFORM, type Gpu } from '../../src/gpu/device';
import { CommandList } from '../../src/gpu/kernel';
import { xqBytes } from '../../src/kernels/elementwise/quantize_activations';
import { gateUpQ8Epilogue } from '../../src/kernels/linear/epilogues/gate_up_q8';
import { headEpilogue } from '../../src/kernels/linear/epilogues/head';
import { residualEpilogue } from '../../src/kernels/linear/epilogues/residual';
import type { Linear } from '../../src/kernels/linear/linear';
import { createMatvec } from '../../src/kernels/linear/matvec';
import { assertClose } from '../close';
import { hardwareGpu, PATHS, pathName } from '../gpu/test_device';
import { randomArray } from '../random';
import { randomFileBytes } from './file_bytes';
import { randomMatrix, readFloats } from './matrix';

const GATE_UP_Q8 = gateUpQ8Epilogue('silu');
const HEAD = headEpilogue(1, null);
const RESIDUAL = residualEpilogue(1);

const EPS = 1e-5;
const STORED = { q4: 'Q4_0', q8: 'Q8_0' } as const;

async function matrixOf(gpu: Gpu, format: 'q4' | 'q8', rows: number, cols: number) {
  const seed = rows * 7 + cols;
  const { matrix } = await randomMatrix(gpu, format, rows, cols, seed);
  return { matrix, bytes: randomFileBytes(format, rows * cols, seed) };
}

function run(gpu: Gpu, product: Linear, groups: readonly GPUBindGroup[], nTokens = 1): void {
  const list = new CommandList(gpu);
  product.record(list, groups, nTokens);
  list.run({ position: 0, nTokens });
}

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const format of ['q4', 'q8'] as const) {
      for (const [rows, cols] of [
        [65, 96],
        [64, 1056],
      ]) {
        test(`residual adds W x + bias, ${format}, x quantized on the way, ${rows}x${cols}`, async () => {
          const gpu = await hardwareGpu(without);
          const { matrix, bytes } = await matrixOf(gpu, format, rows, cols);
          const [x, bias, before] = [randomArray(cols, 11, 2), randomArray(rows, 13), randomArray(rows, 14)];
          x.fill(0, 32, 64); // a block of zeros
          const shape = { rows, cols, format, normEps: null, bias: true };
          const product = await createMatvec(gpu, shape, RESIDUAL, 'to_q8');
          const params = gpu.upload('params', new Float32Array([...bias, 0, 0, 0]));
          const residual = gpu.upload('residual', before);
          run(gpu, product, product.bind(matrix, gpu.upload('x', x), params, residual));
          const y = linearQ8(quantizeActivations(x), STORED[format], bytes, bias);
          assertClose(
            await readFloats(gpu, residual, rows),
            y.map((v, i) => v + before[i]),
            1e-5,
          );
          expect(gpu.failure).toBeNull();
        });
      }

      test(`residual adds W x, ${format}, x quantized already, 65x224`, async () => {
        const gpu = await hardwareGpu(without);
        const [rows, cols] = [65, 224];
        const { matrix, bytes } = await matrixOf(gpu, format, rows, cols);
        const quantized = quantizeActivations(randomArray(cols, 11, 2));
        const xq = new Uint8Array(xqBytes(1, cols));
        xq.set(new Uint8Array(quantized.q.buffer));
        xq.set(new Uint8Array(quantized.d.buffer), cols);
        const product = await createMatvec(gpu, { rows, cols, format, normEps: null, bias: false }, RESIDUAL, 'q8');
        const residual = gpu.upload('residual', new Float32Array(rows));
        const params = gpu.upload('params', new Float32Array(4));
        run(gpu, product, product.bind(matrix, gpu.upload('xq', xq), params, residual));
        assertClose(await readFloats(gpu, residual, rows), linearQ8(quantized, STORED[format], bytes, null), 1e-5);
      });
    }

    for (const [format, cols] of [
      ['q4_1', 96],
      ['q5_1', 224],
      ['q4_k', 256],
      ['q5_k', 768],
      ['q6_k', 768],
    ] as const) {
      test(`residual adds W x, ${format}, x quantized on the way, 67x${cols}`, async () => {
        const gpu = await hardwareGpu(without);
        const rows = 67;
        const { matrix, values } = await randomMatrix(gpu, format, rows, cols, cols);
        const x = randomArray(cols, 11, 2);
        const product = await createMatvec(gpu, { rows, cols, format, normEps: null, bias: false }, RESIDUAL, 'to_q8');
        const residual = gpu.upload('residual', new Float32Array(rows));
        const params = gpu.upload('params', new Float32Array(4));
        run(gpu, product, product.bind(matrix, gpu.upload('x', x), params, residual));
        const { q, d } = quantizeActivations(x);
        const y = linear(
          Float32Array.from(q, (each, i) => each * d[Math.floor(i / 32)]),
          values,
          null,
        );
        assertClose(await readFloats(gpu, residual, rows), y, 1e-5);
        expect(gpu.failure).toBeNull();
      });
    }

    test('head gives the logits of the last of 3 tokens, normed, 259x96', async () => {
      const gpu = await hardwareGpu(without);
      const [rows, cols] = [259, 96];
      const { matrix, bytes } = await matrixOf(gpu, 'q4', rows, cols);
      const [x, norm] = [randomArray(3 * cols, 11, 2), randomArray(cols, 12).map((w) => w + 1)];
      const product = await createMatvec(gpu, { rows, cols, format: 'q4', normEps: EPS, bias: false }, HEAD, 'to_q8');
      const logits = gpu.upload('logits', new Float32Array(rows + 4).fill(-7));
      const maxima = gpu.upload('maxima', new Uint32Array(Math.ceil(rows / 32)));
      run(gpu, product, product.bind(matrix, gpu.upload('x', x), gpu.upload('params', norm), logits, maxima), 3);
      const y = linearQ8(quantizeActivations(rmsNorm(x.subarray(2 * cols), norm, EPS)), 'Q4_0', bytes, null);
      const actual = await readFloats(gpu, logits, rows + 4);
      assertClose(actual.subarray(0, rows), y, 1e-5);
      expect([...actual.subarray(rows)]).toEqual(Array(4).fill(-7)); // nothing past the end
    });

    // What large GPUs run: several blocks of a row in flight, and several turns. A software GPU's defaults have
    // neither.
    for (const [GROUP_ROWS, TURNS] of [
      [1, 2],
      [2, 2],
      [4, 1],
    ]) {
      for (const input of ['to_q8', 'f32'] as const) {
        test(`head, ${input}, ${GROUP_ROWS} rows of 4 slots and ${TURNS} turns, 67x1056`, async () => {
          const gpu = await hardwareGpu(without);
          const [rows, cols] = [67, 1056]; // 33 blocks: the last trip is not full
          const { matrix, bytes } = await matrixOf(gpu, 'q4', rows, cols);
          const [x, norm] = [randomArray(cols, 11, 2), randomArray(cols, 12).map((w) => w + 1)];
          const shape = { rows, cols, format: 'q4' as const, normEps: EPS, bias: false };
          const given = { WORKGROUP: 64, LANES: 4, GROUP_ROWS, SLOTS: 4, TURNS };
          const product = await createMatvec(gpu, shape, HEAD, input, given);
          const logits = gpu.upload('logits', new Float32Array(rows));
          const maxima = gpu.upload('maxima', new Uint32Array(3));
          run(gpu, product, product.bind(matrix, gpu.upload('x', x), gpu.upload('params', norm), logits, maxima));
          const n = rmsNorm(x, norm, EPS);
          const y =
            input === 'f32'
              ? linear(n, dequantize('Q4_0', bytes), null)
              : linearQ8(quantizeActivations(n), 'Q4_0', bytes, null);
          assertClose(await readFloats(gpu, logits, rows), y, 1e-5);
        });
      }
    }

    for (const [count, input] of [
      [1, 'parts_to_q8'],
      [5, 'parts_to_q8'],
      [8, 'parts_to_q8'],
      [1, 'parts'],
      [7, 'parts'],
    ] as const) {
      test(`residual adds W x, x merged from ${count} parts of attention, 65x96, ${input}`, async () => {
        const gpu = await hardwareGpu(without);
        const [rows, cols, headDim] = [65, 96, 32];
        const { matrix, bytes } = await matrixOf(gpu, 'q4', rows, cols);
        const nHeads = cols / headDim;
        const [o, m, l] = [
          randomArray(nHeads * count * headDim, 21, 2),
          randomArray(nHeads * count, 22, 9),
          randomArray(nHeads * count, 23),
        ];
        const ml = Float32Array.from({ length: 2 * m.length }, (_, i) =>
          i % 2 === 0 ? m[i >> 1] : Math.abs(l[i >> 1]) + 0.1,
        );
        const x = mergeOnCpu(o, ml, nHeads, count, headDim);
        const epilogue = { ...RESIDUAL, constants: { ...RESIDUAL.constants, HEAD_DIM: headDim } };
        const shape = { rows, cols, format: 'q4' as const, normEps: null, bias: false };
        const product = await createMatvec(gpu, shape, epilogue, input);
        const splits = gpu.createBuffer('splits', 16, GPU_UNIFORM | GPU_COPY_DST);
        gpu.write(splits, Uint32Array.of(count));
        const residual = gpu.upload('residual', new Float32Array(rows));
        const parts = [gpu.upload('ml', ml), splits];
        run(
          gpu,
          product,
          product.bind(matrix, gpu.upload('o', o), gpu.upload('params', new Float32Array(4)), residual, ...parts),
        );
        const [y, most] =
          input === 'parts'
            ? [linear(x, dequantize('Q4_0', bytes), null), 1e-5]
            : [linearQ8(quantizeActivations(x), 'Q4_0', bytes, null), 1e-4];
        assertClose(await readFloats(gpu, residual, rows), y, most);
        expect(gpu.failure).toBeNull();
      });
    }

    for (const [intermediate, input] of [
      [32, 'to_q8'],
      [160, 'to_q8'],
      [32, 'f32'], // of a matrix without integers
    ] as const) {
      test(`gate_up_q8 is silu(gate) * up in signed bytes, 2x${intermediate} rows, ${input}`, async () => {
        const gpu = await hardwareGpu(without);
        const [rows, cols] = [2 * intermediate, 64];
        const { matrix, bytes } = await matrixOf(gpu, 'q8', rows, cols);
        const [x, norm] = [randomArray(cols, 11, 2), randomArray(cols, 12).map((w) => w + 1)];
        const bias = randomArray(rows, 13);
        const shape = { rows, cols, format: 'q8' as const, normEps: EPS, bias: true };
        const product = await createMatvec(gpu, shape, GATE_UP_Q8, input);
        const words = xqBytes(1, intermediate) / 4;
        const h = gpu.upload('h', new Uint32Array(words + 4).fill(7));
        run(
          gpu,
          product,
          product.bind(matrix, gpu.upload('x', x), gpu.upload('params', Float32Array.of(...norm, ...bias)), h),
        );
        const n = rmsNorm(x, norm, EPS);
        const y =
          input === 'f32'
            ? linear(n, dequantize('Q8_0', bytes), bias)
            : linearQ8(quantizeActivations(n), 'Q8_0', bytes, bias);
        const expected = Float32Array.from({ length: intermediate }, (_, i) => silu(y[2 * i]) * y[2 * i + 1]);
        const { d } = quantizeActivations(expected);
        const got = await gpu.read(h);
        assertClose(new Float32Array(got, intermediate, d.length), d, 1e-5);
        const q = new Int8Array(got, 0, intermediate);
        const worst = Math.max(...expected.map((v, i) => Math.abs(q[i] - v / d[Math.floor(i / 32)])));
        expect(worst).toBeLessThan(0.501); // the nearest integer, a tie either way by a rounding error
        expect([...new Uint32Array(got, words * 4)]).toEqual([7, 7, 7, 7]); // nothing past the end
        expect(gpu.failure).toBeNull();
      });
    }
  });
}

/** o of each head over all parts: their weights are l 2^(m - the largest m). */
function mergeOnCpu(o: Float32Array, ml: Float32Array, nHeads: number, count: number, headDim: number): Float32Array {
  return Float32Array.from({ length: nHeads * headDim }, (_, i) => {
    const [head, d] = [Math.floor(i / headDim), i % headDim];
    const parts = Array.from({ length: count }, (_, s) => head * count + s);
    const most = Math.max(...parts.map((part) => ml[2 * part]));
    const sum = (value: (part: number) => number) =>
      parts.reduce((total, part) => total + value(part) * 2 ** (ml[2 * part] - most), 0);
    return sum((part) => o[part * headDim + d]) / sum((part) => ml[2 * part + 1]);
  });
}

const silu = (v: number) => v / (1 + Math.exp(-v));
