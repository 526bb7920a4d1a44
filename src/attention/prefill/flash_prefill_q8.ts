// flash_prefill in integers, over the tiles of quantize_kv.ts.

import byteTiles from '../../../shaders/attention/prefill/byte_tiles.wgsl?raw';
import wgsl from '../../../shaders/attention/prefill/flash_prefill_q8.wgsl?raw';
import promptBlocks from '../../../shaders/attention/prefill/prompt_blocks.wgsl?raw';
import { ZERO_BELOW } from '../../cpu/quantize_activations';
import { GPU_COPY_DST, GPU_STORAGE, type Gpu } from '../../gpu/device';
import { createKernel } from '../../gpu/kernel';
import { type AttentionKernel, type AttentionShape, attentionLimits } from '../attention';
import { attentionSource, Windows } from '../source';
import { BLOCK_M, planFlashPrefillQ8, tileBytes } from './flash_prefill_q8_plan';
import { createQuantizeKv } from './quantize_kv';

const NAME = 'flash_prefill_q8';
/** Most that an output of the check may differ, as a share of the largest |v|; up to 0.009 was seen. */
const BOUND = 0.03;
/** Threads that share the columns of a row, and the most pairs of columns whose sums one of them holds at once. */
const PAIRS_THREADS = 8;
const MOST_PAIRS = 4;

async function createFlash(gpu: Gpu, shape: AttentionShape) {
  const pairs = shape.headDim / 2 / PAIRS_THREADS; // of a thread
  const PAIRS_HELD = pairs > MOST_PAIRS ? pairs / 2 : pairs;
  const bindings = ['read', 'read', 'read', 'read', 'read', 'write'] as const;
  const source = await attentionSource({ ...shape, kvType: 'f32' }, bindings, 'quads'); // it reads no cache
  return createKernel(gpu, {
    ...source,
    label: `attention/${NAME}`,
    wgsl: [...source.wgsl, byteTiles, promptBlocks, wgsl],
    constants: { ...source.constants, BLOCK_M, PAIRS_HELD, ZERO_BELOW: { f32: ZERO_BELOW } },
  });
}

/** Prefill, after any cache. */
export async function createFlashPrefillQ8(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, scratchBytes } = planFlashPrefillQ8(shape, attentionLimits(gpu), given);
  const [quantize, flash] = await Promise.all([createQuantizeKv(gpu, shape), createFlash(gpu, shape)]);
  const bytes = tileBytes(shape);
  const sizes = { k_bytes: bytes, k_scales: bytes / 8, v_bytes: bytes, v_scales: bytes / 8 };
  const buffers = await gpu.guardMemory(`attention/${NAME}`, () =>
    Object.entries(sizes).map(([name, size]) => gpu.createBuffer(`${NAME}.${name}`, size, GPU_STORAGE | GPU_COPY_DST)),
  );
  const windows = new Windows(gpu, NAME, shape);
  const { nHeads, nKvHeads } = shape;
  const rows = nHeads / nKvHeads;
  return {
    name: NAME,
    parameters,
    scratchBytes,
    bound: BOUND,
    bind(q, k, v, out, window, room) {
      const last = windows.of(window, room);
      const cached = quantize.bind(k, v, ...buffers, ...last);
      const group = flash.bind(q, ...buffers, out, ...last);
      return {
        record(list, nTokens) {
          quantize.record(list, cached);
          list.add(flash, group, nKvHeads, Math.ceil((nTokens * rows) / BLOCK_M));
        },
      };
    },
    destroy() {
      for (const buffer of buffers) gpu.destroyBuffer(buffer);
      windows.destroy();
    },
  };
}
