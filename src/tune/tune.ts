// The tuning of a model: attention, then matrix products, as one run with one count of progress.
// It measures on the model's own buffers and knows nothing of how profiles are used.

import type { AttentionName, AttentionShape } from '../attention/attention';
import type { AttentionProfile } from '../attention/profile';
import { InvalidRequestError } from '../errors';
import type { Gpu } from '../gpu/device';
import type { MadeLinear } from '../kernels/linear/create_linear';
import type { ProductProfile } from '../kernels/linear/product_profile';
import type { ModelWeights } from '../model/weights/weights';
import { tuneAttention } from './attention/attention';
import type { AttentionTuneBuffers } from './attention/attention_meter';
import { countCandidates, namedProducts, tuneProducts } from './products/products';
import type { AttentionResult, ProductResult } from './results';

/** The parts of a model that tuning needs. */
interface TunableModel {
  attentionShape: AttentionShape;
  attentionBuffers: AttentionTuneBuffers;
  linears: readonly MadeLinear[];
  weights: ModelWeights;
  /** Tokens of the prompt that is measured. */
  prefillTokens: number;
}

/** The profiles of a model, and all results, attention first. */
interface Tuned {
  attention: AttentionProfile;
  products: ProductProfile;
  results: (AttentionResult | ProductResult)[];
}

/** @throws InvalidRequestError for a model whose attention is not chosen but named */
export function checkTunable(asked: AttentionName | 'auto'): void {
  if (asked === 'auto') return;
  throw new InvalidRequestError(
    `This model was loaded with attention "${asked}", which tuning would not change. Load it with "auto" first.`,
    'attention',
  );
}

/**
 * Overwrites keys, values and activations. `onResult` is called after each candidate. `total` is an estimate, never
 * below `done`.
 * @throws DOMException AbortError soon after `stopped` turns true; AttentionUnavailable if no sibling runs
 */
export async function tuneModel(
  gpu: Gpu,
  { attentionShape, attentionBuffers, linears, weights, prefillTokens }: TunableModel,
  onResult: (result: AttentionResult | ProductResult, done: number, total: number) => void,
  stopped: () => boolean,
): Promise<Tuned> {
  const named = namedProducts(linears, weights);
  const still = countCandidates(gpu, named, prefillTokens);
  const attention = await tuneAttention(gpu, attentionShape, attentionBuffers, {
    onResult: (result, done, total) => onResult(result, done, total + still),
    stopped,
    prefillTokens,
  });
  const before = attention.results.length;
  const tuned = await tuneProducts(gpu, named, prefillTokens, {
    onResult: (result, done, total) => onResult(result, before + done, before + total),
    stopped,
  });
  if (stopped()) throw new DOMException('Tuning was canceled.', 'AbortError');
  return { attention: attention.profile, products: tuned.profile, results: [...attention.results, ...tuned.results] };
}
