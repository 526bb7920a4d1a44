// The cache of keys and values.

import { type KvType, kvLayerBytes, kvRowBytes } from '../attention/kv_layout';
import { type BufferRange, rangeStride, storedBytes } from '../gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../gpu/device';
import type { ModelConfig } from './config/config';

/**
 * Keys and values of every layer, each (n_kv_heads, context_length, head_dim), with scales behind them where they are
 * signed bytes (kv_layout.ts), written in place and never grown. Layers with a window also keep all of them, so that a
 * rewind may go back any distance.
 */
export interface KvCache {
  k: BufferRange[];
  v: BufferRange[];
  /** The buffers that k and v lie in, in the order of the layers. */
  arenas: readonly KvArena[];
  bytes: number;
}

/** Keys and values of consecutive layers. Those of layer firstLayer + i begin at byte i * layerBytes of both. */
export interface KvArena {
  firstLayer: number;
  nLayers: number;
  k: GPUBuffer;
  v: GPUBuffer;
  layerBytes: number;
}

/** Bytes of the keys and values of one token in all layers. */
export function kvBytesPerToken({ nLayers, nKvHeads, headDim }: ModelConfig, kvType: KvType): number {
  return 2 * nLayers * nKvHeads * kvRowBytes({ headDim, kvType });
}

/** Arenas of as many layers as one binding holds. */
export function createKvCache(gpu: Gpu, config: ModelConfig, contextLength: number, kvType: KvType): KvCache {
  const { nLayers } = config;
  const before = gpu.allocatedBytes;
  const size = storedBytes(kvLayerBytes({ ...config, kvType }, contextLength));
  const layerBytes = rangeStride(size);
  const most = Math.max(1, Math.floor(gpu.bindingLimit / layerBytes));
  const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
  const arenas: KvArena[] = [];
  for (let firstLayer = 0; firstLayer < nLayers; firstLayer += most) {
    const count = Math.min(most, nLayers - firstLayer);
    const make = (name: string) =>
      gpu.createBuffer(`kv_cache.${name}.${firstLayer}`, (count - 1) * layerBytes + size, usage);
    arenas.push({ firstLayer, nLayers: count, k: make('k'), v: make('v'), layerBytes });
  }
  const ranges = (name: 'k' | 'v') =>
    Array.from({ length: nLayers }, (_, layer): BufferRange => {
      const buffer = arenas[Math.floor(layer / most)][name];
      return { buffer, offset: (layer % most) * layerBytes, size };
    });
  return { k: ranges('k'), v: ranges('v'), arenas, bytes: gpu.allocatedBytes - before };
}
