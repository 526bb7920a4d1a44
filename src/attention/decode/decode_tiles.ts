// The tiles that fused_decode and split_kv_decode share: workgroup sizes, checks, shader pieces.

import columns from '../../../shaders/attention/decode/columns.wgsl?raw';
import decodeTiles from '../../../shaders/attention/decode/decode_tiles.wgsl?raw';
import rowScoresPlain from '../../../shaders/attention/decode/row_scores_plain.wgsl?raw';
import rowScoresSubgroups from '../../../shaders/attention/decode/row_scores_subgroups.wgsl?raw';
import tileReduceSubgroups from '../../../shaders/attention/decode/tile_reduce_subgroups.wgsl?raw';
import tileReduceTree from '../../../shaders/attention/decode/tile_reduce_tree.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { BindingKind } from '../../gpu/kernel';
import { arrived } from '../../shared/part';
import { why } from '../../shared/why';
import {
  type AttentionLimits,
  type AttentionName,
  type AttentionShape,
  check,
  checkLimits,
  checkShape,
} from '../attention';
import { attentionSource } from '../source';

/** Query heads whose accumulators fit the registers of a thread: eight columns of 8 heads are 64 of them. */
const MAX_HEADS = 8;
/**
 * Threads that share a reduction where there are no subgroups, and the smallest workgroup: the fastest one where
 * threads run one after another (0.3 ms instead of 1.6 with 10 keys, 1.4 instead of 2.9 with 200).
 */
const MIN_PARTS = 16;
/** Threads by default. */
const SHORT_TILE = 128;
const LONG_TILE = 256;
/**
 * The subgroup path trades sums among four neighboring threads. On an adapter in software the plain path runs in two
 * thirds of its time and compiles in a quarter.
 */
const TRADERS = 4;

/**
 * WORKGROUP: invocations, and keys in a tile. HEADS: query heads in a workgroup; fewer than the group means more
 * workgroups, each reading K and V again.
 */
export interface DecodeTiles {
  WORKGROUP: number;
  HEADS: number;
}

/**
 * Default tiles of workgroups that attend to `keys` keys each: no more threads than keys, within the limits of the GPU.
 */
export function defaultTiles(shape: AttentionShape, limits: AttentionLimits, keys: number): DecodeTiles {
  const group = shape.nHeads / shape.nKvHeads;
  const HEADS = Math.ceil(group / Math.ceil(group / MAX_HEADS));
  const { maxComputeInvocationsPerWorkgroup: most, maxComputeWorkgroupStorageSize: memory } = limits;
  const octs = 2 ** Math.ceil(Math.log2(shape.headDim / 8));
  const usual = keys >= LONG_TILE ? LONG_TILE : SHORT_TILE;
  let WORKGROUP = limits.isSoftware ? Math.max(MIN_PARTS, octs) : usual;
  while (WORKGROUP > MIN_PARTS && (WORKGROUP > most || tileBytes(shape, { WORKGROUP, HEADS }) > memory)) WORKGROUP /= 2;
  return { WORKGROUP, HEADS };
}

/** Workgroups that share a KV head's group of query heads. */
export function headSlices(shape: AttentionShape, { HEADS }: DecodeTiles): number {
  return Math.ceil(shape.nHeads / shape.nKvHeads / HEADS);
}

export function checkTiles(
  name: AttentionName,
  shape: AttentionShape,
  limits: AttentionLimits,
  { WORKGROUP, HEADS }: DecodeTiles,
): void {
  checkShape(name, shape);
  const group = shape.nHeads / shape.nKvHeads;
  const octs = shape.headDim / 8;
  const isPower = WORKGROUP >= MIN_PARTS && Number.isInteger(Math.log2(WORKGROUP));
  check(name, isPower, why`WORKGROUP ${WORKGROUP} is no power of two from ${MIN_PARTS} up`);
  check(name, WORKGROUP >= octs, why`head_dim ${shape.headDim} needs a WORKGROUP of ${octs} or more, not ${WORKGROUP}`);
  check(name, HEADS <= Math.min(group, MAX_HEADS), why`HEADS ${HEADS} is above ${Math.min(group, MAX_HEADS)}`);
  checkLimits(name, limits, WORKGROUP, tileBytes(shape, { WORKGROUP, HEADS }));
}

/** Workgroup memory. PARTS depends on the subgroups of the device: counted at its most, one for every four threads. */
function tileBytes({ headDim }: AttentionShape, { WORKGROUP, HEADS }: DecodeTiles): number {
  const parts = Math.max(MIN_PARTS, WORKGROUP / TRADERS);
  return 16 * Math.ceil(HEADS / 4) * (headDim + 2 * (WORKGROUP + parts));
}

/**
 * The source and constants in front of a kernel that calls `attend`, and its bindings: keys in signed bytes are scored
 * in integers by the lanes of subgroups, where there are any. (With halves, heads of 128 took 49 us so instead of 44 on
 * an H200, over 32,768 keys.)
 */
export async function tileSource(
  gpu: Gpu,
  shape: AttentionShape,
  tiles: DecodeTiles,
  bindings: readonly BindingKind[],
) {
  const subgroups = gpu.can.subgroupMinSize >= TRADERS && !gpu.isSoftware;
  if (subgroups && shape.kvType === 'q8') {
    const { laneSource } = await arrived(import('./lane_source'));
    const lanes = await laneSource(gpu, shape, tiles, bindings);
    if (lanes) return lanes;
  }
  const source = await attentionSource(shape, bindings, 'octs');
  const subgroup = Math.min(gpu.can.subgroupMinSize, tiles.WORKGROUP);
  const parts = subgroups ? tiles.WORKGROUP / subgroup : MIN_PARTS;
  return {
    ...source,
    wgsl: [
      ...source.wgsl,
      columns,
      decodeTiles,
      subgroups ? rowScoresSubgroups : rowScoresPlain,
      subgroups ? tileReduceSubgroups : tileReduceTree,
    ],
    constants: {
      ...source.constants,
      WORKGROUP: tiles.WORKGROUP,
      HEADS: tiles.HEADS,
      PARTS: parts,
      SUBGROUP: subgroup,
    },
    subgroups,
  };
}
