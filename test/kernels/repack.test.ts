import { expect, test } from 'vitest';
import { dequantise } from '../../src/cpu/dequantise';
import { fileRowBytes, Repacker } from '../../src/kernels/repack';
import type { WeightFormat } from '../../src/kernels/weight_format';
import { PATHS, pathName, testGpu } from '../gpu/test_device';
import { randomFileBytes, STORED } from './file_bytes';
import { emptyMatrix, readRows } from './matrix';

const FORMATS: WeightFormat[] = ['f32', 'f16', 'bf16', 'q8', 'q4'];

for (const without of PATHS) {
  for (const format of FORMATS) {
    // 96 columns are three blocks: scales of neighbouring rows share a word.
    for (const [rows, cols] of [
      [1, 32],
      [5, 96],
      [130, 64],
    ]) {
      test(`${format} ${rows}x${cols} is gathered bit for bit, ${pathName(without)}`, async () => {
        const gpu = await testGpu(without);
        const bytes = randomFileBytes(format, rows * cols, rows + cols);
        const matrix = emptyMatrix(gpu, format, rows, cols);
        const rowBytes = fileRowBytes(format, cols);
        const repacker = new Repacker(gpu, rowBytes * 64);
        for (let row = 0; row < rows; row += 64) {
          const chunk = bytes.subarray(row * rowBytes, Math.min(rows, row + 64) * rowBytes);
          const n = chunk.length / rowBytes;
          await repacker.repack(chunk, {
            matrix,
            stored: format,
            srcRow0: row,
            rows: n,
            dstRow0: 0,
            dstStride: 1,
            rotaryDim: 0,
          });
        }
        expect(await readRows(gpu, matrix)).toEqual(dequantise(STORED[format], bytes));
        expect(gpu.failure).toBeNull();
      });
    }
  }
}

test('rows are interleaved by stride, and rotary halves become adjacent pairs', async () => {
  const gpu = await testGpu();
  const cols = 32;
  const value = (row: number) => new Float32Array(cols).fill(row);
  const rows = (from: number, n: number) =>
    Float32Array.from({ length: n * cols }, (_, i) => from + Math.floor(i / cols));
  const matrix = emptyMatrix(gpu, 'f32', 16, cols);
  const repacker = new Repacker(gpu, 16 * cols * 4);
  const bytes = (data: Float32Array) => new Uint8Array(data.buffer as ArrayBuffer);
  // Two heads of 4 in the half convention: rows 0 1 | 2 3 become 0 2 1 3.
  await repacker.repack(bytes(rows(0, 4)), {
    matrix,
    stored: 'f32',
    srcRow0: 0,
    rows: 4,
    dstRow0: 0,
    dstStride: 1,
    rotaryDim: 4,
  });
  await repacker.repack(bytes(rows(4, 4)), {
    matrix,
    stored: 'f32',
    srcRow0: 4,
    rows: 4,
    dstRow0: 0,
    dstStride: 1,
    rotaryDim: 4,
  });
  await repacker.repack(bytes(rows(100, 4)), {
    matrix,
    stored: 'f32',
    srcRow0: 0,
    rows: 4,
    dstRow0: 8,
    dstStride: 2,
    rotaryDim: 0,
  });
  await repacker.repack(bytes(rows(200, 4)), {
    matrix,
    stored: 'f32',
    srcRow0: 0,
    rows: 4,
    dstRow0: 9,
    dstStride: 2,
    rotaryDim: 0,
  });
  const order = [0, 2, 1, 3, 4, 6, 5, 7, 100, 200, 101, 201, 102, 202, 103, 203];
  const expected = new Float32Array(order.flatMap((row) => [...value(row)]));
  expect(await readRows(gpu, matrix)).toEqual(expected);
});
