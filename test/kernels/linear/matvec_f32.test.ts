// The products of one token in f32 whose x is staged, or whose weights are placed in the mantissa, against the plain
// ones and the textbook.

import { describe, expect, test } from 'vitest';
import { linear } from '../../../src/cpu/linear';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { STORE } from '../../../src/kernels/linear/epilogues/store';
import { createMatvec } from '../../../src/kernels/linear/matvec';
import type { MatvecParameters } from '../../../src/kernels/linear/matvec_plan';
import type { WeightFormat, WeightMatrix } from '../../../src/kernels/linear/weight_format';
import { assertClose } from '../../close';
import { hardwareGpu, PATHS, pathName } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { randomMatrix, readFloats } from '../matrix';

const EPS = 1e-5;
/** Rows of a group, and turns: slots of one block and of several. */
const SHARES = [
  [2, 2],
  [4, 1],
] as const;
const PLACED_FORMATS = ['q4', 'q8'] as const;
const PLAIN = { WORKGROUP: 64, LANES: 4, SLOTS: 4 };

interface Case {
  gpu: Gpu;
  matrix: WeightMatrix;
  format: WeightFormat;
  x: Float32Array<ArrayBuffer>;
  norm: Float32Array<ArrayBuffer> | null;
}

async function productOf({ gpu, matrix, format, x, norm }: Case, given?: MatvecParameters): Promise<Float32Array> {
  const { rows, cols } = matrix;
  const shape = { rows, cols, format, normEps: norm && EPS, bias: false };
  const product = await createMatvec(gpu, shape, STORE, 'f32', given);
  const y = gpu.upload('y', new Float32Array(rows + 4).fill(-7));
  const list = new CommandList(gpu);
  const groups = product.bind(matrix, gpu.upload('x', x), gpu.upload('params', norm ?? new Float32Array(4)), y);
  product.record(list, groups, 1);
  list.run({ position: 0, nTokens: 1 });
  const all = await readFloats(gpu, y, rows + 4);
  expect([...all.subarray(rows)]).toEqual(Array(4).fill(-7)); // nothing past the end
  expect(gpu.failure).toBeNull();
  return all.subarray(0, rows);
}

/** One block; an odd number of them; the last trip not full. */
const SIZES = [
  [2, 32, true],
  [65, 96, false],
  [67, 1056, true],
  [67, 1056, false],
] as const;

for (const [pathNumber, without] of PATHS.entries()) {
  describe(pathName(without), () => {
    for (const [sizeNumber, [rows, cols, isNormed]] of SIZES.entries()) {
      const operands = async (format: WeightFormat) => {
        const gpu = await hardwareGpu(without);
        const { matrix, values } = await randomMatrix(gpu, format, rows, cols, 3 * rows + cols);
        const x = randomArray(cols, 11, 2);
        const norm = isNormed ? randomArray(cols, 12).map((w) => w + 1) : null;
        return { values, given: { gpu, matrix, format, x, norm } };
      };
      const name = `${rows}x${cols}${isNormed ? ', normed' : ''}`;

      for (const [formatNumber, format] of (['q4', 'f16'] as const).entries()) {
        // Compiling takes all of the time. Each share meets each two of path, size and format, but not each three.
        const [GROUP_ROWS, TURNS] = SHARES[(pathNumber + sizeNumber + formatNumber) % SHARES.length];
        const share = `${GROUP_ROWS} rows and ${TURNS} turns`;
        test(`staged x gives the very bits of x that is read, ${format}, ${name}, ${share}`, async () => {
          const { given } = await operands(format);
          const parameters = { ...PLAIN, GROUP_ROWS, TURNS };
          expect(await productOf(given, { ...parameters, STAGED_X: 1 })).toEqual(await productOf(given, parameters));
        });
      }

      for (const format of PLACED_FORMATS) {
        test(`placed weights differ from plain ones by the order of sums alone, ${format}, ${name}`, async () => {
          const { given, values } = await operands(format);
          const { x, norm } = given;
          const n = norm ? rmsNorm(x, norm, EPS) : x;
          const plain = await productOf(given, { ...PLAIN, GROUP_ROWS: 4, TURNS: 1 });
          const placed = { ...PLAIN, PLACED_WEIGHTS: 1 } as const;
          for (const parameters of [
            { ...placed, GROUP_ROWS: 4, TURNS: 1 },
            { ...placed, GROUP_ROWS: 2, TURNS: 2, STAGED_X: 1 } as const,
          ]) {
            const y = await productOf(given, parameters);
            assertClose(y, linear(n, values, null), 1e-6);
            for (let row = 0; row < rows; row++) {
              const size = n.reduce((sum, v, j) => sum + Math.abs(v * values[row * cols + j]), 0);
              expect(Math.abs(y[row] - plain[row])).toBeLessThanOrEqual(2 ** -22 * size); // an ulp of the sum
            }
          }
        });
      }
    }

    // x of one power of two leaves a product of it, which is exact: every place of a word, many values in each.
    for (const format of PLACED_FORMATS) {
      test(`each of 32 weights of a block is the textbook's to the bit, ${format}`, async () => {
        const gpu = await hardwareGpu(without);
        const rows = 256;
        const { matrix, values } = await randomMatrix(gpu, format, rows, 32, 5);
        for (let j = 0; j < 32; j++) {
          const x = new Float32Array(32);
          x[j] = 2;
          const given = { gpu, matrix, format, x, norm: null };
          const y = await productOf(given, { ...PLAIN, GROUP_ROWS: 4, TURNS: 1, PLACED_WEIGHTS: 1 });
          expect(y).toEqual(Float32Array.from({ length: rows }, (_, row) => 2 * values[row * 32 + j]));
        }
      });
    }
  });
}

test('formats without integers of a few bits, and x in bytes, are refused', async () => {
  const gpu = await hardwareGpu([]);
  const shape = { rows: 64, cols: 64, format: 'q4', normEps: null, bias: false } as const;
  const given = { ...PLAIN, GROUP_ROWS: 4, TURNS: 1, PLACED_WEIGHTS: 1 } as const;
  await expect((async () => createMatvec(gpu, { ...shape, format: 'f16' }, STORE, 'f32', given))()).rejects.toThrow(
    'weights in f16 do not fit into a mantissa',
  );
  await expect((async () => createMatvec(gpu, shape, STORE, 'to_q8', given))()).rejects.toThrow(
    'the activations are not in f32',
  );
});
