// The memory of a model beside its weights: all of it is allocated before a byte of the weights is read. WebGPU tells
// nobody how much is free, so the allocation itself is the probe. It writes to no buffer, and drivers that commit
// memory when it is first used do so later, as they would with any probe.

import type { AttentionName, AttentionShape } from '../attention/attention';
import { plannedScratch } from '../attention/prepare';
import type { AttentionProfile } from '../attention/profile';
import { GpuMemoryError } from '../errors';
import { GPU_COPY_DST, type Gpu } from '../gpu/device';
import { hasIntegers } from '../kernels/linear/matmul_q8';
import { formatRuns } from '../kernels/linear/weight_format';
import { type Buffers, createBuffers, passTokens } from './buffers';
import type { ModelConfig } from './config/config';
import { createKvCache, type KvCache } from './kv/kv_cache';
import { padConfig } from './padding';
import { isInterleaved, type ModelWeights } from './weights/weights';

/** Keys, values and activations for a context. */
export interface ModelMemory {
  contextLength: number;
  kvCache: KvCache;
  buffers: Buffers;
}

/** A context, and the attention that runs in it. */
export interface ContextOptions {
  contextLength: number;
  kvType: AttentionShape['kvType'];
  /** `auto`, or the sibling for prefill and decode alike. */
  attention: AttentionName | 'auto';
  /** The attention that a tuner measured on this GPU; `auto` obeys it. */
  profile?: AttentionProfile;
}

/** The request for memory. Its context is the longest that is tried. */
export interface MemoryRequest extends ContextOptions {
  /** The shortest context that is tried. Default: no other. */
  leastContext?: number;
  /** Bytes that the caller allocates later. */
  laterBytes?: number;
  /** True if activations may become signed bytes. */
  inBytes?: boolean;
}

/** Each context that is tried is so much shorter than the one before. */
const SHORTER = 3 / 4;

/**
 * Allocates what the longest context takes that the GPU grants, at most that of the request. `refused` is the refusal
 * of a longer one.
 * @throws GpuMemoryError if it refuses the shortest, too
 */
export async function allocateMemory(
  gpu: Gpu,
  unpadded: ModelConfig,
  weights: ModelWeights,
  request: MemoryRequest,
): Promise<ModelMemory & { refused: GpuMemoryError | null }> {
  const { leastContext = request.contextLength } = request;
  let { contextLength } = request;
  let refused: GpuMemoryError | null = null;
  for (;;) {
    try {
      const { peakBytes } = gpu;
      const { reserve, ...memory } = await gpu.guardMemory('The context with its activations', () =>
        create(gpu, unpadded, weights, { ...request, contextLength }),
      );
      if (reserve) gpu.destroyBuffer(reserve);
      gpu.peakBytes = Math.max(peakBytes, gpu.allocatedBytes);
      return { ...memory, contextLength, refused };
    } catch (error) {
      if (!(error instanceof GpuMemoryError) || contextLength <= leastContext) throw error;
      refused ??= error;
      contextLength = Math.max(leastContext, Math.floor(contextLength * SHORTER));
    }
  }
}

/** Bytes of keys and values, and of the rest, that the longest context of a request takes. */
export function memoryNeed(gpu: Gpu, config: ModelConfig, weights: LayerFormats, request: MemoryRequest) {
  const { bytes, result } = gpu.measure(() => create(gpu, config, weights, request));
  return { kvCache: result.kvCache.bytes, rest: bytes - result.kvCache.bytes };
}

type LayerFormats = Pick<ModelWeights, 'layers'>;

/** Allocates the memory, and as much as will be allocated later, in a buffer that is destroyed at once. */
function create(gpu: Gpu, unpadded: ModelConfig, weights: LayerFormats, request: MemoryRequest) {
  const { contextLength, kvType, laterBytes } = request;
  const config = padConfig(unpadded);
  const storesGateUp = !weights.layers.every(({ gateUp }) => isInterleaved(gateUp));
  const kvCache = createKvCache(gpu, config, contextLength, kvType);
  const buffers = createBuffers(gpu, config, contextLength, storesGateUp, kvType);
  if (laterBytes === undefined) return { kvCache, buffers, reserve: null };
  const shape = { ...shapeOf(gpu, config, request), partsMergeInO: true }; // the kernels are not less for that
  const inBytes = request.inBytes && weights.layers.some(hasLinearInIntegers);
  const later = laterBytes + plannedScratch(gpu, shape, { ...request, forced: request.attention, inBytes });
  const bytes = Math.min(later, gpu.limits.maxBufferSize);
  return { kvCache, buffers, reserve: gpu.createBuffer('reserve', bytes, GPU_COPY_DST) };
}

function hasLinearInIntegers({ qkv, o, gateUp, down }: LayerFormats['layers'][number]): boolean {
  return [qkv, o, gateUp, down].some(({ matrix }) => formatRuns(matrix).some(({ format }) => hasIntegers(format)));
}

/** The shape of attention in a context. */
export function shapeOf(
  gpu: Gpu,
  config: ModelConfig,
  { contextLength, kvType }: Pick<ContextOptions, 'contextLength' | 'kvType'>,
): AttentionShape {
  const { nHeads, nKvHeads, headDim, attentionScale: scale, attentionSoftcap: softcap, causal } = config;
  const windowed = config.layers.some(({ window }) => window !== null);
  const maxTokens = passTokens(gpu, config, contextLength);
  return { nHeads, nKvHeads, headDim, contextLength, kvType, maxTokens, scale, softcap, windowed, causal };
}
