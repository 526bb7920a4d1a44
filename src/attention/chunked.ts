// Attention over CHUNK tokens at a time: limits, grids and bindings of shaders/attention/chunked.wgsl.

import wgsl from '../../shaders/attention/chunked.wgsl?raw';
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

const NAME = 'chunked';
const DEFAULT_CHUNK = 32;
const DEFAULT_WORKGROUP = 256;
/** Workgroups that stride over the keys of a tile of rows, at most. */
const MAX_KEY_GROUPS = 64;

/** CHUNK: tokens whose scores are kept at once, in all heads. WORKGROUP: invocations, in each of the three kernels. */
export function planChunked(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<'CHUNK' | 'WORKGROUP'> {
  checkShape(NAME, shape);
  const { nHeads, headDim, contextLength, maxTokens } = shape;
  const tokenBytes = 4 * nHeads * contextLength;
  checkScratch(NAME, limits, tokenBytes);
  const fit = Math.floor(limits.maxStorageBufferBindingSize / tokenBytes);
  const defaults = {
    CHUNK: Math.min(DEFAULT_CHUNK, maxTokens, fit),
    WORKGROUP: Math.min(DEFAULT_WORKGROUP, limits.maxComputeInvocationsPerWorkgroup),
  };
  const parameters = mergeParameters(NAME, defaults, given);
  const { CHUNK, WORKGROUP } = parameters;
  check(NAME, CHUNK <= maxTokens, `CHUNK ${CHUNK} is above the ${maxTokens} tokens of a pass`);
  checkScratch(NAME, limits, CHUNK * tokenBytes);
  const derived = { TILE_QUADS: 4, PARTS: 16 };
  const quads = headDim / 4;
  const least = Math.max(quads, derived.PARTS);
  check(NAME, WORKGROUP >= least, `WORKGROUP ${WORKGROUP} is below the ${least} that head_dim ${headDim} needs`);
  checkLimits(NAME, limits, WORKGROUP, 16 * Math.floor(WORKGROUP / quads) * (2 * quads + 1));
  return { parameters, derived, scratchBytes: CHUNK * tokenBytes + Math.ceil(maxTokens / CHUNK) * PART_BYTES };
}

/** Prefill and decode where flash attention fails, with simpler kernels and the scores of a chunk in memory. */
export async function createChunked(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, derived, scratchBytes } = planChunked(shape, attentionLimits(gpu), given);
  const { nHeads, nKvHeads, contextLength, maxTokens } = shape;
  const { CHUNK, WORKGROUP } = parameters;
  const scored = await createScored(gpu, shape, {
    name: NAME,
    wgsl,
    constants: { ...parameters, ...derived },
    entryPoints: ['query_key', 'softmax', 'times_value'],
    scoresBytes: 4 * nHeads * CHUNK * contextLength,
    part: 'chunk',
    firsts: Array.from({ length: Math.ceil(maxTokens / CHUNK) }, (_, i) => i * CHUNK),
  });
  const [queryKey, softmax, timesValue] = scored.kernels;
  const { TILE_QUADS } = derived;
  const heads = nHeads / nKvHeads;

  const recordChunk = (list: CommandList, group: GPUBindGroup, tokens: number) => {
    const rowQuads = Math.ceil((tokens * heads) / 4);
    const tileQuads = Math.min(rowQuads, TILE_QUADS);
    const keyGroups = Math.min(MAX_KEY_GROUPS, Math.ceil(contextLength / Math.floor(WORKGROUP / tileQuads)));
    list.add(queryKey, group, keyGroups, Math.ceil(rowQuads / tileQuads), nKvHeads);
    list.add(softmax, group, tokens, heads, nKvHeads);
    list.add(timesValue, group, rowQuads, nKvHeads);
  };
  return {
    name: NAME,
    parameters,
    scratchBytes,
    bind(q, k, v, out, window) {
      const groups = scored.bind(q, k, v, out, window);
      return {
        record(list, nTokens) {
          check(NAME, nTokens <= maxTokens, `its chunks hold ${maxTokens} tokens, not ${nTokens}`);
          for (let i = 0; i * CHUNK < nTokens; i++) recordChunk(list, groups[i], Math.min(CHUNK, nTokens - i * CHUNK));
        },
      };
    },
    destroy: () => scored.destroy(),
  };
}
