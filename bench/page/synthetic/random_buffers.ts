// Buffers of any size with random contents: one block is uploaded, the GPU repeats it.

import { toHalf } from '../../../src/cpu/half';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../../src/gpu/device';
import { randomArray } from '../../../test/random';

const BLOCK_ELEMENTS = 1 << 20;
const USAGE = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;

/** q8: signed bytes and scales of any rows, which floats are as well. */
export type ElementType = 'f16' | 'f32' | 'q8';

const blocks = new Map<ElementType, Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>>();

/** Numbers in [-1, 1): products of two rows stay small, as those of a trained model do. */
function block(type: ElementType): Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> {
  const known = blocks.get(type);
  if (known) return known;
  const numbers = randomArray(BLOCK_ELEMENTS, type === 'f16' ? 16 : 32);
  const made = type === 'f16' ? Uint16Array.from(numbers, toHalf) : numbers;
  blocks.set(type, made);
  return made;
}

/** One buffer of each size in bytes, filled. Refused memory is a typed error, and none is kept. */
export async function randomBuffers(
  gpu: Gpu,
  label: string,
  sizes: readonly number[],
  type: ElementType,
): Promise<GPUBuffer[]> {
  const source = gpu.upload(`${label}.random`, block(type));
  const made: GPUBuffer[] = [];
  try {
    await gpu.guardMemory(label, () => {
      sizes.forEach((size, i) => {
        made.push(gpu.createBuffer(`${label}.${i}`, size, USAGE));
      });
    });
    const encoder = gpu.device.createCommandEncoder({ label });
    for (const buffer of made) {
      for (let at = 0; at < buffer.size; at += source.size) {
        encoder.copyBufferToBuffer(source, 0, buffer, at, Math.min(source.size, buffer.size - at));
      }
    }
    gpu.submit(encoder.finish());
    return made;
  } catch (error) {
    for (const buffer of made) gpu.destroyBuffer(buffer);
    throw error;
  } finally {
    gpu.destroyBuffer(source);
  }
}
