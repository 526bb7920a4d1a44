import wgsl from '../../shaders/attention/chunked.wgsl?raw';
import kvF16 from '../../shaders/attention/lib/kv_f16.wgsl?raw';
import kvF32 from '../../shaders/attention/lib/kv_f32.wgsl?raw';
import { GPU_COPY_DST, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../gpu/device';
import { type CommandList, createKernel } from '../gpu/kernel';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  check,
  checkLimits,
  checkScratch,
  checkShape,
  mergeParameters,
} from './attention';
import { attentionSource, Windows } from './source';

const NAME = 'chunked';
const DEFAULT_CHUNK = 32;
const DEFAULT_WORKGROUP = 256;
/** Workgroups that stride over the keys of a tile of rows, at most. */
const MAX_KEY_GROUPS = 64;
/** The smallest buffer: holds the first token of a chunk. */
const CHUNK_BYTES = 16;

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
  return { parameters, derived, scratchBytes: CHUNK * tokenBytes + Math.ceil(maxTokens / CHUNK) * CHUNK_BYTES };
}

/** Prefill and decode where flash attention fails, with simpler kernels and the scores of a chunk in memory. */
export async function createChunked(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, derived, scratchBytes } = planChunked(shape, gpu.limits, given);
  const { nHeads, nKvHeads, contextLength, maxTokens } = shape;
  const { CHUNK, WORKGROUP } = parameters;
  const source = attentionSource(shape, ['read', 'read', 'read', 'write', 'write', 'uniform']);
  const windows = new Windows(gpu, NAME, shape.windowed);
  const kernel = (entryPoint: string) =>
    createKernel(gpu, {
      ...source,
      label: `attention/${NAME}.${entryPoint}`,
      wgsl: [shape.kvType === 'f16' ? kvF16 : kvF32, ...source.wgsl, wgsl],
      constants: { ...source.constants, ...parameters, ...derived },
      entryPoint,
    });
  const [queryKey, softmax, timesValue] = await Promise.all(['query_key', 'softmax', 'times_value'].map(kernel));
  const { scores, chunks } = await gpu.guardMemory(`The scores of attention "${NAME}"`, () => ({
    scores: gpu.createBuffer(`attention.${NAME}.scores`, 4 * nHeads * CHUNK * contextLength, GPU_STORAGE),
    chunks: Array.from({ length: Math.ceil(maxTokens / CHUNK) }, (_, i) => createChunk(gpu, i * CHUNK)),
  }));
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
      // The three bind alike, so that a group of one serves all.
      const groups = chunks.map((chunk) => queryKey.bind(q, k, v, out, scores, chunk, ...windows.of(window)));
      return {
        record(list, nTokens) {
          check(NAME, nTokens <= maxTokens, `its chunks hold ${maxTokens} tokens, not ${nTokens}`);
          for (let i = 0; i * CHUNK < nTokens; i++) recordChunk(list, groups[i], Math.min(CHUNK, nTokens - i * CHUNK));
        },
      };
    },
    destroy() {
      for (const buffer of [scores, ...chunks]) gpu.destroyBuffer(buffer);
      windows.destroy();
    },
  };
}

function createChunk(gpu: Gpu, firstToken: number): GPUBuffer {
  const chunk = gpu.createBuffer(`attention.${NAME}.chunk`, CHUNK_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  gpu.write(chunk, new Uint32Array([firstToken]));
  return chunk;
}
