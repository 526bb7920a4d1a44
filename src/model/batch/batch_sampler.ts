// The end of a step of a batch: from the logits of each conversation to its next id, and to what is reported of it.

import type { Gpu } from '../../gpu/device';
import type { CommandList, RowTable } from '../../gpu/kernel';
import { createMaxima } from '../../kernels/sampling/maxima';
import { createBatchLogitBias, createBatchPenalties, createBatchSample } from '../../kernels/sampling/sample_batch';
import { MAX_BIASES } from '../../sampling/sampling';
import type { BatchConstraints } from './batch_constraints';
import type { BatchLogprobs } from './batch_logprobs';

type Name = 'logits' | 'maxima' | 'asked' | 'tokens' | 'parts' | 'biases' | 'history' | 'seen';

/** What some conversation of a step asks for. */
export interface StepEnd {
  /** Constraints. Null: none does. */
  masks: BatchConstraints | null;
  /** Biases or penalties. */
  changes: boolean;
  /** Log probabilities. Null: none does. */
  reports: BatchLogprobs | null;
}

/** Records the draw, behind masks, biases and penalties in this order, and before the report and the next places. */
export type BatchSampler = (list: CommandList, nTokens: number, end: StepEnd) => void;

/** @param room positions of a slot @param status a buffer whose first word is 0 */
export async function createBatchSampler(
  gpu: Gpu,
  shape: { vocabSize: number; room: number },
  rows: RowTable,
  { logits, maxima, asked, tokens, parts, biases, history, seen }: Readonly<Record<Name, GPUBuffer>>,
  status: GPUBuffer,
): Promise<BatchSampler> {
  const [bias, penalties, most, sample] = await Promise.all([
    createBatchLogitBias(gpu, { vocabSize: shape.vocabSize, most: MAX_BIASES }, rows),
    createBatchPenalties(gpu, shape, rows),
    createMaxima(gpu, shape),
    createBatchSample(gpu, shape, rows),
  ]);
  const biasGroup = bias.bind(logits, biases, asked);
  const penaltiesGroup = penalties.bind(logits, seen, asked, tokens, history);
  const mostGroup = most.bind(logits, maxima);
  const sampleGroup = sample.bind(logits, maxima, asked, tokens, status, parts);
  return (list, nTokens, { masks, changes, reports }) => {
    masks?.recordMask(list, nTokens); // and the maxima
    if (changes) {
      if (reports && !masks) most.recordRows(list, mostGroup, nTokens);
      reports?.copyParts(list, nTokens);
      bias.recordRows(list, biasGroup, nTokens);
      penalties.recordRows(list, penaltiesGroup, nTokens);
    }
    if (changes || !masks) most.recordRows(list, mostGroup, nTokens);
    sample.recordRows(list, sampleGroup, nTokens, reports !== null && !changes);
    reports?.record(list, nTokens, changes);
    masks?.recordAdvance(list, nTokens);
  };
}
