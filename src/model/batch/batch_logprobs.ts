// What a step of a batch needs to report log probabilities. Made by the first conversation that asks for them.

import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import type { CommandList, RowTable } from '../../gpu/kernel';
import { SLOTS } from '../../kernels/row_table';
import { logitsBytes, maximaBytes } from '../../kernels/sampling/logits_size';
import { askedRows } from '../../kernels/sampling/sample_batch';
import { entryWords, LOGPROBS_RING, MAX_LOGPROBS } from '../../sampling/logprobs';
import { arrived } from '../../shared/part';

/** Words of an entry, with room for the most tokens; of a step, with an entry for each slot; and of all steps. */
export const ENTRY_WORDS = entryWords(MAX_LOGPROBS);
export const REPORT_WORDS = SLOTS * ENTRY_WORDS;
export const RING_WORDS = LOGPROBS_RING * REPORT_WORDS;

type Name = 'logits' | 'maxima' | 'asked' | 'tokens' | 'parts';

export interface BatchLogprobs {
  /** (LOGPROBS_RING, SLOTS) entries of ENTRY_WORDS, by the number of the next step. */
  ring: GPUBuffer;
  /** Keeps copies of logits and maxima that change before the draw, and writes their parts. */
  copyParts(list: CommandList, nTokens: number): void;
  /** Reports those of the head's logits. @param changed the logits are others by now, and `copyParts` has kept them */
  record(list: CommandList, nTokens: number, changed: boolean): void;
  destroy(): void;
}

/** @throws GpuMemoryError, GpuProgramError, MissingPartError */
export async function createLogprobsOfBatch(
  gpu: Gpu,
  { vocabSize }: { vocabSize: number },
  rows: RowTable,
  { logits, maxima, asked, tokens, parts }: Readonly<Record<Name, GPUBuffer>>,
): Promise<BatchLogprobs> {
  const { createLogprobKernels } = await arrived(import('../output/log_probabilities'));
  const kernels = createLogprobKernels(gpu, vocabSize, { ...askedRows(rows), slots: SLOTS });
  const [half, whole] = await Promise.all([kernels.half, kernels.whole]);
  const storage = (label: string, bytes: number) =>
    gpu.createBuffer(`batch.${label}`, bytes, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  const own = await gpu.guardMemory('The log probabilities of a batch', () => ({
    logits: storage('raw_logits', SLOTS * logitsBytes(vocabSize)),
    maxima: storage('raw_maxima', SLOTS * maximaBytes(vocabSize)),
    ring: storage('logprobs', 4 * RING_WORDS),
  }));
  const copies = half.bind(logits, maxima, own.logits, own.maxima, parts);
  const ofLogits = whole.bind(logits, maxima, asked, tokens, parts, own.ring);
  const ofCopies = whole.bind(own.logits, own.maxima, asked, tokens, parts, own.ring);
  return {
    ring: own.ring,
    copyParts: (list, nTokens) => half.recordRows(list, copies, nTokens),
    record: (list, nTokens, changed) => whole.recordRows(list, changed ? ofCopies : ofLogits, nTokens),
    destroy() {
      for (const buffer of Object.values(own)) gpu.destroyBuffer(buffer);
    },
  };
}
