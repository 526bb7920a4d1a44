// The end of a step of a batch: from the logits of each conversation to its next id, and to what is reported of it.

import type { Gpu } from '../../gpu/device';
import type { CommandList, RowTable } from '../../gpu/kernel';
import { createMaxima } from '../../kernels/sampling/maxima';
import { createBatchLogitBias, createBatchPenalties, createBatchSample } from '../../kernels/sampling/sample_batch';
import { MAX_BIASES } from '../../sampling/sampling';
import type { BatchLogprobs } from './batch_logprobs';

type Name = 'logits' | 'maxima' | 'asked' | 'tokens' | 'parts' | 'biases' | 'history' | 'seen';

/** What some conversation of a step asks for. */
export interface StepEnd {
  /** Biases or penalties. */
  changes: boolean;
  /** Log probabilities. Null: none does. */
  reports: BatchLogprobs | null;
}

/** Records the draw, behind biases and penalties, and before the report. */
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
  return (list, nTokens, { changes, reports }) => {
    if (changes) {
      if (reports) most.recordRows(list, mostGroup, nTokens);
      reports?.copyParts(list, nTokens);
      bias.recordRows(list, biasGroup, nTokens);
      penalties.recordRows(list, penaltiesGroup, nTokens);
    }
    most.recordRows(list, mostGroup, nTokens);
    sample.recordRows(list, sampleGroup, nTokens, reports !== null && !changes);
    reports?.record(list, nTokens, changes);
  };
}
