// Random matrices on the GPU, and their values for the reference.

import { dequantize } from '../../src/cpu/dequantize';
import { rangeOf } from '../../src/gpu/buffer_range';
import type { Gpu } from '../../src/gpu/device';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE } from '../../src/gpu/device';
import { CommandList } from '../../src/gpu/kernel';
import { createEmbed } from '../../src/kernels/elementwise/embed';
import { planeBytes, rowParts, type WeightFormat, type WeightMatrix } from '../../src/kernels/linear/weight_format';
import { Repacker } from '../../src/kernels/load/repack';
import { randomFileBytes, STORED } from './file_bytes';

const USAGE = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;

export function emptyMatrix(gpu: Gpu, format: WeightFormat, rows: number, cols: number, partRows = rows): WeightMatrix {
  const parts = rowParts(rows, partRows).map((range) => {
    const bytes = planeBytes(format, range.rows, cols);
    const weights = rangeOf(gpu.createBuffer('test.weights', bytes.weights, USAGE));
    return { ...range, format, weights, scales: rangeOf(gpu.createBuffer('test.scales', bytes.scales, USAGE)) };
  });
  return { rows, cols, parts };
}

/** A random matrix on the GPU as the kernels want it, and the same numbers for the textbook. */
export async function randomMatrix(
  gpu: Gpu,
  format: WeightFormat,
  rows: number,
  cols: number,
  seed: number,
  partRows = rows,
) {
  const bytes = randomFileBytes(format, rows * cols, seed);
  const matrix = emptyMatrix(gpu, format, rows, cols, partRows);
  const repacker = new Repacker(gpu, bytes.length);
  await repacker.repack(bytes, {
    matrix,
    stored: STORED[format],
    srcRow0: 0,
    rows,
    dstRow0: 0,
    dstStride: 1,
    rotaryDim: 0,
  });
  return { matrix, values: dequantize(STORED[format], bytes) };
}

export async function readFloats(gpu: Gpu, buffer: GPUBuffer, length: number): Promise<Float32Array> {
  return new Float32Array(await gpu.read(buffer, length * 4));
}

/** Reads a matrix back as the kernels see it: through the embedding gather, every row once. */
export async function readRows(gpu: Gpu, matrix: WeightMatrix): Promise<Float32Array> {
  const { rows, cols, parts } = matrix;
  const embed = await createEmbed(gpu, { vocabSize: rows, hiddenSize: cols, parts });
  const tokens = gpu.upload(
    'tokens',
    Uint32Array.from({ length: rows + 3 }, (_, i) => Math.max(0, i - 3)),
  );
  const x = gpu.upload('x', new Float32Array(rows * cols).fill(Number.NaN));
  const list = new CommandList(gpu);
  embed.record(list, embed.bind(matrix, tokens, x), rows);
  list.run({ position: 3, nTokens: rows });
  return readFloats(gpu, x, rows * cols);
}
