import { dequantise } from '../../src/cpu/dequantise';
import type { Gpu } from '../../src/gpu/device';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE } from '../../src/gpu/device';
import { Repacker } from '../../src/kernels/repack';
import { planeBytes, type WeightFormat, type WeightMatrix } from '../../src/kernels/weight_format';
import { randomFileBytes, STORED } from './file_bytes';

const USAGE = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;

export function emptyMatrix(gpu: Gpu, format: WeightFormat, rows: number, cols: number): WeightMatrix {
  const bytes = planeBytes(format, rows, cols);
  const weights = gpu.createBuffer('test.weights', bytes.weights, USAGE);
  return { format, rows, cols, weights, scales: gpu.createBuffer('test.scales', bytes.scales, USAGE) };
}

/** A random matrix on the GPU as the kernels want it, and the same numbers for the textbook. */
export async function randomMatrix(gpu: Gpu, format: WeightFormat, rows: number, cols: number, seed: number) {
  const bytes = randomFileBytes(format, rows * cols, seed);
  const matrix = emptyMatrix(gpu, format, rows, cols);
  const repacker = new Repacker(gpu, bytes.length);
  await repacker.repack(bytes, { matrix, srcRow0: 0, rows, dstRow0: 0, dstStride: 1, rotaryDim: 0 });
  return { matrix, values: dequantise(STORED[format], bytes) };
}

export async function readFloats(gpu: Gpu, buffer: GPUBuffer, length: number): Promise<Float32Array> {
  return new Float32Array(await gpu.read(buffer, length * 4));
}
