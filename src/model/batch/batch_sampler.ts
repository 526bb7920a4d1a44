// The end of a step of a batch: from the logits of each conversation to its next id.

import type { Gpu } from '../../gpu/device';
import type { CommandList, RowTable } from '../../gpu/kernel';
import { createMaxima } from '../../kernels/sampling/maxima';
import { createBatchLogitBias, createBatchPenalties, createBatchSample } from '../../kernels/sampling/sample_batch';
import { MAX_BIASES } from '../../sampling/sampling';

type Name = 'logits' | 'maxima' | 'asked' | 'tokens' | 'parts' | 'biases' | 'history' | 'seen';

/** Records the draw, behind biases and penalties where some conversation `changes` its logits by them. */
export type BatchSampler = (list: CommandList, nTokens: number, changes: boolean) => void;

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
  return (list, nTokens, changes) => {
    if (changes) {
      bias.recordRows(list, biasGroup, nTokens);
      penalties.recordRows(list, penaltiesGroup, nTokens);
    }
    most.recordRows(list, mostGroup, nTokens);
    sample.recordRows(list, sampleGroup, nTokens);
  };
}
