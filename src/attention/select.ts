// Which sibling runs. Pure: the same request always gives the same answer, and no GPU is asked.

import { AttentionUnavailable } from '../errors';
import { quoted, type Reason, why } from '../shared/why';
import type { AttentionLimits, AttentionName, AttentionPlan, AttentionShape } from './attention';
import { planChunked, planCpu, planEager } from './baselines/baseline_plans';
import { planFusedDecode } from './decode/fused_decode';
import { planSplitKvDecode, untunedSplits } from './decode/split_kv_decode';
import { planFlashPrefill } from './prefill/flash_prefill';
import { planFlashPrefillQ8 } from './prefill/flash_prefill_q8_plan';
import type { AttentionProfile, TunedAttention } from './profile';

export interface AttentionRequest {
  nTokens: number;
  kvLen: number;
  shape: AttentionShape;
  limits: AttentionLimits;
  forced?: AttentionName | 'auto';
  /** True if long prompts may have queries, keys and values rounded to signed bytes. */
  inBytes?: boolean;
  /** The tuner's measurements on this GPU for this shape. */
  profile?: AttentionProfile;
  /** Siblings that must not run, and the fault of each. */
  setAside?: ReadonlyMap<AttentionName, string>;
}

export interface SelectedAttention {
  name: AttentionName;
  parameters: Record<string, number>;
  /** Why, as a fragment of a sentence for people: `rule`, and what was passed over. */
  reason: Reason;
  /** The deciding rule, without the siblings that cannot run. */
  rule: Reason;
  /** Siblings that would have come first, and why they cannot run. */
  skipped: readonly Skipped[];
}

export interface Skipped {
  name: AttentionName;
  why: Reason;
}

/**
 * Keys from which on a cache is split over workgroups: `npm run bench -- attention` shows where that pays. Each is one
 * past a power of two, where a range of prepare.ts begins.
 */
export const SPLIT_KV_MIN = 2 ** 8 + 1;
/**
 * The same where the output projection merges the parts: `npm run bench -- decode --context 128` shows where that pays.
 */
export const SPLIT_KV_MIN_MERGED_IN_O = 2 ** 7 + 1;

/**
 * Keys from which on prompts run in signed bytes: `npm run bench -- prefill --lengths 256,384` shows where that pays.
 */
export const LONG_PROMPT = 320;

type Plan = (shape: AttentionShape, limits: AttentionLimits, given?: Record<string, number>) => AttentionPlan;

/** All siblings. Each serves prefill and decode. */
const PLANS: Record<AttentionName, Plan> = {
  cpu: planCpu,
  eager: planEager,
  chunked: planChunked,
  flash_prefill: planFlashPrefill,
  flash_prefill_q8: planFlashPrefillQ8,
  fused_decode: planFusedDecode,
  split_kv_decode: planSplitKvDecode,
};

/** Preference order without a tuned choice. */
const PREFILL: readonly AttentionName[] = ['flash_prefill', 'chunked', 'eager', 'fused_decode', 'cpu'];
const SHORT_DECODE: readonly AttentionName[] = [
  'fused_decode',
  'split_kv_decode',
  'flash_prefill',
  'chunked',
  'eager',
  'cpu',
];
const LONG_DECODE: readonly AttentionName[] = ['split_kv_decode', 'fused_decode', ...SHORT_DECODE.slice(2)];

/**
 * The sibling for a pass of nTokens that ends at kvLen.
 * @throws AttentionUnavailable when a forced one cannot run (never a silent fallback), or none can
 */
export function selectAttention(request: AttentionRequest): SelectedAttention {
  const { nTokens, kvLen, forced = 'auto' } = request;
  const isLongPrompt = nTokens > 1 && kvLen >= LONG_PROMPT && request.inBytes;
  if (forced !== 'auto') return selected(forced, plan(forced, request), why`asked for by name`, []);
  const skipped: Skipped[] = [];
  const { profile } = request;
  const tuned = profile && tunedFor(profile, request);
  if (isLongPrompt) {
    const parameters = tryPlan('flash_prefill_q8', request, skipped);
    const rule = why`flash_prefill_q8 for prompts from ${LONG_PROMPT} keys on`;
    if (parameters) return selected('flash_prefill_q8', parameters, rule, []);
  }
  if (tuned) {
    const rule = why`tuned on this GPU ${profile.tunedAt.slice(0, 10)}`;
    const parameters = tryPlan(tuned.name, request, skipped, tuned.parameters);
    if (parameters) return selected(tuned.name, parameters, rule, []);
  }
  const splitMin = request.shape.partsMergeInO ? SPLIT_KV_MIN_MERGED_IN_O : SPLIT_KV_MIN;
  const decode = kvLen < splitMin ? SHORT_DECODE : LONG_DECODE;
  for (const name of nTokens > 1 ? PREFILL : decode) {
    const parameters = tryPlan(name, request, skipped);
    if (parameters) return selected(name, parameters, why`the default, not tuned on this GPU`, skipped);
  }
  throw new AttentionUnavailable('auto', skipped.map(({ name, why: fault }) => `${name}: ${fault}`).join('; '));
}

/** Reasons of one selection or of several, each once. */
export function explain(rules: readonly Reason[], skipped: readonly Skipped[]): Reason {
  const instead = skipped.map(({ name, why: fault }) => why`instead of ${name}: ${fault}`);
  return quoted([...new Set([...rules, ...instead])].join('; '));
}

function selected(
  name: AttentionName,
  parameters: Record<string, number>,
  rule: Reason,
  skipped: readonly Skipped[],
): SelectedAttention {
  return { name, parameters, reason: explain([rule], skipped), rule, skipped };
}

function tunedFor(profile: AttentionProfile, { nTokens, kvLen }: AttentionRequest): TunedAttention | undefined {
  if (nTokens > 1) return profile.prefill;
  return profile.decode.find((entry) => entry.kvLen >= kvLen) ?? profile.decode.at(-1);
}

/** Parameters as planned; null when the sibling cannot run, with the reason added to `skipped`. */
function tryPlan(
  name: AttentionName,
  request: AttentionRequest,
  skipped: Skipped[],
  tuned?: Record<string, number>,
): Record<string, number> | null {
  try {
    return plan(name, request, tuned);
  } catch (error) {
    if (!(error instanceof AttentionUnavailable)) throw error;
    const { reason } = error;
    skipped.push({ name, why: tuned ? why`what was tuned cannot run: ${reason}` : quoted(reason) });
    return null;
  }
}

function plan(
  name: AttentionName,
  { shape, limits, kvLen, setAside }: AttentionRequest,
  tuned?: Record<string, number>,
): Record<string, number> {
  const wrong = setAside?.get(name);
  if (wrong !== undefined) throw new AttentionUnavailable(name, wrong);
  const given = tuned ?? (name === 'split_kv_decode' ? untunedSplits(kvLen, shape, limits) : {});
  return PLANS[name](shape, limits, given).parameters;
}

/** Bytes of the scratch memory of a selected sibling. */
export function scratchOf({ name, parameters }: SelectedAttention, shape: AttentionShape, limits: AttentionLimits) {
  return PLANS[name](shape, limits, parameters).scratchBytes;
}
