// Which sibling runs. Pure: the same request always gives the same answer, and no GPU is asked.

import { AttentionUnavailable } from '../errors';
import type { AttentionLimits, AttentionName, AttentionPlan, AttentionShape } from './attention';
import { planFlashPrefill } from './flash_prefill';
import { planFusedDecode } from './fused_decode';

export interface AttentionRequest {
  nTokens: number;
  kvLen: number;
  shape: AttentionShape;
  limits: AttentionLimits;
  forced?: AttentionName | 'auto';
}

export interface SelectedAttention {
  name: AttentionName;
  parameters: Record<string, number>;
  /** Why, as a fragment of a sentence for people. */
  reason: string;
}

type Plan = (shape: AttentionShape, limits: AttentionLimits, given?: Record<string, number>) => AttentionPlan;

/** All siblings; null is not built yet. Each that is built serves prefill and decode. */
const PLANS: Record<AttentionName, Plan | null> = {
  cpu: null,
  eager: null,
  chunked: null,
  flash_prefill: planFlashPrefill,
  fused_decode: planFusedDecode,
  split_kv_decode: null,
};

/** The sibling for a pass of nTokens that ends at kvLen. A forced one that cannot run throws, never a silent fallback. */
export function selectAttention(request: AttentionRequest): SelectedAttention {
  const { nTokens, kvLen, forced = 'auto' } = request;
  if (forced !== 'auto') return { name: forced, parameters: plan(forced, request), reason: 'asked for by name' };
  const pass =
    nTokens > 1
      ? `prefill of ${nTokens} tokens over ${kvLen} keys: query blocks share each tile of keys`
      : `decode over ${kvLen} keys: one pass, K and V read once per KV head`;
  const [first, second]: AttentionName[] =
    nTokens > 1 ? ['flash_prefill', 'fused_decode'] : ['fused_decode', 'flash_prefill'];
  try {
    return { name: first, parameters: plan(first, request), reason: pass };
  } catch (error) {
    if (!(error instanceof AttentionUnavailable)) throw error;
    return { name: second, parameters: plan(second, request), reason: `instead of ${first}. ${error.message}` };
  }
}

function plan(name: AttentionName, request: AttentionRequest): Record<string, number> {
  const planSibling = PLANS[name];
  if (!planSibling) throw new AttentionUnavailable(name, 'it is not built yet');
  return planSibling(request.shape, request.limits).parameters;
}
