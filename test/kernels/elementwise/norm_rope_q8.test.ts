// norm_rope into a cache of signed bytes: each number is off by half a scale at most, the scale is that of the largest,
// and rows that are zero or not finite stay so.

import { describe, expect, test } from 'vitest';
import { kvLayerBytes, kvPlanes } from '../../../src/attention/kv_layout';
import { CommandList } from '../../../src/gpu/kernel';
import { createNormRope, type NormRopeShape } from '../../../src/kernels/elementwise/norm_rope';
import { assertClose } from '../../close';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { readFloats } from '../matrix';

const CONTEXT = 7;
const SHAPE = { nHeads: 4, nKvHeads: 2, contextLength: CONTEXT, kvType: 'q8', normEps: 1e-6 } as const;

interface Ran {
  q: Float32Array;
  /** The numbers of each row, and its scale. */
  k: { values: Int8Array; scale: number }[];
  v: { values: Int8Array; scale: number }[];
}

/** Turns the rows of y by a quarter where `rotary` is set: (a, b) becomes (-b, a). */
async function run(
  y: Float32Array<ArrayBuffer>,
  position: number,
  { headDim, ...shape }: Pick<NormRopeShape, 'headDim' | 'norm' | 'rotary'>,
  without: (typeof PATHS)[number],
): Promise<Ran> {
  const gpu = await testGpu(without);
  const { nHeads, nKvHeads } = SHAPE;
  const nTokens = y.length / ((nHeads + 2 * nKvHeads) * headDim);
  const kernel = await createNormRope(gpu, { ...SHAPE, ...shape, headDim });
  const layout = { ...SHAPE, headDim };
  const cache = () => gpu.upload('cache', new Uint8Array(kvLayerBytes(layout, CONTEXT)).fill(7));
  const [k, v, q] = [cache(), cache(), gpu.upload('q', new Float32Array(nTokens * nHeads * headDim))];
  const quarter = Float32Array.from({ length: CONTEXT * headDim }, (_, i) => i % 2);
  const ones = new Float32Array(2 * headDim).fill(1);
  const buffers = [gpu.upload('y', y), gpu.upload('w', ones), gpu.upload('rope', quarter)] as const;
  const list = new CommandList(gpu);
  kernel.record(list, kernel.bind(...buffers, q, k, v), nTokens);
  await list.run({ position, nTokens });
  const [rows, scales] = kvPlanes(layout, CONTEXT);
  const read = async (buffer: GPUBuffer) => {
    const bytes = await gpu.read(buffer);
    return Array.from({ length: nKvHeads * CONTEXT }, (_, row) => ({
      values: new Int8Array(bytes, row * rows.rowBytes, headDim),
      scale: new Float32Array(bytes, scales.offset + row * scales.rowBytes, 1)[0],
    }));
  };
  expect(gpu.failure).toBeNull();
  return { q: await readFloats(gpu, q, nTokens * nHeads * headDim), k: await read(k), v: await read(v) };
}

const quarterTurn = (row: Float32Array) => row.map((_, i) => (i % 2 === 0 ? -row[i + 1] : row[i - 1]));
const normed = (row: Float32Array) => {
  const rstd = 1 / Math.sqrt(row.reduce((sum, x) => sum + x * x, 0) / row.length + SHAPE.normEps);
  return row.map((x) => x * rstd);
};

/** Every number within half a scale, and the largest as it was. */
function expectKept({ values, scale }: Ran['k'][number], want: Float32Array): void {
  const largest = want.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  expect(Math.abs((127 * scale) / largest - 1)).toBeLessThan(1e-5);
  for (const [i, x] of want.entries()) expect(Math.abs(values[i] * scale - x)).toBeLessThan(0.5001 * scale);
}

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const { headDim, norm, rotary } of [
      { headDim: 136, norm: 'none', rotary: true },
      { headDim: 8, norm: 'none', rotary: false },
      { headDim: 40, norm: 'heads', rotary: true },
    ] as const) {
      test(`heads of ${headDim}, norm ${norm}, ${rotary ? 'turned' : 'not turned'}: 3 tokens at 2`, async () => {
        const heads = SHAPE.nHeads + 2 * SHAPE.nKvHeads;
        const y = randomArray(3 * heads * headDim, headDim, 3);
        const ran = await run(y, 2, { headDim, norm, rotary }, without);
        const turn = (row: Float32Array) => (rotary ? quarterTurn(row) : row);
        const norms = (row: Float32Array) => (norm === 'heads' ? normed(row) : row);
        for (let token = 0; token < 3; token++) {
          const head = (h: number) => y.slice((token * heads + h) * headDim, (token * heads + h + 1) * headDim);
          for (let h = 0; h < SHAPE.nHeads; h++) {
            const at = (token * SHAPE.nHeads + h) * headDim;
            assertClose(ran.q.subarray(at, at + headDim), turn(norms(head(h))), 1e-5);
          }
          for (let h = 0; h < SHAPE.nKvHeads; h++) {
            const row = h * CONTEXT + 2 + token;
            expectKept(ran.k[row], turn(norms(head(SHAPE.nHeads + h))));
            expectKept(ran.v[row], head(SHAPE.nHeads + SHAPE.nKvHeads + h));
          }
        }
        const untouched = [0, 1, 5, 6, CONTEXT, CONTEXT + 1, CONTEXT + 5, CONTEXT + 6];
        for (const { values, scale } of untouched.flatMap((row) => [ran.k[row], ran.v[row]])) {
          expect(values.every((value) => value === 7)).toBe(true);
          expect(scale).toBe(new Float32Array(Uint8Array.of(7, 7, 7, 7).buffer)[0]);
        }
      });
    }

    test('a row of zeros is zero, one with a NaN or an infinity is a NaN, and no other row is', async () => {
      const headDim = 8;
      const y = randomArray(8 * headDim, 5);
      y.fill(0, 4 * headDim, 5 * headDim); // k of head 0
      y.fill(1e-35, 5 * headDim, 6 * headDim); // k of head 1
      y[6 * headDim + 3] = Number.NaN; // v of head 0
      y[7 * headDim + 7] = Number.NEGATIVE_INFINITY; // v of head 1
      const { k, v } = await run(y, 6, { headDim, norm: 'none', rotary: false }, without);
      for (const { values, scale } of [k[6], k[13]]) expect([scale, ...values]).toEqual(Array(9).fill(0));
      expect([v[6].scale, v[13].scale]).toEqual([Number.NaN, Number.NaN]);
      y.set(randomArray(headDim, 6), 6 * headDim);
      const sound = await run(y, 6, { headDim, norm: 'none', rotary: false }, without);
      expect([sound.v[6].scale > 0, sound.v[13].scale]).toEqual([true, Number.NaN]);
    });
  });
}
