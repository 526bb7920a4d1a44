// Quantizing at load against the textbook, bit for bit: on the way from every plain format to q8 and q4.

import { expect, test } from 'vitest';
import { dequantize } from '../../../src/cpu/dequantize';
import { toHalf } from '../../../src/cpu/half';
import { quantize } from '../../../src/cpu/quantize';
import type { Gpu } from '../../../src/gpu/device';
import type { WeightMatrix } from '../../../src/kernels/linear/weight_format';
import {
  type FileType,
  fileRowBytes,
  type PlainFormat,
  type QuantizedFormat,
} from '../../../src/kernels/load/file_types';
import { Repacker } from '../../../src/kernels/load/repack';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomSource } from '../../random';
import { STORED } from '../file_bytes';
import { emptyMatrix } from '../matrix';

const COLS = 96; // three blocks: scales of neighboring rows share a word

const block = (values: number[], rest = 0) => Array.from({ length: 32 }, (_, i) => values[i] ?? rest);

/**
 * Zeros of both signs, ties of both formats, either sign largest, scales at the ends of what f16 and f32 hold, NaN,
 * infinities.
 */
const EDGES = [
  block([]),
  block([], -0),
  block([127, 0.5, -0.5, 1.5, -1.5, 126.5, -126.5, 0.49999997]),
  block([-8, 8, 7.5, -7.5, -7.51, 0.5, -0.5]),
  block([8, -8, 7.5, -7.5, 0.5, -0.5, 1.5]),
  block([5, -5, 2.5], 5),
  block([-5, 5, 2.5], -5),
  block([Number.NaN, 1]),
  block([1, Number.POSITIVE_INFINITY]),
  block([1, Number.NEGATIVE_INFINITY, Number.NaN]),
  ...[3e38, 65519 * 127, 65520 * 127, 65519 * 8, 65520 * 8, 65535 * 8].map((v) => block([v, v / 3, -v])),
  ...[-14, -15, -24, -25, -26, -89, -90, -91, -126, -140].map((e) => block([8 * 2 ** e, 5 * 2 ** e, -(2 ** e)])),
  ...[127, 127 * 3, 127 * 1.0001].map((v) => block([v * 2 ** -25, -v * 2 ** -26, v * 2 ** -24])),
];

/** Rows of values of about every size that a scale may have, the edges first. */
function values(): Float32Array {
  const next = randomSource(3);
  const random = Array.from({ length: 3 * 200 - EDGES.length }, () => {
    const size = 2 ** Math.floor(next() * 56 - 36);
    return block([], 0).map(() => Math.fround((2 * next() - 1) * size));
  });
  return Float32Array.from([...EDGES, ...random].flat());
}

function fileBytes(from: PlainFormat, x: Float32Array): Uint8Array<ArrayBuffer> {
  if (from === 'f32') return new Uint8Array(x.slice().buffer);
  if (from === 'f16') return new Uint8Array(Uint16Array.from(x, toHalf).buffer);
  return new Uint8Array(Uint16Array.from(new Uint32Array(x.slice().buffer), (bits) => bits >>> 16).buffer);
}

async function repacked(gpu: Gpu, stored: FileType, to: QuantizedFormat, bytes: Uint8Array<ArrayBuffer>) {
  const rowBytes = fileRowBytes(stored, COLS);
  const rows = bytes.length / rowBytes;
  const matrix = emptyMatrix(gpu, to, rows, COLS, 128);
  const repacker = new Repacker(gpu, 70 * rowBytes);
  for (let srcRow0 = 0; srcRow0 < rows; srcRow0 += 70) {
    const chunk = bytes.subarray(srcRow0 * rowBytes, (srcRow0 + 70) * rowBytes);
    const place = { srcRow0, rows: chunk.length / rowBytes, dstRow0: 0, dstStride: 1, rotaryDim: 0 };
    await repacker.repack(chunk, { matrix, stored, ...place });
  }
  return planes(gpu, matrix);
}

async function planes(gpu: Gpu, { parts }: WeightMatrix): Promise<Uint32Array[]> {
  const buffers = parts.flatMap(({ weights, scales }) => [weights, scales]);
  return Promise.all(buffers.map(async (buffer) => new Uint32Array(await gpu.read(buffer))));
}

for (const to of ['q8', 'q4'] as const) {
  for (const [from, without] of [
    ['f32', PATHS[0]],
    ['f32', PATHS[1]],
    ['f16', PATHS[0]],
    ['bf16', PATHS[0]],
  ] as const) {
    test(`${from} to ${to}, 200 rows in two parts, ${pathName(without)}`, async () => {
      const gpu = await testGpu(without);
      const bytes = fileBytes(from, values());
      const textbook = quantize(to === 'q8' ? 'Q8_0' : 'Q4_0', dequantize(STORED[from], bytes));
      expect(await repacked(gpu, STORED[from], to, bytes)).toEqual(await repacked(gpu, STORED[to], to, textbook));
      expect(gpu.failure).toBeNull();
    });
  }
}

test('a file in one quantized format cannot become another', async () => {
  const gpu = await testGpu();
  await expect(repacked(gpu, 'Q8_0', 'q4', new Uint8Array(fileRowBytes('Q8_0', COLS)))).rejects.toThrow(
    'cannot turn Q8_0 into q4',
  );
});
