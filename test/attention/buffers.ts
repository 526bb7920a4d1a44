// Buffers as a model allocates them, for tests of what runs on them.

import type { AttentionShape } from '../../src/attention/attention';
import { kvLayerBytes } from '../../src/attention/kv_layout';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../src/gpu/device';

/** q and out of maxTokens rows, k and v whole caches of one layer, all zero. */
export function modelBuffers(gpu: Gpu, shape: AttentionShape): Record<'q' | 'out' | 'k' | 'v', GPUBuffer> {
  const make = (label: string, bytes: number) =>
    gpu.createBuffer(label, bytes, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  const rows = 4 * shape.maxTokens * shape.nHeads * shape.headDim;
  const cache = kvLayerBytes(shape, shape.contextLength);
  return { q: make('q', rows), out: make('attn', rows), k: make('kv_cache.k', cache), v: make('kv_cache.v', cache) };
}

/** Runs `use` with the shaders of that label rewritten, at least one of them: a kernel that compiles and is wrong. */
export async function withBrokenShaders<T>(
  gpu: Gpu,
  label: string,
  rewrite: (code: string) => string,
  use: () => Promise<T>,
): Promise<T> {
  const { createShaderModule } = gpu.device;
  let rewritten = 0;
  gpu.device.createShaderModule = (descriptor) => {
    const code = descriptor.label?.startsWith(label) ? rewrite(descriptor.code) : descriptor.code;
    if (code !== descriptor.code) rewritten++;
    return createShaderModule.call(gpu.device, { ...descriptor, code });
  };
  try {
    const result = await use();
    if (rewritten === 0) throw new Error(`nothing was rewritten in the shaders of ${label}`);
    return result;
  } finally {
    gpu.device.createShaderModule = createShaderModule;
  }
}
