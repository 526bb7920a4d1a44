// Blocks, limits and scratch memory of flash_prefill_q8, for whoever chooses: its shaders come later.

import { why } from '../../shared/why';
import {
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  check,
  checkLimits,
  checkScratch,
  checkShape,
  mergeParameters,
} from '../attention';

const NAME = 'flash_prefill_q8';
/** Keys of a tile, query rows of a workgroup, its threads, columns with one scale of a key, most columns of a head. */
export const TILE = 64;
export const BLOCK_M = 64;
const THREADS = 128;
const BLOCK = 32;
const MOST_COLUMNS = 128;

/**
 * It has no parameters. Workgroup memory has the bytes of 64 rows, those of 64 keys or their values with scales, and p
 * with the largest scores: less than 16 KiB for heads of 64 columns, and 24 KiB for those of 128.
 */
export function planFlashPrefillQ8(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan {
  checkShape(NAME, shape);
  const { headDim } = shape;
  const isServed = headDim % BLOCK === 0 && headDim <= MOST_COLUMNS;
  check(NAME, isServed, why`head_dim ${headDim} is no multiple of ${BLOCK} up to ${MOST_COLUMNS}`);
  const parameters = mergeParameters(NAME, {}, given);
  checkLimits(NAME, limits, THREADS, 136 * headDim + 6144);
  const bytes = tileBytes(shape);
  checkScratch(NAME, limits, bytes);
  return { parameters, derived: {}, scratchBytes: 2.25 * bytes };
}

/** Bytes of the keys of a layer in tiles, and of its values. The scales of each take an eighth more. */
export function tileBytes({ nKvHeads, headDim, contextLength }: AttentionShape): number {
  return nKvHeads * headDim * Math.ceil(contextLength / TILE) * TILE;
}
