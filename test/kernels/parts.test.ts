// Matrices in parts, as where a binding cannot hold them whole: the plan, and every kernel that knows of parts at their
// edges.

import { describe, expect, test } from 'vitest';
import { linear } from '../../src/cpu/linear';
import { CommandList } from '../../src/gpu/kernel';
import { residualEpilogue } from '../../src/kernels/linear/epilogues/residual';
import { createMatmul } from '../../src/kernels/linear/matmul';
import { createMatvec } from '../../src/kernels/linear/matvec';
import { formatRuns, planeBytes, planParts } from '../../src/kernels/linear/weight_format';
import { fileRowBytes } from '../../src/kernels/load/file_types';
import { Repacker } from '../../src/kernels/load/repack';
import { assertClose } from '../close';
import { hardwareGpu, PATHS, pathName } from '../gpu/test_device';
import { randomArray } from '../random';
import { randomFileBytes, STORED } from './file_bytes';
import { emptyMatrix, randomMatrix, readFloats, readRows } from './matrix';

const RESIDUAL = residualEpilogue(1);

describe('the plan of parts', () => {
  const rowBytes = planeBytes('q8', 1, 64).weights;
  const plan = (rows: number, limitRows: number) => planParts('w', 'q8', rows, 64, limitRows * rowBytes);

  test('one part where the binding holds the whole matrix, of any number of rows', () => {
    expect(plan(1, 1)).toEqual([{ row0: 0, rows: 1 }]);
    expect(plan(1000, 1000)).toEqual([{ row0: 0, rows: 1000 }]);
  });

  test('one row too many makes two parts of about the same size', () => {
    expect(plan(1000, 999)).toEqual([
      { row0: 0, rows: 512 },
      { row0: 512, rows: 488 },
    ]);
  });

  for (const [rows, limitRows] of [
    [65, 64],
    [129, 127],
    [128256, 20000],
    [2000, 64],
    [151936, 65536],
  ]) {
    test(`${rows} rows at ${limitRows} a binding: whole, in order, as few as possible`, () => {
      const parts = plan(rows, limitRows);
      expect(parts).toHaveLength(Math.ceil(rows / (Math.floor(limitRows / 64) * 64)));
      let row0 = 0;
      for (const part of parts) {
        expect(part.row0).toBe(row0);
        expect(part.rows).toBeLessThanOrEqual(limitRows);
        if (part !== parts.at(-1)) expect(part.rows).toBe(parts[0].rows);
        row0 += part.rows;
      }
      expect(parts[0].rows % 64).toBe(0);
      expect(row0).toBe(rows);
    });
  }

  test('rows of which 64 do not fit are a typed error with the bytes', () => {
    const error = { code: 'gpu-memory', requestedBytes: 64 * rowBytes, grantedBytes: 63 * rowBytes };
    expect(() => plan(65, 63)).toThrow(expect.objectContaining(error));
  });
});

for (const without of PATHS) {
  for (const nTokens of without.length === 0 ? [1, 33] : [1]) {
    test(`a product of 64 + 64 + 1 rows equals that of the whole matrix, ${nTokens} tokens, ${pathName(without)}`, async () => {
      const gpu = await hardwareGpu(without);
      const [rows, cols, partRows] = [129, 96, 64];
      const { matrix, values } = await randomMatrix(gpu, 'q8', rows, cols, 5, partRows);
      const x = randomArray(nTokens * cols, 11);
      const bias = randomArray(rows, 13);
      const residual = gpu.upload('residual', new Float32Array(nTokens * rows + 8).fill(-7));
      const shape = { rows, cols, format: 'q8' as const, normEps: null, bias: true, parts: matrix.parts };
      const core = nTokens === 1 ? createMatvec(gpu, shape, RESIDUAL, 'f32') : createMatmul(gpu, shape, RESIDUAL);
      const product = await core;
      const params = gpu.upload('params', new Float32Array([...bias, 0, 0, 0]));
      const list = new CommandList(gpu);
      product.record(list, product.bind(matrix, gpu.upload('x', x), params, residual), nTokens);
      expect(list.commands).toHaveLength(3);
      await list.run({ position: 0, nTokens });
      const expected = Array.from({ length: nTokens }, (_, t) => [
        ...linear(x.subarray(t * cols, (t + 1) * cols), values, bias),
      ]);
      const actual = await readFloats(gpu, residual, nTokens * rows + 8);
      const plain = Float32Array.from(expected.flat(), (y) => y - 7);
      assertClose(actual.subarray(0, nTokens * rows), plain, 1e-5);
      expect([...actual.subarray(nTokens * rows)]).toEqual(Array(8).fill(-7)); // nothing past the end
      expect(gpu.failure).toBeNull();
    });
  }
}

test('formats come in runs of neighboring parts; one that begins at an odd row is refused', async () => {
  const gpu = await hardwareGpu();
  const parts = [
    emptyMatrix(gpu, 'q8', 192, 32, 64),
    emptyMatrix(gpu, 'f16', 63, 32),
    emptyMatrix(gpu, 'q8', 2, 32),
  ].flatMap((matrix, i) => matrix.parts.map((part) => ({ ...part, row0: part.row0 + [0, 192, 255][i] })));
  const runs = formatRuns({ rows: 257, cols: 32, parts });
  expect(runs.map(({ format, parts: own }) => [format, own.length])).toEqual([
    ['q8', 3],
    ['f16', 1],
    ['q8', 1],
  ]);
  const shape = { rows: 257, cols: 32, normEps: null, bias: false };
  await expect(createMatvec(gpu, { ...shape, ...runs[2] }, RESIDUAL, 'f32')).rejects.toThrow(
    'begins at row 255, within 2',
  );
});

describe('rows of a file reach the part that they belong to', () => {
  // Parts of 64 rows; heads of 96 and pairs of interleaved rows lie across their edges, and so do chunks of 50 file
  // rows.
  for (const [name, sources, rotaryDim] of [
    [
      'rotary heads of 96, then plain rows',
      [
        [0, 1, 96],
        [96, 1, 96],
        [192, 1, 9],
      ],
      96,
    ],
    [
      'interleaved',
      [
        [0, 2, 90],
        [1, 2, 90],
      ],
      0,
    ],
  ] as const) {
    for (const format of ['f16', 'q4'] as const) {
      test(`${name}, ${format}`, async () => {
        const gpu = await hardwareGpu();
        const cols = 96; // three blocks: scales of neighboring rows share a word
        const rows = sources.reduce((sum, [, , n]) => sum + n, 0);
        const whole = emptyMatrix(gpu, format, rows, cols);
        const parts = emptyMatrix(gpu, format, rows, cols, 64);
        const rowBytes = fileRowBytes(STORED[format], cols);
        const repacker = new Repacker(gpu, 50 * rowBytes);
        for (const [i, [dstRow0, dstStride, n]] of sources.entries()) {
          const bytes = randomFileBytes(format, n * cols, i + 1);
          for (let srcRow0 = 0; srcRow0 < n; srcRow0 += 50) {
            const chunk = bytes.subarray(srcRow0 * rowBytes, (srcRow0 + 50) * rowBytes);
            const place = {
              stored: STORED[format],
              srcRow0,
              rows: chunk.length / rowBytes,
              dstRow0,
              dstStride,
              rotaryDim: i < 2 ? rotaryDim : 0,
            };
            await repacker.repack(chunk, { matrix: whole, ...place });
            await repacker.repack(chunk, { matrix: parts, ...place });
          }
        }
        expect(await readRows(gpu, parts)).toEqual(await readRows(gpu, whole));
        expect(gpu.failure).toBeNull();
      });
    }
  }
});
