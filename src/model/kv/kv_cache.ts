// The cache of keys and values.

import { type KvType, kvLayerBytes, kvRoom, kvRowBytes, windowReach } from '../../attention/kv_layout';
import { type BufferRange, rangeStride, storedBytes } from '../../gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import type { ModelConfig } from '../config/config';

/**
 * Keys and values of every layer, each (n_kv_heads, room, head_dim), with scales behind them where they are signed
 * bytes (kv_layout.ts), written in place and never grown. A layer with a window has room for the newest alone, in a
 * ring.
 */
export interface KvCache {
  k: BufferRange[];
  v: BufferRange[];
  /** The buffers that k and v lie in, in the order of the layers. */
  arenas: readonly KvArena[];
  /** Positions that each layer has room for. */
  rooms: readonly number[];
  bytes: number;
  /** The positions that the rings still hold. */
  rings: Rings;
}

/** Keys and values of consecutive layers. Those of layer firstLayer + i begin at byte i * layerBytes of both. */
export interface KvArena {
  firstLayer: number;
  nLayers: number;
  k: GPUBuffer;
  v: GPUBuffer;
  layerBytes: number;
  /** Positions that each of these layers has room for. */
  room: number;
}

/** Bytes of the keys and values of a context, about. */
export function kvBytesOf(config: ModelConfig, kvType: KvType, contextLength: number): number {
  const perLayer = 2 * config.nKvHeads * kvRowBytes({ ...config, kvType });
  return runsOf(config, contextLength).reduce((sum, { nLayers, room }) => sum + nLayers * room * perLayer, 0);
}

/** Bytes of the keys and values of one token in all layers, whatever their windows. */
export function kvBytesPerToken({ nLayers, nKvHeads, headDim }: ModelConfig, kvType: KvType): number {
  return 2 * nLayers * nKvHeads * kvRowBytes({ headDim, kvType });
}

/** Bytes of keys and values that a step reads for each earlier position: of all of them, and of the last in windows. */
export interface KvReads {
  kvPerPosition: number;
  kvInWindows: { positions: number; perPosition: number }[];
}

export function kvReadsOf(config: ModelConfig, kvType: KvType): KvReads {
  const perLayer = kvBytesPerToken({ ...config, nLayers: 1 }, kvType);
  const reads: KvReads = { kvPerPosition: 0, kvInWindows: [] };
  for (const { window } of config.layers) {
    const alike = reads.kvInWindows.find(({ positions }) => positions + 1 === window);
    if (window === null) reads.kvPerPosition += perLayer;
    else if (alike) alike.perPosition += perLayer;
    else reads.kvInWindows.push({ positions: window - 1, perPosition: perLayer });
  }
  return reads;
}

/** Consecutive layers with room for as many positions. */
interface Run {
  firstLayer: number;
  nLayers: number;
  room: number;
}

/** The shape that decides how much layers with windows hold. A causal pass is no longer than their least reach. */
function windowShape({ causal }: ModelConfig, contextLength: number) {
  return { contextLength, maxTokens: causal ? 0 : contextLength };
}

function runsOf(config: ModelConfig, contextLength: number): Run[] {
  const shape = windowShape(config, contextLength);
  const runs: Run[] = [];
  for (const [firstLayer, { window }] of config.layers.entries()) {
    const room = kvRoom(shape, window);
    const last = runs.at(-1);
    if (last?.room === room) last.nLayers++;
    else runs.push({ firstLayer, nLayers: 1, room });
  }
  return runs;
}

/** Arenas of as many layers alike as one binding holds. */
export function createKvCache(gpu: Gpu, config: ModelConfig, contextLength: number, kvType: KvType): KvCache {
  const before = gpu.allocatedBytes;
  const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
  const arenas: KvArena[] = [];
  const cache: Record<'k' | 'v', BufferRange[]> = { k: [], v: [] };
  const runs = runsOf(config, contextLength);
  for (const { firstLayer: first, nLayers, room } of runs) {
    const size = storedBytes(kvLayerBytes({ ...config, kvType }, room));
    const layerBytes = rangeStride(size);
    const most = Math.max(1, Math.floor(gpu.bindingLimit / layerBytes));
    for (let firstLayer = first; firstLayer < first + nLayers; firstLayer += most) {
      const count = Math.min(most, first + nLayers - firstLayer);
      const make = (name: string) =>
        gpu.createBuffer(`kv_cache.${name}.${firstLayer}`, (count - 1) * layerBytes + size, usage);
      const arena = { firstLayer, nLayers: count, k: make('k'), v: make('v'), layerBytes, room };
      arenas.push(arena);
      for (const name of ['k', 'v'] as const) {
        for (let i = 0; i < count; i++) cache[name].push({ buffer: arena[name], offset: i * layerBytes, size });
      }
    }
  }
  const reach = windowReach(windowShape(config, contextLength));
  const rings = new Rings(Math.min(...runs.map(({ room }) => room)), contextLength, reach);
  const rooms = arenas.flatMap(({ nLayers, room }) => Array.from({ length: nLayers }, () => room));
  return { ...cache, arenas, rooms, bytes: gpu.allocatedBytes - before, rings };
}

/**
 * Which positions the rings of a cache still hold. All layers hold `room` of the newest, which reach `reach` behind any
 * window.
 */
class Rings {
  /** The end of the positions that were written since position 0 was. */
  written = 0;

  constructor(
    /** Positions of the layer with the fewest. */
    readonly room: number,
    contextLength: number,
    private readonly reach: number,
  ) {
    if (room >= contextLength) this.room = Number.POSITIVE_INFINITY;
  }

  /** Notes that a pass writes positions up to `end`. */
  write(position: number, end: number): void {
    this.written = position === 0 ? end : Math.max(this.written, end);
  }

  /** The fewest leading positions, none aside, behind which the conversation can go on in another way. */
  get least(): number {
    return this.leastAfter(this.written);
  }

  /** The same for rings in which positions up to `written` were. */
  leastAfter(written: number): number {
    return written <= this.room ? 0 : written - this.reach;
  }
}
