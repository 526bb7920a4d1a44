// The check of a batch on this GPU: a step of a conversation beside a short one against the model's own step.

import { GpuProgramError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { recordPass } from '../../gpu/kernel';
import type { SamplingParams } from '../../sampling/sampling';
import { distanceOf } from '../distance';
import type { Llama } from '../llama';
import { type Batch, SLOTS } from './batch';

/** Sums in another order turn some roundings to bytes, which moves logits by less. A wrong kernel does by more. */
const TOLERANCE = 0.05;

const GREEDY: SamplingParams = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: 0,
  answerStart: 0,
  biases: [],
  logprobs: null,
};

/**
 * Compares logits, and drawn ids with the largest logits. Both steps write what the next step at the position writes.
 * @param ids the conversation, of whose positions the cache has all but the last
 * @throws GpuProgramError where the batch is wrong
 */
export async function checkBatch(gpu: Gpu, llama: Llama, batch: Batch, ids: Uint32Array<ArrayBuffer>): Promise<void> {
  const position = ids.length - 1;
  const rows = [
    { slot: batch.slots - 1, position, id: ids[position] },
    { slot: 0, position: 0, id: ids[0] }, // of another length, so that the first row cannot be right with its keys
  ];
  for (const row of rows) batch.fill(row.slot, ids.slice(0, row.position), GREEDY, llama.kvBranches);
  const { rings } = llama.batchSources.kvCache;
  const { written } = rings;
  llama.writeTokens(ids.slice(position), position);
  await llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
  rings.written = written;
  const expected = await llama.readLogits();
  batch.setRows(rows);
  const { pass, at } = batch.next();
  const encoder = gpu.device.createCommandEncoder();
  recordPass(gpu, encoder, [pass]);
  gpu.submit(encoder.finish());
  const drawn = new Uint32Array(await gpu.read({ buffer: batch.tokens, offset: 4 * at, size: 4 * SLOTS }));
  const logits = await batch.readLogits();
  const distance = distanceOf(logits[0], expected);
  if (!(distance < TOLERANCE)) {
    throw new GpuProgramError('model/batch', `its logits are off by ${distance.toPrecision(2)}`);
  }
  for (const [i, { slot }] of rows.entries()) {
    const largest = logits[i].reduce((most, logit) => Math.max(most, logit));
    if (logits[i][drawn[slot]] !== largest) {
      throw new GpuProgramError('model/batch', `it draws token ${drawn[slot]}, which is not the likeliest`);
    }
  }
}
