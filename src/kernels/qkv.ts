import wgsl from '../../shaders/kernels/qkv.wgsl?raw';
import kvPairF16 from '../../shaders/lib/kv_pair_f16.wgsl?raw';
import kvPairF32 from '../../shaders/lib/kv_pair_f32.wgsl?raw';
import type { Epilogue } from './linear';

export interface QkvShape {
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  contextLength: number;
  kvType: 'f16' | 'f32';
}

/** Rotates q and k; writes k and v to the cache. Binds the rope table, q, k cache, v cache. */
export function qkvEpilogue(shape: QkvShape): Epilogue {
  return {
    label: 'kernels/qkv',
    wgsl: [shape.kvType === 'f16' ? kvPairF16 : kvPairF32, wgsl],
    constants: {
      N_HEADS: shape.nHeads,
      N_KV_HEADS: shape.nKvHeads,
      HEAD_DIM: shape.headDim,
      CONTEXT: shape.contextLength,
    },
    bindings: ['read', 'write', 'write', 'write'],
  };
}
