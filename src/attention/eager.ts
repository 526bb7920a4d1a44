// Unfused attention with whole score matrices: limits, grids and bindings of shaders/attention/eager.wgsl.

import wgsl from '../../shaders/attention/eager.wgsl?raw';
import type { Gpu } from '../gpu/device';
import type { CommandList } from '../gpu/kernel';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  attentionLimits,
  check,
  checkLimits,
  checkScratch,
  checkShape,
  mergeParameters,
} from './attention';
import { createScored, PART_BYTES } from './scored';

const NAME = 'eager';
/** Scores kept at once by default, at most, in bytes. */
const MAX_SCRATCH = 2 ** 30;
const DEFAULT_WORKGROUP = 256;
/** Workgroups that stride over the keys of a tile of tokens, and over the scores of a head, at most. */
const MAX_KEY_GROUPS = 64;
const MAX_SCALE_GROUPS = 256;

/**
 * HEADS: query heads of a slab. Slabs run one after another over the same scores; fewer heads mean less memory.
 * WORKGROUP: invocations, in each of the five kernels.
 */
export function planEager(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<'HEADS' | 'WORKGROUP'> {
  checkShape(NAME, shape);
  const { nHeads, contextLength, maxTokens } = shape;
  const headBytes = 4 * maxTokens * contextLength;
  checkScratch(NAME, limits, headBytes);
  const fit = Math.floor(Math.min(limits.maxStorageBufferBindingSize, MAX_SCRATCH) / headBytes);
  const slabs = Math.ceil(nHeads / Math.max(1, fit));
  const defaults = {
    HEADS: Math.ceil(nHeads / slabs),
    WORKGROUP: Math.min(DEFAULT_WORKGROUP, limits.maxComputeInvocationsPerWorkgroup),
  };
  const parameters = mergeParameters(NAME, defaults, given);
  const { HEADS, WORKGROUP } = parameters;
  check(NAME, HEADS <= nHeads, `HEADS ${HEADS} is above ${nHeads}`);
  checkScratch(NAME, limits, HEADS * headBytes);
  const derived = { TILE_TOKENS: 16, PARTS: 16 };
  check(NAME, WORKGROUP >= derived.PARTS, `WORKGROUP ${WORKGROUP} is below ${derived.PARTS}`);
  checkLimits(NAME, limits, WORKGROUP, 4 * (WORKGROUP + derived.PARTS));
  return { parameters, derived, scratchBytes: HEADS * headBytes + Math.ceil(nHeads / HEADS) * PART_BYTES };
}

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
    bind(q, k, v, out, window) {
      const groups = scored.bind(q, k, v, out, window);
      return {
        record(list, nTokens) {
          check(NAME, nTokens <= maxTokens, `its scores hold ${maxTokens} tokens, not ${nTokens}`);
          groups.forEach((group, i) => {
            recordSlab(list, group, Math.min(HEADS, nHeads - i * HEADS), nTokens);
          });
        },
      };
    },
    destroy: () => scored.destroy(),
  };
}
