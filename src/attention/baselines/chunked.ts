// Attention over CHUNK tokens at a time: limits, grids and bindings of shaders/attention/baselines/chunked.wgsl.

import wgsl from '../../../shaders/attention/baselines/chunked.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { why } from '../../shared/why';
import { type AttentionKernel, type AttentionShape, attentionLimits, check } from '../attention';
import { planChunked } from './baseline_plans';
import { createScored } from './scored';

const NAME = 'chunked';
/** Workgroups that stride over the keys of a tile of rows, at most. */
const MAX_KEY_GROUPS = 64;

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
    bind(...buffers) {
      const groups = scored.bind(...buffers);
      return {
        record(list, nTokens) {
          check(NAME, nTokens <= maxTokens, why`its chunks hold ${maxTokens} tokens, not ${nTokens}`);
          for (let i = 0; i * CHUNK < nTokens; i++) recordChunk(list, groups[i], Math.min(CHUNK, nTokens - i * CHUNK));
        },
      };
    },
    destroy: () => scored.destroy(),
  };
}
