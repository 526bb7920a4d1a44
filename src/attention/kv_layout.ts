// How keys and values of a layer lie in a cache, by their type. Whoever copies, counts or reads them back asks here.

import type { AttentionShape } from './attention';

export type KvType = AttentionShape['kvType'];

/** Rows (nKvHeads, positions) of `rowBytes` each, from byte `offset` of a cache on. */
export interface KvPlane {
  offset: number;
  rowBytes: number;
}

const ELEMENT_BYTES: Readonly<Record<KvType, number>> = { f16: 2, f32: 4, q8: 1 };
/** Of a row in signed bytes, in f32. */
const SCALE_BYTES = 4;
/** What a binding reads at once: the scales of two rows. */
const SCALES_READ = 8;

/** The planes of a cache with room for so many positions: the values, and behind them the scales of signed bytes. */
export function kvPlanes(
  { nKvHeads, headDim, kvType }: Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>,
  positions: number,
): readonly KvPlane[] {
  const values = { offset: 0, rowBytes: headDim * ELEMENT_BYTES[kvType] };
  return kvType === 'q8'
    ? [values, { offset: nKvHeads * positions * values.rowBytes, rowBytes: SCALE_BYTES }]
    : [values];
}

/** Bytes of the key, or of the value, of one token and head, in all planes. */
export function kvRowBytes({ headDim, kvType }: Pick<AttentionShape, 'headDim' | 'kvType'>): number {
  return headDim * ELEMENT_BYTES[kvType] + (kvType === 'q8' ? SCALE_BYTES : 0);
}

/** Bytes of the keys, or of the values, of a layer. */
export function kvLayerBytes(
  shape: Pick<AttentionShape, 'nKvHeads' | 'headDim' | 'kvType'>,
  positions: number,
): number {
  const bytes = shape.nKvHeads * positions * kvRowBytes(shape);
  return shape.kvType === 'q8' ? Math.ceil(bytes / SCALES_READ) * SCALES_READ : bytes;
}
