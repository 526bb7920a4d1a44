import wgsl from '../../shaders/attention/fused_decode.wgsl?raw';
import kvF16 from '../../shaders/lib/kv_f16.wgsl?raw';
import kvF32 from '../../shaders/lib/kv_f32.wgsl?raw';
import onlineSoftmax from '../../shaders/lib/online_softmax.wgsl?raw';
import tileMaxSubgroups from '../../shaders/lib/tile_max_subgroups.wgsl?raw';
import tileMaxTree from '../../shaders/lib/tile_max_tree.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { createKernel } from '../gpu/kernel';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  check,
  checkLimits,
  checkShape,
  mergeParameters,
  shapeConstants,
} from './attention';

const NAME = 'fused_decode';
/** Query heads whose accumulators fit the registers of a thread: 8 quads are 32 of them. */
const MAX_HEADS = 8;
/** Threads that share the reduction of one head. */
const MIN_PARTS = 16;

/**
 * WORKGROUP: invocations, and keys in a tile. HEADS: query heads in a workgroup; fewer than the group means more
 * workgroups, each reading K and V again.
 */
export function planFusedDecode(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan {
  checkShape(NAME, shape);
  const group = shape.nHeads / shape.nKvHeads;
  const quads = shape.headDim / 4;
  const parameters = mergeParameters(
    NAME,
    {
      WORKGROUP: Math.min(128, 2 ** Math.floor(Math.log2(limits.maxComputeInvocationsPerWorkgroup))),
      HEADS: Math.ceil(group / Math.ceil(group / MAX_HEADS)),
    },
    given,
  );
  const { WORKGROUP, HEADS } = parameters;
  check(NAME, WORKGROUP >= MIN_PARTS && Number.isInteger(Math.log2(WORKGROUP)), powerOfTwo(WORKGROUP));
  check(NAME, WORKGROUP >= quads, `head_dim ${shape.headDim} needs a WORKGROUP of ${quads} or more, not ${WORKGROUP}`);
  check(NAME, HEADS <= Math.min(group, MAX_HEADS), `HEADS ${HEADS} is above ${Math.min(group, MAX_HEADS)}`);
  const vectors = Math.max(HEADS * quads, Math.min(HEADS, 4) * WORKGROUP);
  // PARTS depends on the subgroup size of the device; counted at its most, one part for every four threads.
  const floats = HEADS * (WORKGROUP + Math.max(MIN_PARTS, WORKGROUP / 4) + 3);
  checkLimits(NAME, limits, WORKGROUP, 16 * vectors + 4 * floats);
  return { parameters, derived: {}, scratchBytes: 0 };
}

/** Decode with a short cache; any number of tokens, each on its own. */
export async function createFusedDecode(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters } = planFusedDecode(shape, gpu.limits, given);
  const { WORKGROUP, HEADS } = parameters;
  const subgroups = gpu.can.subgroupMinSize >= 4;
  const parts = subgroups ? Math.max(MIN_PARTS, WORKGROUP / gpu.can.subgroupMinSize) : MIN_PARTS;
  const kernel = await createKernel(gpu, {
    label: `attention/${NAME}`,
    wgsl: [shape.kvType === 'f16' ? kvF16 : kvF32, onlineSoftmax, subgroups ? tileMaxSubgroups : tileMaxTree, wgsl],
    constants: { ...shapeConstants(shape), ...parameters, PARTS: parts },
    bindings: ['read', 'read', 'read', 'write'],
    subgroups,
  });
  const slices = Math.ceil(shape.nHeads / shape.nKvHeads / HEADS);
  return {
    name: NAME,
    parameters,
    scratchBytes: 0,
    bind(q, k, v, out) {
      const group = kernel.bind(q, k, v, out);
      return { record: (list, nTokens) => list.add(kernel, group, shape.nKvHeads, nTokens, slices) };
    },
    destroy() {},
  };
}

function powerOfTwo(workgroup: number): string {
  return `WORKGROUP ${workgroup} is no power of two from ${MIN_PARTS} up`;
}
