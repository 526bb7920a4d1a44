// Copies of keys and values beside the cache, without the room for more tokens: (n_kv_heads, tokens, head_dim) per
// layer, with their scales (kv_layout.ts); of layers with a window as many as the cache holds, in the same rows of a
// ring. Made and brought back by copies of buffers. Decides nothing: engine/worker/prefix_cache does.

import type { AttentionShape } from '../../attention/attention';
import { kvPlanes, kvRowBytes } from '../../attention/kv_layout';
import { GPU_COPY_DST, GPU_COPY_SRC, type Gpu } from '../../gpu/device';
import type { KvCache } from './kv_cache';

/** The place of the rows of consecutive layers. */
export interface Rows {
  k: GPUBuffer;
  v: GPUBuffer;
  /** Bytes from a layer to the next. */
  layerBytes: number;
  /** The rows that a head has room for. */
  room: number;
  /** The slot of the conversation, and the slots of all, whose heads follow one another. Default: the only one. */
  slot?: number;
  slots?: number;
}

type Shape = Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>;

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
    this.cache = kvCache.arenas.map(({ k, v, layerBytes, room }) => ({ k, v, layerBytes, room }));
  }

  /** Copies keys and values of the first `tokens` positions. Null where their memory is refused. */
  park(tokens: number, room = tokens): Promise<ParkedRows | null> {
    return this.copyOf(this.cache, tokens, room, this.kvCache.rings.written);
  }

  /** Copies the first rows of `from` to buffers of their own, with room for `most` rows, or for a layer's ring. */
  async copyOf(from: readonly Rows[], tokens: number, most: number, written: number): Promise<ParkedRows | null> {
    const create = () =>
      this.kvCache.arenas.map(({ firstLayer, nLayers, room: whole }): Rows => {
        const room = Math.min(most, whole);
        const layerBytes = this.shape.nKvHeads * room * this.rowBytes;
        const make = (name: string) =>
          this.gpu.createBuffer(`parked.${name}.${firstLayer}`, nLayers * layerBytes, GPU_COPY_SRC | GPU_COPY_DST);
        return { k: make('k'), v: make('v'), layerBytes, room };
      });
    const rows = await this.gpu.tryMemory('A parked conversation', create);
    if (!rows) return null;
    if (tokens > 0) this.copy(from, rows, 0, tokens);
    return new ParkedRows(this, rows, written);
  }

  /** Copies rows and their ids back into the cache. `written`: the end of the positions that their rings had seen. */
  restore(rows: readonly Rows[], ids: Uint32Array<ArrayBuffer>, written: number): void {
    this.copy(rows, this.cache, 0, ids.length);
    this.kvCache.rings.written = written;
    this.writeTokens(ids);
  }

  /** Copies rows of the cache from `first` on, up to `tokens`. Returns the end of what its rings have seen. */
  extend(rows: readonly Rows[], first: number, tokens: number): number {
    if (first < tokens) this.copy(this.cache, rows, first, tokens);
    return this.kvCache.rings.written;
  }

  /** Copies the first `tokens` positions of the cache to a slot with these rows. */
  fill(rows: readonly Rows[], tokens: number): SlotRows {
    return new SlotRows(this, rows, tokens, this.kvCache);
  }

  destroy(rows: readonly Rows[]): void {
    for (const { k, v } of rows) for (const buffer of [k, v]) this.gpu.destroyBuffer(buffer);
  }

  /** Copies the rows of each head from `first` on, up to `tokens`. */
  private copy(from: readonly Rows[], to: readonly Rows[], first: number, tokens: number): void {
    const encoder = this.gpu.device.createCommandEncoder({ label: 'parked' });
    for (const [i, { nLayers, room }] of this.kvCache.arenas.entries()) {
      for (const [begin, end] of ringRows(first, tokens, room)) {
        const [sources, targets] = [from, to].map((each) => runsOf(each[i], nLayers, this.shape, begin));
        for (const [run, { at, rowBytes }] of sources.entries()) {
          const bytes = (end - begin) * rowBytes;
          encoder.copyBufferToBuffer(from[i].k, at, to[i].k, targets[run].at, bytes);
          encoder.copyBufferToBuffer(from[i].v, at, to[i].v, targets[run].at, bytes);
        }
      }
    }
    this.gpu.submit(encoder.finish());
  }
}

/** The rows of positions first to end of a ring of `room`, in runs. */
function ringRows(first: number, end: number, room: number): (readonly [begin: number, end: number])[] {
  if (end <= room) return [[first, end]];
  if (end - first >= room) return [[0, room]];
  const [begin, last] = [first % room, end % room];
  return begin < last ? [[begin, last]] : [[begin, room], ...(last > 0 ? ([[0, last]] as const) : [])];
}

/** Yields the place of row `first` of each head, in each plane of each layer. */
function runsOf({ layerBytes, room, slot = 0, slots = 1 }: Rows, nLayers: number, shape: Shape, first: number) {
  const { nKvHeads } = shape;
  const heads = Array.from({ length: nLayers * nKvHeads }, (_, i) => i);
  return kvPlanes({ ...shape, nKvHeads: slots * nKvHeads }, room).flatMap(({ offset, rowBytes }) =>
    heads.map((i) => {
      const layer = Math.floor(i / nKvHeads) * layerBytes;
      const head = slot * nKvHeads + (i % nKvHeads);
      return { at: layer + offset + (head * room + first) * rowBytes, rowBytes };
    }),
  );
}

/** One copy. */
export class ParkedRows {
  constructor(
    private readonly branches: KvBranches,
    private readonly rows: readonly Rows[],
    protected written: number,
  ) {}

  /** Copies the positions of `ids` back into the cache. */
  restore(ids: Uint32Array<ArrayBuffer>): void {
    this.branches.restore(this.rows, ids, this.written);
  }

  /** A copy of the first `tokens` positions alone. Null where its memory is refused. */
  shrink(tokens: number): Promise<ParkedRows | null> {
    return this.branches.copyOf(this.rows, tokens, tokens, this.written);
  }

  /** Copies rows of the cache from `first` on, up to `tokens`, for which there is room. */
  extend(first: number, tokens: number): boolean {
    this.written = Math.max(tokens, this.branches.extend(this.rows, first, tokens));
    return true;
  }

  destroy(): void {
    this.branches.destroy(this.rows);
  }
}

/** A conversation in a slot of a batch, as a copy beside the cache that ends with all slots. */
export class SlotRows extends ParkedRows {
  /** Copies the first `tokens` positions of the cache. */
  constructor(
    branches: KvBranches,
    rows: readonly Rows[],
    tokens: number,
    private readonly cache: Pick<KvCache, 'rings'>,
  ) {
    super(branches, rows, cache.rings.written);
    this.extend(0, tokens);
  }

  /** The fewest leading positions that another conversation can begin with, none aside: its rings lost others. */
  get least(): number {
    return this.cache.rings.leastAfter(this.written);
  }

  /** Notes that steps have written positions up to `end`. */
  wrote(end: number): void {
    this.written = Math.max(this.written, end);
  }

  override destroy(): void {}
}
