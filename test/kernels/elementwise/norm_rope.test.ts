// norm_rope against the textbook: norms of single heads and of all at once, turned and not, both formats of the cache.

import { describe, expect, test } from 'vitest';
import { halfToNumber } from '../../../src/cpu/half';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import { CommandList } from '../../../src/gpu/kernel';
import { createNormRope, type NormRopeShape } from '../../../src/kernels/elementwise/norm_rope';
import { assertClose } from '../../close';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { readFloats } from '../matrix';

const EPS = 1e-3; // large enough to be felt
const CONTEXT = 12;

type Case = Pick<NormRopeShape, 'nHeads' | 'nKvHeads' | 'headDim' | 'norm' | 'rotary' | 'kvType'> & {
  nTokens: number;
  position: number;
};

const CASES: Case[] = [
  { nHeads: 3, nKvHeads: 1, headDim: 8, norm: 'heads', rotary: true, kvType: 'f32', nTokens: 1, position: 11 },
  { nHeads: 4, nKvHeads: 2, headDim: 136, norm: 'heads', rotary: true, kvType: 'f16', nTokens: 3, position: 2 },
  { nHeads: 4, nKvHeads: 2, headDim: 40, norm: 'vector', rotary: true, kvType: 'f32', nTokens: 5, position: 0 },
  { nHeads: 2, nKvHeads: 2, headDim: 256, norm: 'vector', rotary: false, kvType: 'f32', nTokens: 2, position: 1 },
];

/** Normalizes each run of `size` by its own weights, or by those of its place in the vector. */
function normed(x: Float32Array, weight: Float32Array, size: number): Float32Array {
  const out = new Float32Array(x.length);
  for (let i = 0; i < x.length; i += size) {
    const own = weight.length === size ? weight : weight.subarray(i, i + size);
    out.set(rmsNorm(x.subarray(i, i + size), own, EPS), i);
  }
  return out;
}

/** Neighbors turn together. */
function turned(x: Float32Array, angles: Float32Array, headDim: number): Float32Array {
  return x.map((_, i) => {
    const even = i - (i % 2);
    const j = even % headDim;
    const [cos, sin] = [angles[j], angles[j + 1]];
    return i % 2 === 0 ? x[even] * cos - x[even + 1] * sin : x[even + 1] * cos + x[even] * sin;
  });
}

const halves = (buffer: ArrayBuffer) => Float32Array.from(new Uint16Array(buffer), halfToNumber);

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const c of CASES) {
      const { nHeads, nKvHeads, headDim, norm, rotary, kvType, nTokens, position } = c;
      const name = `${nHeads} heads and ${nKvHeads} of ${headDim}, norm of ${norm}, ${rotary ? 'turned' : 'not turned'}`;
      test(`${name}, ${kvType} cache, ${nTokens} tokens at ${position}`, async () => {
        const gpu = await testGpu(without);
        const [qSize, kvSize] = [nHeads * headDim, nKvHeads * headDim];
        const rows = qSize + 2 * kvSize;
        const y = randomArray(nTokens * rows, 1, 2);
        const sizes = norm === 'heads' ? [headDim, headDim] : [qSize, kvSize];
        const weight = randomArray(sizes[0] + sizes[1], 2).map((w) => w + 1);
        const table = randomArray(CONTEXT * headDim, 3);
        const elementBytes = kvType === 'f32' ? 4 : 2;
        const cache = () => gpu.upload('cache', new Uint8Array(kvSize * CONTEXT * elementBytes));
        const [k, v, q] = [cache(), cache(), gpu.upload('q', new Float32Array(nTokens * qSize))];
        const shape = { nHeads, nKvHeads, headDim, norm, rotary, kvType, normEps: EPS, contextLength: CONTEXT };
        const kernel = await createNormRope(gpu, shape);
        const [yBuffer, weights, rope] = [gpu.upload('y', y), gpu.upload('w', weight), gpu.upload('rope', table)];
        const list = new CommandList(gpu);
        kernel.record(list, kernel.bind(yBuffer, weights, rope, q, k, v), nTokens);
        list.run({ position, nTokens });

        const expected = {
          q: [] as number[],
          k: new Float32Array(kvSize * CONTEXT),
          v: new Float32Array(kvSize * CONTEXT),
        };
        for (let t = 0; t < nTokens; t++) {
          const row = y.subarray(t * rows, (t + 1) * rows);
          const angles = table.subarray((position + t) * headDim, (position + t + 1) * headDim);
          const turn = (x: Float32Array) => (rotary ? turned(x, angles, headDim) : x);
          const qRow = turn(normed(row.subarray(0, qSize), weight.subarray(0, sizes[0]), sizes[0]));
          const kRow = turn(normed(row.subarray(qSize, qSize + kvSize), weight.subarray(sizes[0]), sizes[1]));
          expected.q.push(...qRow);
          for (let head = 0; head < nKvHeads; head++) {
            const at = (head * CONTEXT + position + t) * headDim;
            expected.k.set(kRow.subarray(head * headDim, (head + 1) * headDim), at);
            const from = qSize + kvSize + head * headDim;
            expected.v.set(row.subarray(from, from + headDim), at);
          }
        }
        const read = async (buffer: GPUBuffer) =>
          kvType === 'f32' ? readFloats(gpu, buffer, kvSize * CONTEXT) : halves(await gpu.read(buffer));
        const bound = kvType === 'f32' ? 1e-5 : 1e-3;
        assertClose(await readFloats(gpu, q, nTokens * qSize), expected.q, 1e-5);
        assertClose(await read(k), expected.k, bound); // zero wherever nothing was to be written
        assertClose(await read(v), expected.v, bound);
        expect(gpu.failure).toBeNull();
      });
    }
  });
}

test('values past the largest half are the largest half, never an infinity', async () => {
  const gpu = await testGpu();
  const { nHeads, nKvHeads, headDim, kvType, ...rest } = CASES[1]; // a kernel that is there already
  const shape = { nHeads, nKvHeads, headDim, kvType, norm: rest.norm, rotary: rest.rotary };
  const y = new Float32Array((nHeads + 2 * nKvHeads) * headDim);
  const v0 = (nHeads + nKvHeads) * headDim;
  y.set([65504, 65520, -65520, 3e38, -3e38, 0.5], v0);
  const weight = new Float32Array(2 * headDim).fill(1e6); // of normed keys: some are past it, too
  y.fill(1, nHeads * headDim, v0);
  const cache = () => gpu.upload('cache', new Uint8Array(2 * nKvHeads * headDim * CONTEXT));
  const [k, v, q] = [cache(), cache(), gpu.upload('q', new Float32Array(nHeads * headDim))];
  const kernel = await createNormRope(gpu, { ...shape, normEps: EPS, contextLength: CONTEXT });
  const angles = Float32Array.from({ length: CONTEXT * headDim }, (_, i) => (i % 2 === 0 ? 1 : 0));
  const buffers = [gpu.upload('y', y), gpu.upload('w', weight), gpu.upload('rope', angles)] as const;
  const list = new CommandList(gpu);
  kernel.record(list, kernel.bind(...buffers, q, k, v), 1);
  list.run({ position: 0, nTokens: 1 });
  const values = halves(await gpu.read(v, 12));
  expect([...values]).toEqual([65504, 65504, -65504, 65504, -65504, 0.5]);
  expect([...halves(await gpu.read(k, 8))]).toEqual([65504, 65504, 65504, 65504]);
});
