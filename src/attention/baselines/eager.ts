// Unfused attention with whole score matrices: limits, grids and bindings of shaders/attention/baselines/eager.wgsl.

import wgsl from '../../../shaders/attention/baselines/eager.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { why } from '../../shared/why';
import { type AttentionKernel, type AttentionShape, attentionLimits, check } from '../attention';
import { planEager } from './baseline_plans';
import { createScored } from './scored';

const NAME = 'eager';
/** Workgroups that stride over the keys of a tile of tokens, and over the scores of a head, at most. */
const MAX_KEY_GROUPS = 64;
const MAX_SCALE_GROUPS = 256;

/** Prefill and decode, unfused: the baseline that fusion is measured against. */
export async function createEager(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, derived, scratchBytes } = planEager(shape, attentionLimits(gpu), given);
  const { nHeads, headDim, contextLength, maxTokens } = shape;
  const { HEADS, WORKGROUP } = parameters;
  const scored = await createScored(gpu, shape, {
    name: NAME,
    wgsl,
    constants: { ...derived, WORKGROUP },
    entryPoints: ['query_key', 'scale', 'mask', 'softmax', 'times_value'],
    scoresBytes: 4 * HEADS * maxTokens * contextLength,
    part: 'slab',
    firsts: Array.from({ length: Math.ceil(nHeads / HEADS) }, (_, i) => i * HEADS),
  });
  const [queryKey, scale, mask, softmax, timesValue] = scored.kernels;
  const { TILE_TOKENS } = derived;

  const recordSlab = (list: CommandList, group: GPUBindGroup, heads: number, nTokens: number) => {
    const tokens = Math.min(nTokens, TILE_TOKENS);
    const keyGroups = Math.min(MAX_KEY_GROUPS, Math.ceil(contextLength / Math.floor(WORKGROUP / tokens)));
    const scaleGroups = Math.min(MAX_SCALE_GROUPS, Math.ceil((nTokens * contextLength) / WORKGROUP));
    list.add(queryKey, group, keyGroups, Math.ceil(nTokens / tokens), heads);
    list.add(scale, group, scaleGroups, 1, heads);
    list.add(mask, group, nTokens, heads);
    list.add(softmax, group, nTokens, heads);
    list.add(timesValue, group, Math.ceil((nTokens * headDim) / 4 / WORKGROUP), 1, heads);
  };
  return {
    name: NAME,
    parameters,
    scratchBytes,
    bind(...buffers) {
      const groups = scored.bind(...buffers);
      return {
        record(list, nTokens) {
          check(NAME, nTokens <= maxTokens, why`its scores hold ${maxTokens} tokens, not ${nTokens}`);
          groups.forEach((group, i) => {
            recordSlab(list, group, Math.min(HEADS, nHeads - i * HEADS), nTokens);
          });
        },
      };
    },
    destroy: () => scored.destroy(),
  };
}
