// The bytes of keys and values, and the positions that a layer has room for. The engine allocates by them, and the page
// foresees with them whether a model fits.

/** How the numbers of keys and values are stored. */
export type KvType = 'f16' | 'f32' | 'q8';

const ELEMENT_BYTES: Readonly<Record<KvType, number>> = { f16: 2, f32: 4, q8: 1 };
/** Bytes of the scale of a row in signed bytes: one f32. */
export const SCALE_BYTES = 4;

/**
 * Positions that a layer with a window keeps beyond it: as many may run in one pass, or be taken back and run again in
 * another way (an answer that is generated anew).
 */
const WINDOW_REACH = 1024;

interface Row {
  headDim: number;
  kvType: KvType;
}

/** Bytes of the values of a row, without its scale. */
export function kvValueBytes({ headDim, kvType }: Row): number {
  return headDim * ELEMENT_BYTES[kvType];
}

/** Bytes of the key, or of the value, of one token and head, in all planes. */
export function kvRowBytes(row: Row): number {
  return kvValueBytes(row) + (row.kvType === 'q8' ? SCALE_BYTES : 0);
}

/** The farthest that the positions of a pass, or positions that are taken back, reach in layers with a window. */
export function windowReach({ maxTokens }: { maxTokens: number }): number {
  return Math.max(WINDOW_REACH, maxTokens);
}

/**
 * The positions that a layer has room for: the whole context, or its window and what may reach back, in a ring.
 */
export function kvRoom(shape: { contextLength: number; maxTokens: number }, window: number | null): number {
  return window === null ? shape.contextLength : Math.min(shape.contextLength, window - 1 + windowReach(shape));
}
