// The candidates of attention, in the order of trying. Pure: asks no GPU.

import type { AttentionLimits, AttentionName, AttentionPlan, AttentionShape } from '../../attention/attention';
import { planFusedDecode } from '../../attention/decode/fused_decode';
import { planSplitKvDecode } from '../../attention/decode/split_kv_decode';
import { planFlashPrefill } from '../../attention/prefill/flash_prefill';
import { selectAttention } from '../../attention/select';
import { AttentionUnavailable } from '../../errors';
import { fastestFirst, type Tried } from '../tuner';

/** A kind of pass to tune: nTokens tokens, the last of which sees kvLen keys. */
export interface TunedPass {
  pass: 'prefill' | 'decode';
  nTokens: number;
  kvLen: number;
}

export interface AttentionCandidate {
  /** A to H, or null. */
  combination: string | null;
  name: AttentionName;
  /** All parameters of the plan, so that equal candidates compare equal; the given ones if there is no plan. */
  parameters: Record<string, number>;
}

/** The shape and the GPU that candidates are made for. */
export interface Target {
  shape: AttentionShape;
  limits: AttentionLimits;
}

/** Every GPU begins with these tiles, so that any two GPUs can be compared. */
const COMBINATIONS: Record<string, Record<string, number>> = {
  A: { BLOCK_M: 32, BLOCK_N: 32, DV_TILE: 32 },
  B: { BLOCK_M: 32, BLOCK_N: 32, DV_TILE: 64 },
  C: { BLOCK_M: 32, BLOCK_N: 64, DV_TILE: 32 },
  D: { BLOCK_M: 32, BLOCK_N: 64, DV_TILE: 64 },
  E: { BLOCK_M: 64, BLOCK_N: 32, DV_TILE: 32 },
  F: { BLOCK_M: 64, BLOCK_N: 64, DV_TILE: 64 },
  G: { BLOCK_M: 32, BLOCK_N: 32, DV_TILE: 128 },
  H: { BLOCK_M: 32, BLOCK_N: 16, DV_TILE: 16 },
};

const WORKGROUPS = [64, 128, 256];
const SPLITS = [2, 4, 8, 16, 32, 64, 128, 256];
/** The fewest keys of a split. */
const MIN_SPLIT_KEYS = 32;
/** The fastest numbers of splits are tried with every workgroup: this many of them. */
const BEST_SPLITS = 2;
/** Keys of a prefill, if the context holds as many. */
const PREFILL_KEYS = 2048;
/** Tokens of a short prefill, and of the smallest one worth measuring. */
const SHORT_PREFILL = 64;
const DECODE_KEYS = [128, 512, 2048, 8192, 32768, 131072];
/** Candidates beside the fastest: the most of them, and the time after which none is begun. */
export const CLIMB = { prefill: { steps: 10, untilMs: 5000 }, decode: { steps: 3, untilMs: 1500 } };

type Plan = (shape: AttentionShape, limits: AttentionLimits, given?: Record<string, number>) => AttentionPlan;

/** Siblings with parameters to tune. */
const PLANS: Partial<Record<AttentionName, Plan>> = {
  flash_prefill: planFlashPrefill,
  fused_decode: planFusedDecode,
  split_kv_decode: planSplitKvDecode,
};

/** The passes of a shape: one prefill, and decode by cache length, ascending. */
export function tunedPasses(shape: AttentionShape, prefillTokens = shape.maxTokens, kvLens?: readonly number[]) {
  const { maxTokens, contextLength } = shape;
  const nTokens = Math.min(prefillTokens, maxTokens, contextLength);
  const prefill: TunedPass = {
    pass: 'prefill',
    nTokens,
    kvLen: Math.min(contextLength, Math.max(PREFILL_KEYS, nTokens)),
  };
  const lengths = (kvLens ?? [...DECODE_KEYS, contextLength]).filter((kvLen) => kvLen <= contextLength);
  const ascending = [...new Set(lengths.length > 0 ? lengths : [contextLength])].sort((a, b) => a - b);
  const decode = ascending.map((kvLen): TunedPass => ({ pass: 'decode', nTokens: 1, kvLen }));
  return { prefill, decode };
}

/** The beginning of a prefill, over no earlier keys: about 1 % of the work of a whole one. */
export function shortPrefill({ nTokens }: TunedPass): TunedPass {
  const tokens = Math.min(nTokens, SHORT_PREFILL);
  return { pass: 'prefill', nTokens: tokens, kvLen: tokens };
}

/** The pass, halved in tokens and keys until it takes at most mostMs, by the ms of a short one. */
export function fitted(pass: TunedPass, short: TunedPass, ms: number, mostMs: number): TunedPass {
  let { nTokens, kvLen } = pass;
  while (ms * (work({ nTokens, kvLen }) / work(short)) > mostMs && nTokens > SHORT_PREFILL) {
    nTokens = Math.ceil(nTokens / 2);
    kvLen = Math.ceil(kvLen / 2);
  }
  return { ...pass, nTokens, kvLen };
}

/** Scores of a causal pass, for one head. */
function work({ nTokens, kvLen }: Pick<TunedPass, 'nTokens' | 'kvLen'>): number {
  return nTokens * (kvLen - (nTokens - 1) / 2);
}

/** Batches: the first candidates, other workgroups for the best splits, neighbors of the fastest, and then siblings. */
export function* attentionCandidates(
  pass: TunedPass,
  target: Target,
  tried: readonly Tried<AttentionCandidate>[],
): Generator<readonly AttentionCandidate[]> {
  const until = performance.now() + CLIMB[pass.pass].untilMs;
  yield [...firstCandidates(pass, target), untunedCandidate(pass, target)];
  yield splitVariants(
    fastestFirst(tried).map(({ candidate }) => candidate),
    target,
  );
  yield* climb(pass, target, tried, until);
  // If nothing ran: other siblings, in the order of `auto`, until one runs or none is left, which is an error.
  while (fastestFirst(tried).length === 0) {
    const refused = tried.map(({ candidate, refused }): [AttentionName, string] => [candidate.name, refused ?? '']);
    yield [untunedCandidate(pass, target, new Map(refused))];
  }
}

/** Untried neighbors of the fastest, one at a time. */
function* climb(
  pass: TunedPass,
  target: Target,
  tried: readonly Tried<AttentionCandidate>[],
  until: number,
): Generator<readonly AttentionCandidate[]> {
  for (let step = 0; step < CLIMB[pass.pass].steps && performance.now() < until; step++) {
    const [fastest] = fastestFirst(tried);
    if (!fastest) return;
    const known = new Set(tried.map(({ candidate }) => keyOf(candidate)));
    const next = neighbors(fastest.candidate, pass, target).find((candidate) => !known.has(keyOf(candidate)));
    if (!next) return;
    yield [next];
  }
}

/** The candidates of every tuning of the pass, refused ones included. */
export function firstCandidates({ pass, kvLen }: TunedPass, target: Target): AttentionCandidate[] {
  if (pass === 'prefill') {
    return [
      ...Object.entries(COMBINATIONS).map(([letter, given]) => candidate(target, 'flash_prefill', given, letter)),
      ...WORKGROUPS.map((WORKGROUP) => candidate(target, 'fused_decode', { WORKGROUP })), // wins with fast caches
    ];
  }
  const splits = SPLITS.filter((parts) => kvLen >= parts * MIN_SPLIT_KEYS);
  return [
    ...WORKGROUPS.map((WORKGROUP) => candidate(target, 'fused_decode', { WORKGROUP })),
    ...splits.map((parts) => candidate(target, 'split_kv_decode', { SPLITS: parts })),
  ];
}

/** An estimate of the candidates to try before those beside the fastest. */
export function expectedCandidates(pass: TunedPass, target: Target): number {
  const first = firstCandidates(pass, target);
  const splits = first.filter(({ name }) => name === 'split_kv_decode').length;
  return first.length + Math.min(splits, BEST_SPLITS) * (WORKGROUPS.length - 1) + (pass.pass === 'prefill' ? 1 : 0);
}

/** The candidate that runs untuned. Siblings in `setAside` are passed over. */
export function untunedCandidate(
  { nTokens, kvLen }: TunedPass,
  target: Target,
  setAside?: ReadonlyMap<AttentionName, string>,
): AttentionCandidate {
  const { name, parameters } = selectAttention({ nTokens, kvLen, ...target, setAside });
  return { combination: null, name, parameters };
}

/** Other workgroups for the fastest numbers of splits. `fastest` begins with the fastest. */
function splitVariants(fastest: readonly AttentionCandidate[], target: Target): AttentionCandidate[] {
  const best = fastest.filter(({ name }) => name === 'split_kv_decode').slice(0, BEST_SPLITS);
  return best.flatMap(({ name, parameters }) =>
    WORKGROUPS.map((WORKGROUP) => candidate(target, name, { ...parameters, WORKGROUP })),
  );
}

/** Candidates with one parameter doubled or halved, or the output untiled, if they can be planned. */
function neighbors(
  { name, parameters }: AttentionCandidate,
  { kvLen }: TunedPass,
  target: Target,
): AttentionCandidate[] {
  const steps = Object.entries(parameters).flatMap(([key, value]) => [
    { ...parameters, [key]: 2 * value },
    { ...parameters, [key]: value / 2 },
  ]);
  if ('DV_TILE' in parameters) steps.push({ ...parameters, DV_TILE: target.shape.headDim });
  return steps
    .filter((given) => planned(target, name, given) !== null && kvLen >= (given.SPLITS ?? 0) * MIN_SPLIT_KEYS)
    .map((given) => candidate(target, name, given));
}

/** Equal for candidates that run the same kernel. */
export function keyOf({ name, parameters }: AttentionCandidate): string {
  return `${name} ${JSON.stringify(parameters)}`;
}

function candidate(
  target: Target,
  name: AttentionName,
  given: Record<string, number>,
  combination: string | null = null,
): AttentionCandidate {
  return { combination, name, parameters: planned(target, name, given) ?? given };
}

function planned({ shape, limits }: Target, name: AttentionName, given: Record<string, number>) {
  try {
    return PLANS[name]?.(shape, limits, given).parameters ?? null;
  } catch (error) {
    if (error instanceof AttentionUnavailable) return null;
    throw error;
  }
}
