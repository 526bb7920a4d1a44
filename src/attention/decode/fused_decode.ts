// Decode attention in one dispatch: limits and grid of shaders/attention/decode/fused_decode.wgsl.

import wgsl from '../../../shaders/attention/decode/fused_decode.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { createKernel } from '../../gpu/kernel';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  attentionLimits,
  mergeParameters,
} from '../attention';
import { Windows } from '../source';
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
  const { parameters } = planFusedDecode(shape, attentionLimits(gpu), given);
  const source = await tileSource(gpu, shape, parameters, ['read', 'read', 'read', 'write']);
  const kernel = await createKernel(gpu, {
    ...source,
    label: `attention/${NAME}`,
    wgsl: [...source.wgsl, wgsl],
  });
  const windows = new Windows(gpu, NAME, shape);
  return {
    name: NAME,
    parameters,
    scratchBytes: 0,
    bind(q, k, v, out, window, room) {
      const group = kernel.bind(q, k, v, out, ...windows.of(window, room));
      return {
        record: (list, nTokens) => list.add(kernel, group, shape.nKvHeads, nTokens, headSlices(shape, parameters)),
      };
    },
    destroy: () => windows.destroy(),
  };
}
