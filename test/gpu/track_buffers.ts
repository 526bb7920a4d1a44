import type { Gpu } from '../../src/gpu/device';

/** Buffers that were made and not destroyed since. */
export function trackBuffers(gpu: Gpu): Set<GPUBuffer> {
  const live = new Set<GPUBuffer>();
  const { createBuffer, destroyBuffer } = gpu;
  gpu.createBuffer = (...args) => {
    const buffer = createBuffer.apply(gpu, args);
    live.add(buffer);
    return buffer;
  };
  gpu.destroyBuffer = (buffer) => {
    live.delete(buffer);
    destroyBuffer.call(gpu, buffer);
  };
  return live;
}
