// The memory of conversations beside the cache, counted. What copies keys and values is a part: the first conversation
// needs no copy.

import type { AttentionShape } from '../../attention/attention';
import { kvRowBytes } from '../../attention/kv_layout';
import type { Gpu } from '../../gpu/device';
import { arrived } from '../../shared/part';
import type { KvBranches, ParkedRows } from './kv_branches';
import type { KvCache } from './kv_cache';

export class KvParking {
  constructor(
    private readonly gpu: Gpu,
    private readonly kvCache: KvCache,
    private readonly shape: Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>,
    private readonly writeTokens: (ids: Uint32Array<ArrayBuffer>) => void,
  ) {}

  /** Of a layer. */
  private get rowBytes(): number {
    return 2 * this.shape.nKvHeads * kvRowBytes(this.shape);
  }

  get bytesPerToken(): number {
    return this.kvCache.k.length * this.rowBytes;
  }

  bytesOf(tokens: number): number {
    return this.kvCache.arenas.reduce(
      (sum, { nLayers, room }) => sum + nLayers * this.rowBytes * Math.min(tokens, room),
      0,
    );
  }

  /** The fewest leading positions of the cache that a conversation can return to, none aside: a ring lost others. */
  get least(): number {
    return this.kvCache.rings.least;
  }

  /** @throws MissingPartError */
  async prepare(): Promise<KvBranches> {
    const { KvBranches } = await arrived(import('./kv_branches'));
    return new KvBranches(this.gpu, this.kvCache, this.shape, this.writeTokens);
  }

  /**
   * Copies keys and values of the first `tokens` positions. Null where their memory is refused.
   * @throws MissingPartError
   */
  async park(tokens: number, room = tokens): Promise<ParkedRows | null> {
    return (await this.prepare()).park(tokens, room);
  }
}
