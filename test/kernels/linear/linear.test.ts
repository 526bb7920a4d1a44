// The four products of a layer and the head in f32, in both cores (matvec for one token, matmul for many), against the
// textbook.

import { describe, expect, test } from 'vitest';
import { applyRope } from '../../../src/cpu/apply_rope';
import { halfToNumber } from '../../../src/cpu/half';
import { linear } from '../../../src/cpu/linear';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import { ropeTable } from '../../../src/cpu/rope';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import type { CapabilityName } from '../../../src/gpu/limits';
import { gateUpEpilogue } from '../../../src/kernels/linear/epilogues/gate_up';
import { headEpilogue } from '../../../src/kernels/linear/epilogues/head';
import { qkvEpilogue } from '../../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../../src/kernels/linear/epilogues/residual';
import type { Epilogue, Linear, LinearShape } from '../../../src/kernels/linear/linear';
import { createMatmul } from '../../../src/kernels/linear/matmul';
import { createMatvec } from '../../../src/kernels/linear/matvec';
import type { WeightFormat } from '../../../src/kernels/linear/weight_format';
import { assertClose } from '../../close';
import { hardwareGpu, PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { randomMatrix, readFloats } from '../matrix';

const GATE_UP = gateUpEpilogue('silu');
const HEAD = headEpilogue(1, null);
const RESIDUAL = residualEpilogue(1);

const EPS = 1e-5;
const FORMATS: WeightFormat[] = ['f32', 'f16', 'bf16', 'q8', 'q4'];
const TOKENS = [1, 2, 31, 32, 33, 65];

interface Case {
  gpu: Gpu;
  rows: number;
  cols: number;
  nTokens: number;
  normed: boolean;
  biased: boolean;
  format: WeightFormat;
}

/** Random operands on both sides, and the textbook's rows of y for every token. */
async function operands(c: Case) {
  const { gpu, rows, cols, nTokens } = c;
  const { matrix, values } = await randomMatrix(gpu, c.format, rows, cols, rows * 7 + cols);
  const x = randomArray(nTokens * cols, 11, 2);
  const norm = c.normed ? randomArray(cols, 12).map((w) => w + 1) : new Float32Array(0);
  const bias = c.biased ? randomArray(rows, 13) : new Float32Array(0);
  const y = Array.from({ length: nTokens }, (_, t) => {
    const row = x.subarray(t * cols, (t + 1) * cols);
    return linear(c.normed ? rmsNorm(row, norm, EPS) : row, values, c.biased ? bias : null);
  });
  const params = gpu.upload('params', new Float32Array([...norm, ...bias, 0, 0, 0])); // whole quads
  return { matrix, x: gpu.upload('x', x), params, y };
}

const create = (gpu: Gpu, shape: LinearShape, epilogue: Epilogue, nTokens: number): Promise<Linear> =>
  nTokens === 1 ? createMatvec(gpu, shape, epilogue, 'f32') : createMatmul(gpu, shape, epilogue);

function run(gpu: Gpu, product: Linear, groups: readonly GPUBindGroup[], nTokens: number, position = 0): void {
  const list = new CommandList(gpu);
  product.record(list, groups, nTokens);
  list.run({ position, nTokens });
}

// The plain path takes the parameters of a GPU in software, too.
const gpuOf = (without: readonly CapabilityName[]) => (without.length > 0 ? testGpu(without) : hardwareGpu(without));

const flat = (rows: Float32Array[]) => Float32Array.from(rows.flatMap((row) => [...row]));

for (const without of PATHS) {
  // Paths differ in how sums are made and a step is told, not in how a format is read or a result kept: on the plain
  // one, fewer of those.
  const isPlain = without.length > 0;
  describe(pathName(without), () => {
    for (const format of isPlain ? (['q8', 'q4'] as const) : FORMATS) {
      for (const nTokens of format === 'q8' ? TOKENS : [1, 33]) {
        test(`residual adds W x + bias, ${format}, ${nTokens} tokens, 65x96`, async () => {
          const gpu = await gpuOf(without);
          const c: Case = { gpu, rows: 65, cols: 96, nTokens, normed: false, biased: true, format };
          const { matrix, x, params, y } = await operands(c);
          const before = randomArray(nTokens * c.rows, 14);
          const residual = gpu.upload('residual', before);
          const shape = { rows: c.rows, cols: c.cols, format, normEps: null, bias: true };
          const product = await create(gpu, shape, RESIDUAL, nTokens);
          run(gpu, product, product.bind(matrix, x, params, residual), nTokens);
          const expected = flat(y).map((v, i) => v + before[i]);
          assertClose(await readFloats(gpu, residual, expected.length), expected, 1e-5);
          expect(gpu.failure).toBeNull();
        });
      }
    }

    for (const nTokens of TOKENS) {
      test(`gate_up is silu(gate) * up of the normed row, ${nTokens} tokens, 2x63 rows`, async () => {
        const gpu = await gpuOf(without);
        const c: Case = { gpu, rows: 126, cols: 64, nTokens, normed: true, biased: nTokens % 2 === 1, format: 'f16' };
        const { matrix, x, params, y } = await operands(c);
        const h = gpu.upload('h', new Float32Array(nTokens * 63 + 8).fill(-7));
        const product = await create(gpu, { ...c, normEps: EPS, bias: c.biased }, GATE_UP, nTokens);
        run(gpu, product, product.bind(matrix, x, params, h), nTokens);
        const expected = flat(
          y.map((row) => Float32Array.from({ length: 63 }, (_, i) => silu(row[2 * i]) * row[2 * i + 1])),
        );
        const actual = await readFloats(gpu, h, expected.length + 8);
        assertClose(actual.subarray(0, expected.length), expected, 1e-5);
        expect([...actual.subarray(expected.length)]).toEqual(Array(8).fill(-7)); // nothing past the end
      });
    }

    for (const [vocab, cols] of [
      [1, 32],
      [2, 64],
      [259, 96],
      [8193, 32],
      [70001, 32],
    ].filter(([rows]) => !isPlain || rows > 2)) {
      test(`head gives the logits of the last token alone, vocabulary ${vocab}, 3 tokens`, async () => {
        const gpu = await gpuOf(without);
        const c: Case = { gpu, rows: vocab, cols, nTokens: 3, normed: true, biased: false, format: 'q8' };
        const { matrix, x, params, y } = await operands(c);
        const logits = gpu.upload('logits', new Float32Array(vocab + 4).fill(-7));
        const groups = Math.ceil(vocab / 32);
        const maxima = gpu.upload('maxima', new Uint32Array(groups + 4).fill(7));
        const product = await createMatvec(gpu, { ...c, normEps: EPS, bias: false }, HEAD, 'f32');
        run(gpu, product, product.bind(matrix, x, params, logits, maxima), 3);
        const actual = await readFloats(gpu, logits, vocab + 4);
        assertClose(actual.subarray(0, vocab), y[2], 1e-5);
        expect([...actual.subarray(vocab)]).toEqual(Array(4).fill(-7));
        const keys = new Uint32Array(await gpu.read(maxima));
        const largest = Array.from({ length: groups }, (_, g) =>
          Math.max(...actual.subarray(0, vocab).subarray(32 * g, 32 * g + 32)),
        );
        expect([...keys]).toEqual([...Uint32Array.from(largest, keyOf), 7, 7, 7, 7]);
      });
    }

    for (const kvType of isPlain ? (['f32'] as const) : (['f16', 'f32'] as const)) {
      for (const { nTokens, position, cols } of [
        { nTokens: 1, position: 0, cols: 32 },
        { nTokens: 1, position: 39, cols: 1024 },
        { nTokens: 33, position: 5, cols: 64 },
        { nTokens: 40, position: 0, cols: 64 },
      ]) {
        test(`qkv rotates q and k and writes the ${kvType} cache, ${nTokens} tokens at ${position}, ${cols} columns`, async () => {
          const gpu = await gpuOf(without);
          const shape = { nHeads: 3, nKvHeads: 1, headDim: 32, contextLength: 40, kvType };
          const c: Case = { gpu, rows: 5 * 32, cols, nTokens, normed: true, biased: true, format: 'bf16' };
          const { matrix, x, params, y } = await operands(c);
          const table = ropeTable(32, { theta: 10000, scaling: null }, 40);
          const q = gpu.upload('q', new Float32Array(nTokens * 96));
          const poison = new Float32Array(40 * 32).fill(-7);
          const [k, v] = [gpu.upload('k', poison), gpu.upload('v', poison)];
          const linear = { rows: c.rows, cols, format: 'bf16' as const, normEps: EPS, bias: true };
          const product = await create(gpu, linear, qkvEpilogue(shape), nTokens);
          const rope = gpu.upload('rope', table as Float32Array<ArrayBuffer>);
          run(gpu, product, product.bind(matrix, x, params, rope, q, k, v), nTokens, position);

          const rows = y.map((row, t) => {
            const cosSin = table.subarray((position + t) * 32, (position + t + 1) * 32);
            const rotated = row.slice(0, 128);
            applyRope(rotated, cosSin, 32, 'interleaved');
            return { q: rotated.slice(0, 96), k: rotated.slice(96), v: row.slice(128) };
          });
          assertClose(await readFloats(gpu, q, nTokens * 96), flat(rows.map((r) => r.q)), 1e-5);
          for (const [buffer, name] of [
            [k, 'k'],
            [v, 'v'],
          ] as const) {
            const cache =
              kvType === 'f32' ? await readFloats(gpu, buffer, 40 * 32) : halves(await gpu.read(buffer, 40 * 32 * 2));
            const written = cache.subarray(position * 32, (position + nTokens) * 32);
            assertClose(written, flat(rows.map((r) => r[name])), kvType === 'f32' ? 1e-5 : 1e-3);
            // Rows before the position are as they were.
            const untouched = kvType === 'f32' ? poison : halves(poison.buffer.slice(0, 40 * 32 * 2));
            expect([...cache.subarray(0, position * 32)]).toEqual([...untouched.subarray(0, position * 32)]);
          }
        });
      }
    }
  });
}

/** Ordered as the logits are: see shaders/sampling/logit_key.wgsl. */
function keyOf(logit: number): number {
  const [bits] = new Uint32Array(Float32Array.of(logit).buffer);
  return logit < 0 ? ~bits >>> 0 : (bits | 0x80000000) >>> 0;
}

const silu = (v: number) => v / (1 + Math.exp(-v));

function halves(buffer: ArrayBuffer): Float32Array {
  return Float32Array.from(new Uint16Array(buffer), halfToNumber);
}
