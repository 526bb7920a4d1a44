// The epilogue of qkv: RoPE on q and k, k and v into the cache.

import kvF16 from '../../../../shaders/attention/kv/kv_f16.wgsl?raw';
import kvF32 from '../../../../shaders/attention/kv/kv_f32.wgsl?raw';
import putPairs from '../../../../shaders/linear/epilogues/put_pairs.wgsl?raw';
import wgsl from '../../../../shaders/linear/epilogues/qkv.wgsl?raw';
import rotaryHeads from '../../../../shaders/linear/epilogues/rotary_heads.wgsl?raw';
import type { Constant, RowTable } from '../../../gpu/kernel';
import { type Epilogue, floats } from '../linear';

export interface QkvShape {
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  contextLength: number;
  /** Rows of a head in the cache: fewer than the context where a layer keeps its newest alone. Default: the context. */
  room?: number;
  kvType: 'f16' | 'f32' | 'q8';
  rows?: RowTable;
}

/** The types of a cache that is written a pair at a time. The rows of q8 have a scale, and are written whole. */
export type QkvPairShape = QkvShape & { kvType: 'f16' | 'f32' };

/**
 * Rotates q and k, or in layers without RoPE neither; writes k and v to the cache. Binds the rope table, q, k cache, v
 * cache.
 */
export function qkvEpilogue(shape: QkvPairShape, rotary = true): Epilogue {
  return {
    label: 'kernels/qkv',
    wgsl: [...rotaryLibraries(shape), wgsl],
    constants: rotaryConstants(shape, rotary),
    bindings: ['read', 'write', 'write', 'write'],
    rows: shape.rows,
    outputs(_, nTokens) {
      const { nHeads, nKvHeads, headDim, contextLength, room = contextLength, kvType } = shape;
      const row = headDim * (kvType === 'f16' ? 2 : 4);
      const cache = { encoding: kvType, bytes: nTokens * row, runs: nKvHeads, stride: room * row };
      return [floats(nTokens * nHeads * headDim, 1), { buffer: 2, ...cache }, { buffer: 3, ...cache }];
    },
  };
}

/** The pieces of put_pair and put_head. Those of q8 are in elementwise/rows_q8.ts. */
export function rotaryLibraries({ kvType }: Pick<QkvPairShape, 'kvType'>): readonly string[] {
  return [kvType === 'f16' ? kvF16 : kvF32, rotaryHeads, putPairs];
}

/** The constants of rotary_heads.wgsl. */
export function rotaryConstants(shape: QkvShape, rotary: boolean): Readonly<Record<string, Constant>> {
  const { nHeads, nKvHeads, headDim, contextLength, room = contextLength } = shape;
  return {
    N_HEADS: nHeads,
    N_KV_HEADS: nKvHeads,
    HEAD_DIM: headDim,
    ROOM: room,
    WRAPS: room < contextLength,
    ROTARY: rotary,
  };
}
