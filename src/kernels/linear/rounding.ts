// Whether the fma of a GPU rounds once, which spares products of bytes an operation (shaders/linear/lowered.wgsl).

import lowered from '../../../shaders/linear/lowered.wgsl?raw';
import wgsl from '../../../shaders/linear/rounding.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { CommandList, createKernel } from '../../gpu/kernel';

/** Products that are tried. */
const COUNT = 64;

const known = new WeakMap<Gpu, Promise<boolean>>();

/** True if an fma rounds once. Found out once for each device. */
export function roundsOnce(gpu: Gpu): Promise<boolean> {
  const answer = known.get(gpu) ?? checkRounding(gpu);
  known.set(gpu, answer);
  return answer;
}

/** Answers for a GPU that cannot be asked. */
export function assumeRounding(gpu: Gpu, once: boolean): void {
  known.set(gpu, Promise.resolve(once));
}

async function checkRounding(gpu: Gpu): Promise<boolean> {
  if (gpu.isSoftware) return false;
  const label = 'kernels/rounding';
  const constants = { COUNT, ROUNDS_ONCE: true };
  const kernel = await createKernel(gpu, { label, wgsl: [lowered, wgsl], constants, bindings: ['write'] });
  const isExact = gpu.upload(label, new Uint32Array(COUNT));
  try {
    const list = new CommandList(gpu);
    list.add(kernel, kernel.bind(isExact), 1);
    await list.run({ position: 0, nTokens: 1 });
    return new Uint32Array(await gpu.read(isExact)).every((exact) => exact === 1);
  } finally {
    gpu.destroyBuffer(isExact);
  }
}
