// The roofline: the fastest read of this GPU's memory, which bounds the time of a token.

import { GpuMemoryError } from '../errors';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../gpu/device';
import { READ_OUT_BYTES, READ_SPAN_BYTES, type ReadShape, readSpeed } from './read_memory';

/** More bytes than the caches of GPUs hold. */
const MOST_BYTES = 2 ** 28;
/** Fewer bytes would measure a cache. */
const LEAST_BYTES = 2 ** 24;
/** Each is the fastest in the bench on some GPU. The first suits GPUs without large workgroups. */
const SHAPES: readonly ReadShape[] = [
  { workgroup: 256, loads: 4, grid: 4224 },
  { workgroup: 256, loads: 8, grid: 1056 },
  { workgroup: 512, loads: 4, grid: 4224 },
  { workgroup: 1024, loads: 4, grid: 1056 },
];
/** About half a second by the GPU's clock. The CPU's clock sees completions up to 3 ms late and needs longer. */
const TIMES = { gpu: { minMs: 10 }, cpu: { minMs: 60 }, all: { rounds: 3, warmMs: 50, budgetMs: 120 } };
/** A GPU in software compiles for longer than it reads. */
const SOFTWARE = { bytes: 2 ** 22, shapes: [{ workgroup: 128, loads: 4, grid: 64 }], times: { minMs: 1, rounds: 2 } };
const RANDOM_WORDS = 2 ** 18;

/**
 * The fastest read of memory by a kernel on this GPU, in GB/s (1e9 bytes). Frees all that it allocates.
 * @throws GpuMemoryError if not even 16 MB are free; DOMException AbortError soon after `stopped` turns true
 */
export async function measureRoofline(
  gpu: Gpu,
  stopped: () => boolean,
): Promise<{ readGBps: number; clock: 'gpu' | 'cpu' }> {
  const clock = gpu.can.timestamps ? 'gpu' : 'cpu';
  const hardware = { bytes: MOST_BYTES, shapes: SHAPES, times: { ...TIMES.all, ...TIMES[clock] } };
  const { bytes, shapes, times } = gpu.isSoftware ? SOFTWARE : hardware;
  const { peakBytes } = gpu;
  const [x, out] = await allocate(gpu, Math.min(bytes, gpu.bindingLimit));
  try {
    fill(gpu, x);
    let readGBps = 0;
    for (const shape of shapes) {
      if (stopped()) throw new DOMException('Measuring was canceled.', 'AbortError');
      readGBps = Math.max(readGBps, (await readSpeed(gpu, x, out, shape, times)) ?? 0);
    }
    return { readGBps, clock };
  } finally {
    gpu.destroyBuffer(x);
    gpu.destroyBuffer(out);
    gpu.peakBytes = peakBytes; // the need of answers alone
  }
}

/** Buffers of `most` bytes, or of the largest half, quarter and so on that the GPU has memory for. */
async function allocate(gpu: Gpu, most: number): Promise<GPUBuffer[]> {
  const bytes = Math.floor(most / READ_SPAN_BYTES) * READ_SPAN_BYTES;
  const made: GPUBuffer[] = [];
  try {
    await gpu.guardMemory('Measuring memory', () => {
      made.push(gpu.createBuffer('roofline.x', bytes, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC));
      made.push(gpu.createBuffer('roofline.out', READ_OUT_BYTES, GPU_STORAGE));
    });
    return made;
  } catch (error) {
    for (const buffer of made) gpu.destroyBuffer(buffer);
    if (!(error instanceof GpuMemoryError) || bytes / 2 < LEAST_BYTES) throw error;
    return allocate(gpu, bytes / 2);
  }
}

/** Fills a buffer with copies of a block of random words, which no memory compresses. */
function fill(gpu: Gpu, buffer: GPUBuffer): void {
  const words = new Uint32Array(RANDOM_WORDS);
  for (let i = 0, x = 1; i < words.length; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0; // Numerical Recipes, section 7.1
    words[i] = x;
  }
  const block = gpu.upload('roofline.random', words);
  const encoder = gpu.device.createCommandEncoder({ label: 'roofline' });
  for (let at = 0; at < buffer.size; at += block.size) {
    encoder.copyBufferToBuffer(block, 0, buffer, at, Math.min(block.size, buffer.size - at));
  }
  gpu.submit(encoder.finish());
  gpu.destroyBuffer(block);
}
