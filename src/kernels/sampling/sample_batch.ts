// Draws the next token of each conversation of a batch.

import asked from '../../../shaders/sampling/asked_batch.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { RowTable } from '../../gpu/kernel';
import { createSample, type Sample } from './sample';

/** The kernel of createSample. Logits and maxima have a row for each conversation, `sampling` one for each slot. */
export function createBatchSample(gpu: Gpu, shape: { vocabSize: number }, rows: RowTable): Promise<Sample> {
  return createSample(gpu, shape, { rows, asked });
}
