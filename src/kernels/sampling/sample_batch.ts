// Draws the next token of each conversation of a batch, and changes its logits before that.

import asked from '../../../shaders/sampling/asked_batch.wgsl?raw';
import history from '../../../shaders/sampling/history_batch.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { RowTable } from '../../gpu/kernel';
import { createLogitBias, type LogitBias } from './logit_bias';
import { createPenalties, type Penalties } from './penalties';
import { type AskedRows, createSample, type Sample } from './sample';

/** The kernel of createSample. Logits and maxima have a row for each conversation, `sampling` one for each slot. */
export function createBatchSample(gpu: Gpu, shape: { vocabSize: number }, rows: RowTable): Promise<Sample> {
  return createSample(gpu, shape, { rows, asked });
}

/** The kernel of createLogitBias. `sampling` has a row for each slot, and so have the biases: `most` entries. */
export function createBatchLogitBias(
  gpu: Gpu,
  { most, ...shape }: { vocabSize: number; most: number },
  rows: RowTable,
): Promise<LogitBias> {
  return createLogitBias(gpu, shape, { rows, asked, most });
}

/** The kernel of createPenalties. The history has `room` ids for each slot. */
export function createBatchPenalties(
  gpu: Gpu,
  { room, ...shape }: { vocabSize: number; room: number },
  rows: RowTable,
): Promise<Penalties> {
  return createPenalties(gpu, shape, { rows, asked, history, room });
}

/** What each conversation asks of the sampler, for other kernels with a row for each. */
export function askedRows(rows: RowTable): AskedRows {
  return { rows, asked };
}
