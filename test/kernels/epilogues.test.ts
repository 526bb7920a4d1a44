// What some architectures ask of embed and of the epilogues: GELU, factors, caps, no rotation, a product left as it is.

import { describe, expect, test } from 'vitest';
import { linear } from '../../src/cpu/linear';
import { linearQ8, quantizeActivations } from '../../src/cpu/quantize_activations';
import type { Gpu } from '../../src/gpu/device';
import { CommandList } from '../../src/gpu/kernel';
import { createEmbed } from '../../src/kernels/elementwise/embed';
import { xqBytes } from '../../src/kernels/elementwise/quantize_activations';
import { gateUpEpilogue } from '../../src/kernels/linear/epilogues/gate_up';
import { gateUpQ8Epilogue } from '../../src/kernels/linear/epilogues/gate_up_q8';
import { headEpilogue } from '../../src/kernels/linear/epilogues/head';
import { qkvEpilogue } from '../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../src/kernels/linear/epilogues/residual';
import { STORE } from '../../src/kernels/linear/epilogues/store';
import type { Epilogue } from '../../src/kernels/linear/linear';
import { createMatmul } from '../../src/kernels/linear/matmul';
import { createMatvec } from '../../src/kernels/linear/matvec';
import { assertClose } from '../close';
import { hardwareGpu, PATHS, pathName } from '../gpu/test_device';
import { randomArray } from '../random';
import { randomFileBytes } from './file_bytes';
import { randomMatrix, readFloats } from './matrix';

const COLS = 32;

/** Runs W x with `epilogue` over `nTokens` rows of x, which are `size` large; the textbook's rows of W x. */
async function multiply(
  gpu: Gpu,
  epilogue: Epilogue,
  { rows, nTokens, size = 1 }: { rows: number; nTokens: number; size?: number },
  buffers: GPUBuffer[],
): Promise<Float32Array[]> {
  const { matrix, values } = await randomMatrix(gpu, 'f32', rows, COLS, rows);
  const x = randomArray(nTokens * COLS, 11, size);
  const shape = { rows, cols: COLS, format: 'f32' as const, normEps: null, bias: false };
  const product =
    nTokens === 1 ? await createMatvec(gpu, shape, epilogue, 'f32') : await createMatmul(gpu, shape, epilogue);
  const list = new CommandList(gpu);
  const params = gpu.upload('params', new Float32Array(4));
  product.record(list, product.bind({ parts: matrix.parts }, gpu.upload('x', x), params, ...buffers), nTokens);
  list.run({ position: 0, nTokens });
  return Array.from({ length: nTokens }, (_, t) => linear(x.subarray(t * COLS, (t + 1) * COLS), values, null));
}

const flat = (rows: Float32Array[]) => Float32Array.from(rows.flatMap((row) => [...row]));

/** GELU by tanh (torch.nn.functional.gelu, approximate="tanh"). */
const gelu = (v: number) => 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3)));

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const nTokens of [1, 3]) {
      test(`store leaves the product as it is, ${nTokens} tokens, 65 rows`, async () => {
        const gpu = await hardwareGpu(without);
        const y = gpu.upload('y', new Float32Array(nTokens * 65 + 3).fill(-7));
        const expected = await multiply(gpu, STORE, { rows: 65, nTokens }, [y]);
        const got = await readFloats(gpu, y, nTokens * 65 + 3);
        assertClose(got, [...flat(expected), -7, -7, -7], 1e-5);
        expect(gpu.failure).toBeNull();
      });
    }

    test('residual adds a part of the product', async () => {
      const gpu = await hardwareGpu(without);
      const before = randomArray(64, 3);
      const residual = gpu.upload('residual', before);
      const [y] = await multiply(gpu, residualEpilogue(0.25), { rows: 64, nTokens: 1 }, [residual]);
      assertClose(
        await readFloats(gpu, residual, 64),
        y.map((v, i) => before[i] + 0.25 * v),
        1e-5,
      );
    });

    // Gates to 1e4 and beyond, whose cubes tanh must not see.
    for (const size of [2, 1e15]) {
      test(`gate_up is gelu(gate) * up, gates of about ${size}`, async () => {
        const gpu = await hardwareGpu(without);
        const h = gpu.upload('h', new Float32Array(2 * 32));
        const y = await multiply(gpu, gateUpEpilogue('gelu_tanh'), { rows: 64, nTokens: 2, size }, [h]);
        const expected = y.map((row) => Float32Array.from({ length: 32 }, (_, i) => gelu(row[2 * i]) * row[2 * i + 1]));
        assertClose(await readFloats(gpu, h, 64), flat(expected), 1e-5);
      });
    }

    test('gate_up_q8 is gelu(gate) * up in signed bytes', async () => {
      const gpu = await hardwareGpu(without);
      const h = gpu.upload('h', new Uint32Array(xqBytes(1, 32) / 4));
      const [{ matrix }, bytes] = [await randomMatrix(gpu, 'q8', 64, COLS, 5), randomFileBytes('q8', 64 * COLS, 5)];
      const x = randomArray(COLS, 11, 2);
      const shape = { rows: 64, cols: COLS, format: 'q8' as const, normEps: null, bias: false };
      const product = await createMatvec(gpu, shape, gateUpQ8Epilogue('gelu_tanh'), 'to_q8');
      const list = new CommandList(gpu);
      const params = gpu.upload('params', new Float32Array(4));
      product.record(list, product.bind(matrix, gpu.upload('x', x), params, h), 1);
      list.run({ position: 0, nTokens: 1 });
      const y = linearQ8(quantizeActivations(x), 'Q8_0', bytes, null);
      const expected = Float32Array.from({ length: 32 }, (_, i) => gelu(y[2 * i]) * y[2 * i + 1]);
      const read = await gpu.read(h);
      const [d] = new Float32Array(read, 32, 1);
      const got = Float32Array.from(new Int8Array(read, 0, 32), (q) => q * d);
      expect(Math.max(...got.map((v, i) => Math.abs(v - expected[i])))).toBeLessThan(0.501 * d);
    });

    for (const [scale, cap, size] of [
      [0.25, null, 1],
      [2, 3, 1],
      [1, 30, 1e6],
    ] as const) {
      test(`head scales by ${scale}, then caps at ${cap}, inputs of about ${size}`, async () => {
        const gpu = await hardwareGpu(without);
        const logits = gpu.upload('logits', new Float32Array(36));
        const maxima = gpu.upload('maxima', new Uint32Array(4));
        const [y] = await multiply(gpu, headEpilogue(scale, cap), { rows: 33, nTokens: 1, size }, [logits, maxima]);
        const expected = y.map((v) => (cap === null ? scale * v : cap * Math.tanh((scale * v) / cap)));
        const got = await readFloats(gpu, logits, 33);
        assertClose(got, expected, 1e-5);
        const keys = new Uint32Array(await gpu.read(maxima));
        expect([...keys.subarray(0, 2)]).toEqual([keyOf(Math.max(...got.subarray(0, 32))), keyOf(got[32])]);
      });
    }

    test('head finds the largest of 32 logits in every pair of rows', async () => {
      const gpu = await hardwareGpu(without);
      const rows = 4096;
      const logits = gpu.upload('logits', new Float32Array(rows));
      const maxima = gpu.upload('maxima', new Uint32Array(rows / 32));
      await multiply(gpu, headEpilogue(1, null), { rows, nTokens: 1 }, [logits, maxima]);
      const got = await readFloats(gpu, logits, rows);
      const groups = Array.from({ length: rows / 32 }, (_, i) => [...got.subarray(32 * i, 32 * i + 32)]);
      expect([...new Uint32Array(await gpu.read(maxima))]).toEqual(groups.map((group) => keyOf(Math.max(...group))));
      const pairs = groups.map((group) => Math.floor(group.indexOf(Math.max(...group)) / 2));
      expect(new Set(pairs).size).toBe(16);
    });

    test('qkv without RoPE leaves q and k as they are', async () => {
      const gpu = await hardwareGpu(without);
      const shape = { nHeads: 2, nKvHeads: 1, headDim: 16, contextLength: 4, kvType: 'f32' as const };
      const [rope, q] = [gpu.upload('rope', new Float32Array(4)), gpu.upload('q', new Float32Array(32))];
      const [k, v] = [gpu.upload('k', new Float32Array(64)), gpu.upload('v', new Float32Array(64))];
      const [y] = await multiply(gpu, qkvEpilogue(shape, false), { rows: 64, nTokens: 1 }, [rope, q, k, v]);
      const got = await Promise.all([q, k, v].map((buffer, i) => readFloats(gpu, buffer, i === 0 ? 32 : 16)));
      assertClose(flat(got), y, 1e-5);
    });
  });
}

test('embed multiplies by its factor', async () => {
  const gpu = await hardwareGpu();
  const { matrix, values } = await randomMatrix(gpu, 'q8', 5, 64, 1);
  const embed = await createEmbed(gpu, { vocabSize: 5, hiddenSize: 64, parts: matrix.parts, scale: 8 });
  const [tokens, x] = [gpu.upload('tokens', Uint32Array.of(0, 4)), gpu.upload('x', new Float32Array(64))];
  const list = new CommandList(gpu);
  embed.record(list, embed.bind(matrix, tokens, x), 1);
  list.run({ position: 1, nTokens: 1 });
  assertClose(
    await readFloats(gpu, x, 64),
    values.subarray(4 * 64).map((v) => 8 * v),
    1e-6,
  );
});

/** Ordered as the logits are: see shaders/sampling/logit_key.wgsl. */
function keyOf(logit: number): number {
  const [bits] = new Uint32Array(Float32Array.of(logit).buffer);
  return logit < 0 ? ~bits >>> 0 : (bits | 0x80000000) >>> 0;
}
