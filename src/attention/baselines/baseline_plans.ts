// Limits, parameters and memory of the siblings in baselines.ts, which a choice asks for without compiling them.

import { why } from '../../shared/why';
import {
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  check,
  checkLimits,
  checkScratch,
  checkShape,
  mergeParameters,
} from '../attention';
import { kvRowBytes } from '../kv_layout';

/** The smallest buffer: holds the first token or head of a part. */
export const PART_BYTES = 16;

const DEFAULT_CHUNK = 32;
const DEFAULT_WORKGROUP = 256;
/** Scores that eager keeps at once by default, at most, in bytes. */
const MAX_SCRATCH = 2 ** 30;

/** CHUNK: tokens whose scores are kept at once, in all heads. WORKGROUP: invocations, in each of the three kernels. */
export function planChunked(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<'CHUNK' | 'WORKGROUP'> {
  checkShape('chunked', shape);
  const { nHeads, headDim, contextLength, maxTokens } = shape;
  const tokenBytes = 4 * nHeads * contextLength;
  checkScratch('chunked', limits, tokenBytes);
  const fit = Math.floor(limits.maxStorageBufferBindingSize / tokenBytes);
  const defaults = {
    CHUNK: Math.min(DEFAULT_CHUNK, maxTokens, fit),
    WORKGROUP: Math.min(DEFAULT_WORKGROUP, limits.maxComputeInvocationsPerWorkgroup),
  };
  const parameters = mergeParameters('chunked', defaults, given);
  const { CHUNK, WORKGROUP } = parameters;
  check('chunked', CHUNK <= maxTokens, why`CHUNK ${CHUNK} is above the ${maxTokens} tokens of a pass`);
  checkScratch('chunked', limits, CHUNK * tokenBytes);
  const derived = { TILE_QUADS: 4, PARTS: 16 };
  const quads = headDim / 4;
  const least = Math.max(quads, derived.PARTS);
  check(
    'chunked',
    WORKGROUP >= least,
    why`WORKGROUP ${WORKGROUP} is below the ${least} that head_dim ${headDim} needs`,
  );
  checkLimits('chunked', limits, WORKGROUP, 16 * Math.floor(WORKGROUP / quads) * (2 * quads + 1));
  return { parameters, derived, scratchBytes: CHUNK * tokenBytes + Math.ceil(maxTokens / CHUNK) * PART_BYTES };
}

/**
 * HEADS: query heads of a slab. Slabs run one after another over the same scores; fewer heads mean less memory.
 * WORKGROUP: invocations, in each of the five kernels.
 */
export function planEager(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<'HEADS' | 'WORKGROUP'> {
  checkShape('eager', shape);
  const { nHeads, contextLength, maxTokens } = shape;
  const headBytes = 4 * maxTokens * contextLength;
  checkScratch('eager', limits, headBytes);
  const fit = Math.floor(Math.min(limits.maxStorageBufferBindingSize, MAX_SCRATCH) / headBytes);
  const slabs = Math.ceil(nHeads / Math.max(1, fit));
  const defaults = {
    HEADS: Math.ceil(nHeads / slabs),
    WORKGROUP: Math.min(DEFAULT_WORKGROUP, limits.maxComputeInvocationsPerWorkgroup),
  };
  const parameters = mergeParameters('eager', defaults, given);
  const { HEADS, WORKGROUP } = parameters;
  check('eager', HEADS <= nHeads, why`HEADS ${HEADS} is above ${nHeads}`);
  checkScratch('eager', limits, HEADS * headBytes);
  const derived = { TILE_TOKENS: 16, PARTS: 16 };
  check('eager', WORKGROUP >= derived.PARTS, why`WORKGROUP ${WORKGROUP} is below ${derived.PARTS}`);
  checkLimits('eager', limits, WORKGROUP, 4 * (WORKGROUP + derived.PARTS));
  return { parameters, derived, scratchBytes: HEADS * headBytes + Math.ceil(nHeads / HEADS) * PART_BYTES };
}

/** Needs no limits: it compiles nothing. It has no parameters. */
export function planCpu(
  shape: AttentionShape,
  _limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<never> {
  checkShape('cpu', shape);
  const { nHeads, maxTokens, contextLength } = shape;
  return {
    parameters: mergeParameters('cpu', {}, given),
    derived: {},
    scratchBytes: rowBytes(shape, maxTokens * nHeads, contextLength),
  };
}

/** Bytes of that many queries and of the keys and values of kvLen tokens. */
export function rowBytes(shape: AttentionShape, nQueries: number, kvLen: number): number {
  return 4 * shape.headDim * nQueries + 2 * shape.nKvHeads * kvLen * kvRowBytes(shape);
}
