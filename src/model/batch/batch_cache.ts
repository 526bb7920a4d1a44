// Keys and values of the conversations of a batch: a slot for each, with room for as many positions, in buffers like
// those of the cache.

import type { AttentionShape } from '../../attention/attention';
import { kvLayerBytes, kvRowBytes } from '../../attention/kv_layout';
import { type BufferRange, rangeStride, storedBytes } from '../../gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import type { Rows } from '../kv/kv_branches';
import type { KvArena, KvCache } from '../kv/kv_cache';

/**
 * Each layer is (slots, n_kv_heads, room, head_dim), with scales behind it where it is signed bytes (kv_layout.ts);
 * layers with a window have a ring of their own room.
 */
export interface BatchCache {
  k: BufferRange[];
  v: BufferRange[];
  arenas: readonly KvArena[];
  /** The rows of a slot, as KvBranches copies them. */
  slot(index: number): readonly Rows[];
  destroy(): void;
}

type SlotShape = Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>;

/** Where the slots of a batch lie. */
export type SlotArena = Omit<KvArena, 'k' | 'v'> & {
  /** Bytes of all slots in a layer. */
  layerSize: number;
};

/** @param room positions of a slot */
export function slotArenas(
  { arenas }: Pick<KvCache, 'arenas'>,
  shape: SlotShape,
  slots: number,
  room: number,
): SlotArena[] {
  return arenas.map(({ firstLayer, nLayers, room: whole }) => {
    const own = Math.min(room, whole);
    const layerSize = storedBytes(kvLayerBytes({ ...shape, nKvHeads: slots * shape.nKvHeads }, own));
    return { firstLayer, nLayers, layerBytes: rangeStride(layerSize), room: own, layerSize };
  });
}

/** @param room positions of a slot */
export function createBatchCache(gpu: Gpu, cache: KvCache, shape: SlotShape, slots: number, room: number): BatchCache {
  const ranges: Record<'k' | 'v', BufferRange[]> = { k: [], v: [] };
  const arenas = slotArenas(cache, shape, slots, room).map((arena) => {
    const { firstLayer, nLayers, layerBytes, layerSize: size } = arena;
    const make = (name: 'k' | 'v') => {
      const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
      const buffer = gpu.createBuffer(`batch.${name}.${firstLayer}`, (nLayers - 1) * layerBytes + size, usage);
      for (let i = 0; i < nLayers; i++) ranges[name].push({ buffer, offset: i * layerBytes, size });
      return buffer;
    };
    return { ...arena, k: make('k'), v: make('v') };
  });
  return {
    ...ranges,
    arenas,
    slot: (slot) => arenas.map((rows) => ({ ...rows, slot, slots })),
    destroy() {
      for (const { k, v } of arenas) for (const buffer of [k, v]) gpu.destroyBuffer(buffer);
    },
  };
}

/** Most positions of a slot that buffers can hold. */
export function bindableRoom(gpu: Gpu, { arenas }: Pick<KvCache, 'arenas'>, shape: SlotShape, slots: number): number {
  const row = slots * shape.nKvHeads * kvRowBytes(shape);
  const each = arenas.map(({ nLayers, room }) => {
    const most = Math.floor((gpu.bindingLimit / nLayers - 256) / row);
    return most < room ? most : Number.POSITIVE_INFINITY; // a ring needs no more
  });
  return Math.min(...each);
}
