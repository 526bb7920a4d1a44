// The kernel of the roofline: reads a buffer from end to end, in a shape that the caller chooses.

import wgsl from '../../shaders/tune/read_memory.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { type CommandList, createKernel } from '../gpu/kernel';
import { type PassTimeOptions, timePass } from '../gpu/time_pass';

/** An unlikely sum of the buffer. */
const SENTINEL = 0xdeadbeef;
const LARGEST_GRID = 16896;
/** Bytes of `out`: a word for each workgroup. */
export const READ_OUT_BYTES = 4 * LARGEST_GRID;

/** `grid`: workgroups, at most 16896. */
export interface ReadShape {
  workgroup: number;
  /** 16-byte loads in flight in each thread. */
  loads: number;
  grid: number;
}

/** The span of the largest workgroup. The bytes of `x` are a multiple of it. */
export const READ_SPAN_BYTES = 1024 * 8 * 16;

/** Adds a read of all of `x` to a list. `out` has READ_OUT_BYTES. */
export async function createRead(gpu: Gpu, x: GPUBuffer, out: GPUBuffer, { workgroup, loads, grid }: ReadShape) {
  const kernel = await createKernel(gpu, {
    label: 'kernels/read_memory',
    wgsl: [wgsl],
    constants: { WORKGROUP: workgroup, LOADS: loads, SENTINEL },
    bindings: ['read', 'write'],
  });
  const group = kernel.bind(x, out);
  return (list: CommandList) => list.add(kernel, group, grid);
}

/** GB/s (1e9 bytes) of reading all of `x`; null if the GPU has no such workgroup. `out` has READ_OUT_BYTES. */
export async function readSpeed(
  gpu: Gpu,
  x: GPUBuffer,
  out: GPUBuffer,
  shape: ReadShape,
  options: PassTimeOptions,
): Promise<number | null> {
  const { workgroup } = shape;
  if (workgroup > gpu.limits.maxComputeInvocationsPerWorkgroup || workgroup > gpu.limits.maxComputeWorkgroupSizeX) {
    return null;
  }
  const { ms } = await timePass(gpu, { position: 0, nTokens: 1 }, await createRead(gpu, x, out, shape), options);
  return x.size / ms / 1e6;
}
