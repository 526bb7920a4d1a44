// Keys and values of some positions as bytes, for storage: keys of all layers, then values, each (n_kv_heads, tokens,
// head_dim) per layer, with their scales (kv_layout.ts). The same bytes however the cache is cut into buffers. In a
// model with windows only positions that no ring has begun again for.

import type { AttentionShape } from '../../attention/attention';
import { kvPlanes, kvRowBytes } from '../../attention/kv_layout';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_MAP_READ, type Gpu } from '../../gpu/device';
import type { KvCache } from './kv_cache';

type Shape = Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>;

export class KvPieces {
  private readonly rowBytes: number;

  constructor(
    private readonly gpu: Gpu,
    private readonly kvCache: KvCache,
    private readonly shape: Shape,
    /** Writes the ids of positions 0, 1, ..., which the penalties read. */
    private readonly writeTokens: (ids: Uint32Array<ArrayBuffer>) => void,
  ) {
    this.rowBytes = kvRowBytes(shape);
  }

  /** Reads `tokens` positions from `first` on. Null where memory is refused, or a ring may hold others. */
  async read(first: number, tokens: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const { gpu } = this;
    const { rings } = this.kvCache;
    if (rings.written > rings.room) return null;
    const size = this.sizeOf(tokens);
    const staging = await this.create(size, GPU_MAP_READ | GPU_COPY_DST);
    if (!staging) return null;
    try {
      const encoder = gpu.device.createCommandEncoder({ label: 'stored.read' });
      let at = 0;
      for (const { buffer, offset, rowBytes } of this.rows(first)) {
        encoder.copyBufferToBuffer(buffer, offset, staging, at, tokens * rowBytes);
        at += tokens * rowBytes;
      }
      gpu.submit(encoder.finish());
      return new Uint8Array(await gpu.readMapped(staging, size));
    } finally {
      gpu.destroyBuffer(staging);
    }
  }

  /**
   * Writes what `read` gave for positions from `first` on, up to the end of `ids`. False where memory is refused, or a
   * ring has no room for them.
   */
  async write(ids: Uint32Array<ArrayBuffer>, first: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const { gpu } = this;
    const tokens = ids.length - first;
    const size = this.sizeOf(tokens);
    if (bytes.length !== size) throw new RangeError(`${tokens} tokens are ${size} bytes, not ${bytes.length}.`);
    const { rings } = this.kvCache;
    if (ids.length > rings.room || (first > 0 && rings.written > rings.room)) return false;
    const staging = await this.create(size, GPU_COPY_SRC | GPU_COPY_DST);
    if (!staging) return false;
    rings.write(first, ids.length);
    gpu.write(staging, bytes);
    const encoder = gpu.device.createCommandEncoder({ label: 'stored.write' });
    let at = 0;
    for (const { buffer, offset, rowBytes } of this.rows(first)) {
      encoder.copyBufferToBuffer(staging, at, buffer, offset, tokens * rowBytes);
      at += tokens * rowBytes;
    }
    gpu.submit(encoder.finish());
    gpu.destroyBuffer(staging);
    this.writeTokens(ids);
    return true;
  }

  private sizeOf(tokens: number): number {
    return 2 * this.kvCache.k.length * this.shape.nKvHeads * tokens * this.rowBytes;
  }

  private create(size: number, usage: GPUBufferUsageFlags): Promise<GPUBuffer | null> {
    return this.gpu.tryMemory('A stored prompt', () => this.gpu.createBuffer('stored', size, usage));
  }

  /** Yields the place of position `first` of each head: in each layer the values of all heads, then their scales. */
  private *rows(first: number): Iterable<{ buffer: GPUBuffer; offset: number; rowBytes: number }> {
    const { nKvHeads } = this.shape;
    for (const name of ['k', 'v'] as const) {
      for (const [layer, { buffer, offset: from }] of this.kvCache[name].entries()) {
        const room = this.kvCache.rooms[layer];
        for (const { offset, rowBytes } of kvPlanes(this.shape, room)) {
          for (let head = 0; head < nKvHeads; head++) {
            yield { buffer, offset: from + offset + (head * room + first) * rowBytes, rowBytes };
          }
        }
      }
    }
  }
}
