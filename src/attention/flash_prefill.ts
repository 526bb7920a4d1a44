// FlashAttention-2 for prompts: blocks, limits and grid of shaders/attention/flash_prefill.wgsl.

import wgsl from '../../shaders/attention/flash_prefill.wgsl?raw';
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
} from './attention';
import { attentionSource, Windows } from './source';

const NAME = 'flash_prefill';
/** Output columns of a workgroup by default: 64 accumulators a thread with the default blocks. */
const MAX_DV_TILE = 128;
/** Quads of q and k staged at once, at most: 8 take twice the time of 4 on an H200 with a long prompt. */
const MAX_D_QUADS = 4;
/** Quads of v staged at once, at most (8 KiB). */
const V_STAGE = 512;

/**
 * BLOCK_M: query rows of a workgroup. BLOCK_N: keys of a tile. DV_TILE: output columns of a workgroup; fewer than
 * head_dim means fewer registers, and K read head_dim / DV_TILE times.
 */
export function planFlashPrefill(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan {
  checkShape(NAME, shape);
  const { headDim } = shape;
  const defaults = { BLOCK_M: 64, BLOCK_N: 64, DV_TILE: headDim / Math.ceil(headDim / MAX_DV_TILE) };
  const { threads, bytes } = stageOf(headDim, defaults);
  const { maxComputeInvocationsPerWorkgroup: most, maxComputeWorkgroupStorageSize: memory } = limits;
  if (threads > most || bytes > memory) defaults.BLOCK_N = 32; // 16 KiB and 128 invocations are granted everywhere
  const parameters = mergeParameters(NAME, defaults, given);
  for (const block of ['BLOCK_M', 'BLOCK_N', 'DV_TILE'] as const) {
    check(NAME, parameters[block] % 4 === 0, `${block} ${parameters[block]} is no multiple of 4`);
  }
  check(NAME, headDim % parameters.DV_TILE === 0, `DV_TILE ${parameters.DV_TILE} does not divide head_dim ${headDim}`);
  const stage = stageOf(headDim, parameters);
  checkLimits(NAME, limits, stage.threads, stage.bytes);
  return { parameters, derived: stage.derived, scratchBytes: 0 };
}

/** Threads, workgroup memory and derived constants of a workgroup with these blocks. */
function stageOf(headDim: number, { BLOCK_M, BLOCK_N, DV_TILE }: Record<'BLOCK_M' | 'BLOCK_N' | 'DV_TILE', number>) {
  const dvQuads = DV_TILE / 4;
  const threads = (BLOCK_M / 4) * (BLOCK_N / 4);
  const derived = {
    D_QUADS: largestDivisor(headDim / 4, MAX_D_QUADS),
    V_KEYS: largestDivisor(BLOCK_N, Math.floor(V_STAGE / dvQuads)),
  };
  const stage = Math.max(derived.D_QUADS * (BLOCK_M + BLOCK_N), threads, derived.V_KEYS * dvQuads);
  return { threads, derived, bytes: 4 * BLOCK_M * BLOCK_N + 16 * stage };
}

/** Prefill, after any cache; a pass of one token runs too, with most rows of its block idle. */
export async function createFlashPrefill(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, derived } = planFlashPrefill(shape, gpu.limits, given);
  const source = attentionSource(shape, ['read', 'read', 'read', 'write']);
  const kernel = await createKernel(gpu, {
    ...source,
    label: `attention/${NAME}`,
    wgsl: [...source.wgsl, wgsl],
    constants: { ...source.constants, ...parameters, ...derived },
  });
  const windows = new Windows(gpu, NAME, shape.windowed);
  const { nKvHeads, headDim } = shape;
  const rows = shape.nHeads / nKvHeads;
  const { BLOCK_M, DV_TILE } = parameters;
  return {
    name: NAME,
    parameters,
    scratchBytes: 0,
    bind(q, k, v, out, window) {
      const group = kernel.bind(q, k, v, out, ...windows.of(window));
      return {
        record: (list, nTokens) =>
          list.add(kernel, group, Math.ceil((nTokens * rows) / BLOCK_M), nKvHeads, headDim / DV_TILE),
      };
    },
    destroy: () => windows.destroy(),
  };
}

/** The largest divisor of n that is at most `most`. */
function largestDivisor(n: number, most: number): number {
  let d = Math.min(n, most);
  while (n % d !== 0) d--;
  return d;
}
