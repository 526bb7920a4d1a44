// The buffers that all siblings are measured on at one length: q, out, and enough K and V that no cache of the GPU
// holds them.

import type { AttentionShape } from '../../../src/attention/attention';
import { kvLayerBytes } from '../../../src/attention/kv_layout';
import type { Gpu } from '../../../src/gpu/device';
import { randomBuffers } from '../synthetic/random_buffers';

export interface Station {
  shape: AttentionShape;
  /** The tokens of the pass. The last token sees kvLen keys, which is the whole context. */
  nTokens: number;
  kvLen: number;
  q: GPUBuffer;
  out: GPUBuffer;
  /** K and V of one repeat; repeats take turns. */
  pairs: { k: GPUBuffer; v: GPUBuffer }[];
  rotatedBytes: number;
  /** True when something was timed here already. */
  isWarm: boolean;
  destroy(): void;
}

/** More than the caches of any GPU that is sold. */
const COLD_BYTES = 256e6;
/** A bound for short caches, where the number of buffers ends the rotation at tens of megabytes. */
const MAX_PAIRS = 1024;
const QUICK_PAIRS = 2;

/** Pairs of K and V for decode: as many as no cache holds together. */
export function coldPairs(shape: AttentionShape, quick: boolean): number {
  return Math.min(quick ? QUICK_PAIRS : MAX_PAIRS, Math.ceil(COLD_BYTES / kvBytes(shape)));
}

/** Bytes of K and V together that one pass over the whole context must read. */
export function kvBytes(shape: AttentionShape): number {
  return 2 * kvLayerBytes(shape, shape.contextLength);
}

/** @throws GpuMemoryError */
export async function openStation(gpu: Gpu, shape: AttentionShape, nTokens: number, count: number): Promise<Station> {
  const bytes = kvBytes(shape);
  const rows = nTokens * shape.nHeads * shape.headDim * 4;
  const [q, out] = await randomBuffers(gpu, 'bench.q_out', [rows, rows], 'f32');
  let kv: GPUBuffer[];
  try {
    kv = await randomBuffers(gpu, 'bench.kv', Array(2 * count).fill(bytes / 2), shape.kvType);
  } catch (error) {
    for (const buffer of [q, out]) gpu.destroyBuffer(buffer);
    throw error;
  }
  return {
    shape,
    nTokens,
    kvLen: shape.contextLength,
    q,
    out,
    pairs: Array.from({ length: count }, (_, i) => ({ k: kv[2 * i], v: kv[2 * i + 1] })),
    rotatedBytes: count * bytes,
    isWarm: false,
    destroy() {
      for (const buffer of [q, out, ...kv]) gpu.destroyBuffer(buffer);
    },
  };
}
