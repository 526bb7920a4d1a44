// FlashAttention-2 for prompts: blocks, limits and grid of shaders/attention/prefill/flash_prefill.wgsl.

import wgsl from '../../../shaders/attention/prefill/flash_prefill.wgsl?raw';
import promptBlocks from '../../../shaders/attention/prefill/prompt_blocks.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { createKernel } from '../../gpu/kernel';
import { why } from '../../shared/why';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  attentionLimits,
  check,
  checkLimits,
  checkShape,
  mergeParameters,
} from '../attention';
import { attentionSource, Windows } from '../source';

const NAME = 'flash_prefill';
type Block = 'BLOCK_M' | 'BLOCK_N' | 'DV_TILE' | 'ROWS' | 'KEYS';
/** Output columns of a workgroup by default: 64 accumulators a thread with the default blocks. */
const MAX_DV_TILE = 128;
/** Quads of q and k staged at once, at most: 8 take twice the time of 4 on an H200 with a long prompt. */
const MAX_D_QUADS = 4;
const HARDWARE = { BLOCK_M: 64, BLOCK_N: 64, ROWS: 4 };
/** The fastest where threads run one after another: 4 ms instead of 14 with 11 tokens, 83 instead of 166 with 120. */
const SOFTWARE = { BLOCK_M: 32, BLOCK_N: 16, ROWS: 8 };

/**
 * BLOCK_M: query rows of a workgroup. BLOCK_N: keys of a tile. DV_TILE: output columns of a workgroup; fewer than
 * head_dim means fewer registers, and K read head_dim / DV_TILE times. ROWS and KEYS: rows and keys of a thread's
 * scores. The default blocks take 128 invocations and 14 KiB of workgroup memory, which every adapter grants.
 */
export function planFlashPrefill(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan {
  checkShape(NAME, shape);
  const { headDim } = shape;
  const { BLOCK_M: rows, BLOCK_N: keys, ROWS: rowsEach } = limits.isSoftware ? SOFTWARE : HARDWARE;
  const DV_TILE = headDim / Math.ceil(headDim / MAX_DV_TILE);
  // 8 keys a thread of a narrow tile would leave too few threads.
  const keysEach = (given.BLOCK_N ?? keys) < HARDWARE.BLOCK_N ? 4 : 8;
  const defaults = { BLOCK_M: rows, BLOCK_N: keys, DV_TILE, ROWS: rowsEach, KEYS: keysEach };
  const parameters = mergeParameters(NAME, defaults, given);
  for (const block of ['BLOCK_M', 'BLOCK_N', 'DV_TILE', 'ROWS'] as const) {
    check(NAME, parameters[block] % 4 === 0, why`${block} ${parameters[block]} is no multiple of 4`);
  }
  const { BLOCK_M, BLOCK_N, ROWS, KEYS } = parameters;
  check(NAME, BLOCK_M % ROWS === 0, why`ROWS ${ROWS} does not divide BLOCK_M ${BLOCK_M}`);
  check(NAME, BLOCK_N % KEYS === 0, why`KEYS ${KEYS} does not divide BLOCK_N ${BLOCK_N}`);
  check(
    NAME,
    headDim % parameters.DV_TILE === 0,
    why`DV_TILE ${parameters.DV_TILE} does not divide head_dim ${headDim}`,
  );
  const stage = stageOf(headDim, parameters);
  checkLimits(NAME, limits, stage.threads, stage.bytes);
  return { parameters, derived: stage.derived, scratchBytes: 0 };
}

/** Threads, workgroup memory and derived constants of a workgroup with these blocks. */
function stageOf(headDim: number, { BLOCK_M, BLOCK_N, DV_TILE, ROWS, KEYS }: Record<Block, number>) {
  const tx = BLOCK_N / KEYS;
  const ty = BLOCK_M / ROWS;
  const derived = { D_QUADS: largestDivisor(headDim / 4, MAX_D_QUADS) };
  const lines = Math.max(derived.D_QUADS * (ROWS + KEYS), tx * Math.max(ROWS / 4, Math.ceil(DV_TILE / 4 / tx)));
  return { threads: tx * ty, derived, bytes: 16 * lines * Math.max(tx, ty) + 4 * tx * BLOCK_M };
}

/** Prefill, after any cache; a pass of one token runs too, with most rows of its block idle. */
export async function createFlashPrefill(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, derived } = planFlashPrefill(shape, attentionLimits(gpu), given);
  const source = await attentionSource(shape, ['read', 'read', 'read', 'write'], 'quads');
  const kernel = await createKernel(gpu, {
    ...source,
    label: `attention/${NAME}`,
    wgsl: [...source.wgsl, promptBlocks, wgsl],
    constants: { ...source.constants, ...parameters, ...derived },
  });
  const windows = new Windows(gpu, NAME, shape);
  const { nKvHeads, headDim } = shape;
  const rows = shape.nHeads / nKvHeads;
  const { BLOCK_M, DV_TILE } = parameters;
  return {
    name: NAME,
    parameters,
    scratchBytes: 0,
    bind(q, k, v, out, window, room) {
      const group = kernel.bind(q, k, v, out, ...windows.of(window, room));
      return {
        record: (list, nTokens) =>
          list.add(kernel, group, nKvHeads, Math.ceil((nTokens * rows) / BLOCK_M), headDim / DV_TILE),
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
