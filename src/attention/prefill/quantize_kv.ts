// Leaves the keys and values that a pass sees in signed bytes.

import byteTiles from '../../../shaders/attention/prefill/byte_tiles.wgsl?raw';
import wgsl from '../../../shaders/attention/prefill/quantize_kv.wgsl?raw';
import { ZERO_BELOW } from '../../cpu/quantize_activations';
import type { Bindable } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';
import type { AttentionShape } from '../attention';
import { attentionSource } from '../source';
import { TILE } from './flash_prefill_q8_plan';

/** Workgroups that quantize the tiles of a head in turns, at most. */
const MOST_TILES = 64;

interface QuantizeKv {
  /** Caches of keys and values; bytes and scales of both, as the shader says; the uniform of a window. */
  bind(...buffers: readonly Bindable[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

export async function createQuantizeKv(gpu: Gpu, shape: AttentionShape): Promise<QuantizeKv> {
  const { nKvHeads, headDim, contextLength } = shape;
  const TILES = Math.min(MOST_TILES, Math.ceil(contextLength / TILE));
  const source = await attentionSource(shape, ['read', 'read', 'write', 'write', 'write', 'write'], 'quads');
  const kernel = await createKernel(gpu, {
    ...source,
    label: 'attention/quantize_kv',
    wgsl: [...source.wgsl, byteTiles, wgsl],
    constants: { ...source.constants, ZERO_BELOW: { f32: ZERO_BELOW }, TILES, WORKGROUP: 2 * headDim },
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, TILES, nKvHeads),
  };
}
