import decodeTiles from '../../shaders/lib/decode_tiles.wgsl?raw';
import kvOctF16 from '../../shaders/lib/kv_oct_f16.wgsl?raw';
import kvOctF32 from '../../shaders/lib/kv_oct_f32.wgsl?raw';
import onlineSoftmax from '../../shaders/lib/online_softmax.wgsl?raw';
import rowScoresPlain from '../../shaders/lib/row_scores_plain.wgsl?raw';
import rowScoresSubgroups from '../../shaders/lib/row_scores_subgroups.wgsl?raw';
import tileMaxSubgroups from '../../shaders/lib/tile_max_subgroups.wgsl?raw';
import tileMaxTree from '../../shaders/lib/tile_max_tree.wgsl?raw';
import type { Gpu } from '../gpu/device';
import {
  type AttentionLimits,
  type AttentionName,
  type AttentionShape,
  check,
  checkLimits,
  checkShape,
  shapeConstants,
} from './attention';

/** Query heads whose accumulators fit the registers of a thread: 8 octs are 64 of them. */
const MAX_HEADS = 8;
/** Threads that share the reduction of one head. */
const MIN_PARTS = 16;
/** The subgroup path trades sums among four neighbouring threads. */
const TRADERS = 4;

/**
 * WORKGROUP: invocations, and keys in a tile. HEADS: query heads in a workgroup; fewer than the group means more
 * workgroups, each reading K and V again.
 */
export interface DecodeTiles {
  WORKGROUP: number;
  HEADS: number;
}

export function defaultTiles(shape: AttentionShape, limits: AttentionLimits): DecodeTiles {
  const group = shape.nHeads / shape.nKvHeads;
  return {
    WORKGROUP: Math.min(128, 2 ** Math.floor(Math.log2(limits.maxComputeInvocationsPerWorkgroup))),
    HEADS: Math.ceil(group / Math.ceil(group / MAX_HEADS)),
  };
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
  check(name, isPower, `WORKGROUP ${WORKGROUP} is no power of two from ${MIN_PARTS} up`);
  check(name, WORKGROUP >= octs, `head_dim ${shape.headDim} needs a WORKGROUP of ${octs} or more, not ${WORKGROUP}`);
  check(name, HEADS <= Math.min(group, MAX_HEADS), `HEADS ${HEADS} is above ${Math.min(group, MAX_HEADS)}`);
  const merged = Math.min(HEADS, Math.max(256 / WORKGROUP, 1));
  const vectors = Math.max(HEADS * 2 * octs, merged * WORKGROUP * 2);
  // PARTS depends on the subgroup size of the device; counted at its most, one part for every four threads.
  const floats = HEADS * (WORKGROUP + Math.max(MIN_PARTS, WORKGROUP / 4) + 3);
  checkLimits(name, limits, WORKGROUP, 16 * vectors + 4 * floats);
}

/** The source and constants in front of a kernel that calls `attend`. */
export function tileSource(gpu: Gpu, shape: AttentionShape, tiles: DecodeTiles) {
  const subgroups = gpu.can.subgroupMinSize >= TRADERS;
  const parts = subgroups ? Math.max(MIN_PARTS, tiles.WORKGROUP / gpu.can.subgroupMinSize) : MIN_PARTS;
  return {
    wgsl: [
      shape.kvType === 'f16' ? kvOctF16 : kvOctF32,
      onlineSoftmax,
      decodeTiles,
      subgroups ? rowScoresSubgroups : rowScoresPlain,
      subgroups ? tileMaxSubgroups : tileMaxTree,
    ],
    constants: { ...shapeConstants(shape), WORKGROUP: tiles.WORKGROUP, HEADS: tiles.HEADS, PARTS: parts },
    subgroups,
  };
}
