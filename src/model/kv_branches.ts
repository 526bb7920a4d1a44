// Copies of keys and values beside the cache, without the room for more tokens: (n_kv_heads, tokens, head_dim) per
// layer, with their scales (kv_layout.ts). Made and brought back by copies of buffers. Decides nothing:
// engine/worker/branches.ts does.

import type { AttentionShape } from '../attention/attention';
import { kvPlanes, kvRowBytes } from '../attention/kv_layout';
import { GpuMemoryError } from '../errors';
import { GPU_COPY_DST, GPU_COPY_SRC, type Gpu } from '../gpu/device';
import type { KvCache } from './kv_cache';

/** Where the rows of consecutive layers lie. */
interface Rows {
  k: GPUBuffer;
  v: GPUBuffer;
  /** Bytes from a layer to the next. */
  layerBytes: number;
  /** The rows that a head has room for. */
  room: number;
}

type Shape = Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType' | 'contextLength'>;

/** The places for copies beside one cache. */
export class KvBranches {
  private readonly rowBytes: number;
  private readonly cache: readonly Rows[];

  constructor(
    private readonly gpu: Gpu,
    private readonly kvCache: KvCache,
    private readonly shape: Shape,
    /** Writes the ids of positions 0, 1, ..., which the penalties read. */
    private readonly writeTokens: (ids: Uint32Array<ArrayBuffer>) => void,
  ) {
    this.rowBytes = kvRowBytes(shape);
    this.cache = kvCache.arenas.map(({ k, v, layerBytes }) => ({ k, v, layerBytes, room: shape.contextLength }));
  }

  get bytesPerToken(): number {
    return 2 * this.kvCache.k.length * this.shape.nKvHeads * this.rowBytes;
  }

  /** Copies keys and values of the first `tokens` positions. Null where their memory is refused. */
  park(tokens: number, room = tokens): Promise<ParkedRows | null> {
    return this.copyOf(this.cache, tokens, room);
  }

  /** Copies the first rows of `from` to buffers of their own, which have room for `room` rows. */
  async copyOf(from: readonly Rows[], tokens: number, room = tokens): Promise<ParkedRows | null> {
    const layerBytes = this.shape.nKvHeads * room * this.rowBytes;
    const create = () =>
      this.kvCache.arenas.map(({ firstLayer, nLayers }): Rows => {
        const make = (name: string) =>
          this.gpu.createBuffer(`parked.${name}.${firstLayer}`, nLayers * layerBytes, GPU_COPY_SRC | GPU_COPY_DST);
        return { k: make('k'), v: make('v'), layerBytes, room };
      });
    try {
      const rows = await this.gpu.guardMemory('A parked conversation', create);
      this.copy(from, rows, 0, tokens);
      return new ParkedRows(this, rows);
    } catch (error) {
      if (error instanceof GpuMemoryError && !this.gpu.failure) return null;
      throw error;
    }
  }

  /** Copies rows and their ids back into the cache. */
  restore(rows: readonly Rows[], ids: Uint32Array<ArrayBuffer>): void {
    this.copy(rows, this.cache, 0, ids.length);
    this.writeTokens(ids);
  }

  /** Copies rows of the cache from `first` on, up to `tokens`. */
  extend(rows: readonly Rows[], first: number, tokens: number): void {
    if (first < tokens) this.copy(this.cache, rows, first, tokens);
  }

  destroy(rows: readonly Rows[]): void {
    for (const { k, v } of rows) for (const buffer of [k, v]) this.gpu.destroyBuffer(buffer);
  }

  /** Copies the rows of each head from `first` on, up to `tokens`. */
  private copy(from: readonly Rows[], to: readonly Rows[], first: number, tokens: number): void {
    const encoder = this.gpu.device.createCommandEncoder({ label: 'parked' });
    for (const [i, { nLayers }] of this.kvCache.arenas.entries()) {
      const [sources, targets] = [from, to].map((each) => runsOf(each[i], nLayers, this.shape, first));
      for (const [run, { at, rowBytes }] of sources.entries()) {
        const bytes = (tokens - first) * rowBytes;
        encoder.copyBufferToBuffer(from[i].k, at, to[i].k, targets[run].at, bytes);
        encoder.copyBufferToBuffer(from[i].v, at, to[i].v, targets[run].at, bytes);
      }
    }
    this.gpu.submit(encoder.finish());
  }
}

/** Where row `first` of each head lies, in each plane of each layer. */
function runsOf({ layerBytes, room }: Rows, nLayers: number, shape: Shape, first: number) {
  const heads = Array.from({ length: nLayers * shape.nKvHeads }, (_, i) => i);
  return kvPlanes(shape, room).flatMap(({ offset, rowBytes }) =>
    heads.map((i) => {
      const layer = Math.floor(i / shape.nKvHeads) * layerBytes;
      return { at: layer + offset + ((i % shape.nKvHeads) * room + first) * rowBytes, rowBytes };
    }),
  );
}

/** One copy. */
class ParkedRows {
  constructor(
    private readonly branches: KvBranches,
    private readonly rows: readonly Rows[],
  ) {}

  /** Copies the positions of `ids` back into the cache. */
  restore(ids: Uint32Array<ArrayBuffer>): void {
    this.branches.restore(this.rows, ids);
  }

  /** A copy of the first `tokens` positions alone. Null where its memory is refused. */
  shrink(tokens: number): Promise<ParkedRows | null> {
    return this.branches.copyOf(this.rows, tokens);
  }

  /** Copies rows of the cache from `first` on, up to `tokens`, for which there is room. */
  extend(first: number, tokens: number): boolean {
    this.branches.extend(this.rows, first, tokens);
    return true;
  }

  destroy(): void {
    this.branches.destroy(this.rows);
  }
}
