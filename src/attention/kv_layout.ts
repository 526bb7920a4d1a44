// How keys and values of a layer lie in a cache, by their type. Whoever copies, counts or reads them back asks here.

import { type KvType, kvRoom, kvRowBytes, kvValueBytes, SCALE_BYTES, windowReach } from '../shared/kv_rows';
import type { AttentionShape } from './attention';

export { type KvType, kvRoom, kvRowBytes, windowReach };

/** Rows (nKvHeads, positions) of `rowBytes` each, from byte `offset` of a cache on. */
export interface KvPlane {
  offset: number;
  rowBytes: number;
}

/** Most bytes that a binding reads at once: the scales of four rows. */
const SCALES_READ = 16;

/** The planes of a cache with room for so many positions: the values, and behind them the scales of signed bytes. */
export function kvPlanes(
  { nKvHeads, headDim, kvType }: Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>,
  positions: number,
): readonly KvPlane[] {
  const values = { offset: 0, rowBytes: kvValueBytes({ headDim, kvType }) };
  return kvType === 'q8'
    ? [values, { offset: nKvHeads * positions * values.rowBytes, rowBytes: SCALE_BYTES }]
    : [values];
}

/** Bytes of the keys, or of the values, of a layer. */
export function kvLayerBytes(
  shape: Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>,
  positions: number,
): number {
  const bytes = shape.nKvHeads * positions * kvRowBytes(shape);
  return shape.kvType === 'q8' ? Math.ceil(bytes / SCALES_READ) * SCALES_READ : bytes;
}
