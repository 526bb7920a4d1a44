// Rows of every file type, read back through the embedding, against the reference.

import { expect, test } from 'vitest';
import { dequantize } from '../../../src/cpu/dequantize';
import { FILE_TYPES, type FileType, fileRowBytes } from '../../../src/kernels/load/file_types';
import { Repacker } from '../../../src/kernels/load/repack';
import { DTYPE } from '../../../src/storage/formats/tensor';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomFileBytes } from '../file_bytes';
import { emptyMatrix, readRows } from '../matrix';

const TYPES = Object.keys(FILE_TYPES) as FileType[];

for (const without of PATHS) {
  for (const stored of TYPES) {
    const { blockElements, format } = FILE_TYPES[stored];
    // 96 columns are three blocks: scales of neighboring rows share a word, and rows begin within groups of blocks.
    const sizes = [
      [1, 32],
      [5, 96],
      [130, 64],
    ];
    for (const [rows, cols] of blockElements === 32 ? sizes : [[67, 512]]) {
      test(`${stored} ${rows}x${cols} is gathered bit for bit, ${pathName(without)}`, async () => {
        const gpu = await testGpu(without);
        const bytes = randomFileBytes(stored, rows * cols, rows + cols);
        const matrix = emptyMatrix(gpu, format, rows, cols);
        const rowBytes = fileRowBytes(stored, cols);
        const repacker = new Repacker(gpu, rowBytes * 64);
        for (let row = 0; row < rows; row += 64) {
          const chunk = bytes.subarray(row * rowBytes, Math.min(rows, row + 64) * rowBytes);
          const n = chunk.length / rowBytes;
          await repacker.repack(chunk, {
            matrix,
            stored,
            srcRow0: row,
            rows: n,
            dstRow0: 0,
            dstStride: 1,
            rotaryDim: 0,
          });
        }
        expect(await readRows(gpu, matrix)).toEqual(dequantize(stored, bytes));
        expect(gpu.failure).toBeNull();
      });
    }
  }
}

test('the sizes of blocks are those of the reader of files', () => {
  for (const type of TYPES) {
    const { blockElements, blockBytes } = DTYPE[type]; // a plain number is a block of one
    expect(fileRowBytes(type, 256)).toBe((256 / blockElements) * blockBytes);
  }
});

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
    stored: 'F32',
    srcRow0: 0,
    rows: 4,
    dstRow0: 0,
    dstStride: 1,
    rotaryDim: 4,
  });
  await repacker.repack(bytes(rows(4, 4)), {
    matrix,
    stored: 'F32',
    srcRow0: 4,
    rows: 4,
    dstRow0: 0,
    dstStride: 1,
    rotaryDim: 4,
  });
  await repacker.repack(bytes(rows(100, 4)), {
    matrix,
    stored: 'F32',
    srcRow0: 0,
    rows: 4,
    dstRow0: 8,
    dstStride: 2,
    rotaryDim: 0,
  });
  await repacker.repack(bytes(rows(200, 4)), {
    matrix,
    stored: 'F32',
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

test('of a head that turns in part only those rows move', async () => {
  const gpu = await testGpu();
  const [cols, headDim] = [32, 8];
  const rows = Float32Array.from({ length: 2 * headDim * cols }, (_, i) => Math.floor(i / cols));
  const matrix = emptyMatrix(gpu, 'f32', 2 * headDim, cols);
  const repacker = new Repacker(gpu, rows.byteLength);
  const target = { matrix, stored: 'F32' as const, dstRow0: 0, dstStride: 1, rotaryDim: 6, headDim };
  // Cut within the second head.
  for (const [srcRow0, end] of [
    [0, 11],
    [11, 16],
  ]) {
    const chunk = rows.slice(srcRow0 * cols, end * cols);
    await repacker.repack(new Uint8Array(chunk.buffer), { ...target, srcRow0, rows: end - srcRow0 });
  }
  const order = [0, 3, 1, 4, 2, 5, 6, 7];
  const both = [...order, ...order.map((row) => row + headDim)];
  expect(await readRows(gpu, matrix)).toEqual(Float32Array.from(both.flatMap((row) => Array(cols).fill(row))));
});
