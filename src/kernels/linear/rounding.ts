// Whether an fma of a GPU rounds once, which spares products of bytes an operation (shaders/linear/lowered.wgsl). A
// driver may fuse in one pipeline and not in another; then a block's sum is off by half a step of its bytes at most.

import lowered from '../../../shaders/linear/lowered.wgsl?raw';
import wgsl from '../../../shaders/linear/rounding.wgsl?raw';
import { GpuMemoryError, GpuProgramError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { CommandList, createKernel } from '../../gpu/kernel';

/** Products that are tried. */
const COUNT = 64;

const known = new WeakMap<Gpu, Promise<boolean>>();

/** True if an fma rounds once. Checked once for each device; false where the device refuses the check. */
export function roundsOnce(gpu: Gpu): Promise<boolean> {
  const answer = known.get(gpu) ?? ask(gpu);
  known.set(gpu, answer);
  return answer;
}

/** Sets the answer for a GPU that cannot run the check. */
export function assumeRounding(gpu: Gpu, once: boolean): void {
  known.set(gpu, Promise.resolve(once));
}

async function ask(gpu: Gpu): Promise<boolean> {
  if (gpu.isSoftware) return false;
  try {
    return await isExact(gpu, true);
  } catch (error) {
    if (!gpu.failure && (error instanceof GpuProgramError || error instanceof GpuMemoryError)) return false;
    known.delete(gpu);
    throw error;
  }
}

/** True if `lowered` is exact on a GPU: with an fma, or with a difference and a product, which always are. */
export async function isExact(gpu: Gpu, ROUNDS_ONCE: boolean): Promise<boolean> {
  const label = 'kernels/rounding';
  const kernel = await createKernel(gpu, {
    label,
    wgsl: [lowered, wgsl],
    constants: { COUNT, ROUNDS_ONCE },
    bindings: ['write'],
  });
  const answers = gpu.upload(label, new Uint32Array(COUNT));
  try {
    const list = new CommandList(gpu);
    list.add(kernel, kernel.bind(answers), 1);
    await list.run({ position: 0, nTokens: 1 });
    return new Uint32Array(await gpu.read(answers)).every((exact) => exact === 1);
  } finally {
    gpu.destroyBuffer(answers);
  }
}
