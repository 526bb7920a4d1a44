// The cache of keys and values.

import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../gpu/device';
import type { ModelConfig } from './config/config';

/**
 * Keys and values of every layer, each (n_kv_heads, context_length, head_dim), written in place and never grown. Layers
 * with a window also keep all of them, so that a rewind may go back any distance.
 */
export interface KvCache {
  k: GPUBuffer[];
  v: GPUBuffer[];
  bytes: number;
}

/** Bytes of the keys and values of one token in all layers. */
export function kvBytesPerToken(config: ModelConfig, kvType: 'f16' | 'f32'): number {
  return 2 * config.nLayers * config.nKvHeads * config.headDim * (kvType === 'f16' ? 2 : 4);
}

export function createKvCache(gpu: Gpu, config: ModelConfig, contextLength: number, kvType: 'f16' | 'f32'): KvCache {
  const bytes = kvBytesPerToken(config, kvType) * contextLength;
  const each = bytes / (2 * config.nLayers);
  const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
  const make = (name: string) =>
    Array.from({ length: config.nLayers }, (_, i) => gpu.createBuffer(`kv_cache.${name}.${i}`, each, usage));
  return { k: make('k'), v: make('v'), bytes };
}
