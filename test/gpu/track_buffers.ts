// Tracks the buffers of a device, to find leaks.

import type { Gpu } from '../../src/gpu/device';

/** The buffers that exist. */
export function trackBuffers(gpu: Gpu): Set<GPUBuffer> {
  const live = new Set<GPUBuffer>();
  const { createBuffer, destroyBuffer } = gpu;
  gpu.createBuffer = (...args) => {
    const buffer = createBuffer.apply(gpu, args);
    if ('destroy' in buffer) live.add(buffer); // Gpu.measure makes sizes alone
    return buffer;
  };
  gpu.destroyBuffer = (buffer) => {
    live.delete(buffer);
    destroyBuffer.call(gpu, buffer);
  };
  return live;
}
