import wgsl from '../../shaders/attention/fused_decode.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { createKernel } from '../gpu/kernel';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  mergeParameters,
} from './attention';
import { checkTiles, defaultTiles, headSlices, tileSource } from './decode_tiles';

const NAME = 'fused_decode';

/** WORKGROUP, HEADS: see DecodeTiles. */
export function planFusedDecode(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<'WORKGROUP' | 'HEADS'> {
  const parameters = mergeParameters(NAME, { ...defaultTiles(shape, limits, 0) }, given);
  checkTiles(NAME, shape, limits, parameters);
  return { parameters, derived: {}, scratchBytes: 0 };
}

/** Decode with a short cache; any number of tokens, each on its own. */
export async function createFusedDecode(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters } = planFusedDecode(shape, gpu.limits, given);
  const source = tileSource(gpu, shape, parameters);
  const kernel = await createKernel(gpu, {
    ...source,
    label: `attention/${NAME}`,
    wgsl: [...source.wgsl, wgsl],
    bindings: ['read', 'read', 'read', 'write'],
  });
  return {
    name: NAME,
    parameters,
    scratchBytes: 0,
    bind(q, k, v, out) {
      const group = kernel.bind(q, k, v, out);
      return {
        record: (list, nTokens) => list.add(kernel, group, shape.nKvHeads, nTokens, headSlices(shape, parameters)),
      };
    },
    destroy() {},
  };
}
