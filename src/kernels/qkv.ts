import wgsl from '../../shaders/kernels/qkv.wgsl?raw';
import kvPairF16 from '../../shaders/lib/kv_pair_f16.wgsl?raw';
import kvPairF32 from '../../shaders/lib/kv_pair_f32.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { createLinear, type Linear, type LinearShape } from './linear';

export interface QkvShape extends Omit<LinearShape, 'rows'> {
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  contextLength: number;
  kvType: 'f16' | 'f32';
}

/** Binds weights, scales, x, params, rope table, q, k cache, v cache. */
export function createQkv(gpu: Gpu, shape: QkvShape): Promise<Linear> {
  const rows = (shape.nHeads + 2 * shape.nKvHeads) * shape.headDim;
  return createLinear(
    gpu,
    { ...shape, rows },
    {
      label: 'kernels/qkv',
      wgsl: [shape.kvType === 'f16' ? kvPairF16 : kvPairF32, wgsl],
      constants: {
        N_HEADS: shape.nHeads,
        N_KV_HEADS: shape.nKvHeads,
        HEAD_DIM: shape.headDim,
        CONTEXT: shape.contextLength,
      },
      bindings: ['read', 'write', 'write', 'write'],
    },
  );
}
