// The source of decode attention over keys in signed bytes by lanes of subgroups: a part that comes where a GPU has
// subgroups.

import columns from '../../../shaders/attention/decode/columns.wgsl?raw';
import decodeLanes from '../../../shaders/attention/lanes/decode_lanes.wgsl?raw';
import keysQ8 from '../../../shaders/attention/lanes/lane_keys_q8.wgsl?raw';
import lanesWgsl from '../../../shaders/attention/lanes/lanes.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { BindingKind } from '../../gpu/kernel';
import { CELLS, laneVectors, planLanes, unrolledLanes } from '../../shared/lanes';
import type { AttentionShape } from '../attention';
import { attentionSource } from '../source';

/**
 * The source and constants in front of a kernel that calls `attend`, and its bindings. Null for heads that no cells
 * fill, or for more workgroup memory than there is.
 */
export async function laneSource(
  gpu: Gpu,
  shape: AttentionShape,
  tiles: { WORKGROUP: number; HEADS: number },
  bindings: readonly BindingKind[],
) {
  if (shape.headDim % CELLS.q8.dims !== 0) return null;
  const lanes = planLanes(shape, Math.min(gpu.can.subgroupMinSize, tiles.WORKGROUP));
  const subgroups = tiles.WORKGROUP / lanes.SUBGROUP;
  const vectors = laneVectors(shape, lanes, Math.ceil(tiles.HEADS / 4), subgroups) + tiles.WORKGROUP;
  if (16 * vectors > gpu.limits.maxComputeWorkgroupStorageSize) return null;
  const source = await attentionSource(shape, bindings, 'cells');
  return {
    ...source,
    wgsl: [...source.wgsl, columns, lanesWgsl, unrolledLanes(shape.headDim, tiles.HEADS, lanes), decodeLanes, keysQ8],
    constants: { ...source.constants, ...tiles, ...lanes },
    subgroups: true,
  };
}
