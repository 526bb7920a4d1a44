// The check of a batch on this GPU: a step of a conversation beside short ones against the model's own step.

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
 * Compares logits, and drawn ids with the largest logits. All slots take part: in a first step the conversation is in
 * the first row, in a second one in the last. Each step writes what the next step at the position writes.
 * @param ids the conversation, of whose positions the cache has all but the last
 * @throws GpuProgramError where the batch is wrong
 */
export async function checkBatch(gpu: Gpu, llama: Llama, batch: Batch, ids: Uint32Array<ArrayBuffer>): Promise<void> {
  const position = ids.length - 1;
  const slots = Array.from({ length: batch.slots }, (_, i) => batch.slots - 1 - i);
  // The others are of another length, so that the first cannot be right with their keys.
  const rows = slots.map((slot, i) => ({ slot, position: i === 0 ? position : 0, id: ids[i === 0 ? position : 0] }));
  const branches = await llama.kvParking.prepare();
  for (const row of rows) batch.fill(row.slot, ids.slice(0, row.position), GREEDY, branches);
  const { rings } = llama.batchSources.kvCache;
  const { written } = rings;
  llama.writeTokens(ids.slice(position), position);
  await llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
  rings.written = written;
  const expected = await llama.readLogits();
  for (const row of [0, rows.length - 1]) {
    batch.setRows(row === 0 ? rows : rows.toReversed());
    const { logits, drawn } = await runStep(gpu, batch);
    const distance = distanceOf(logits[row], expected);
    if (!(distance < TOLERANCE)) {
      throw new GpuProgramError('model/batch', `its logits are off by ${distance.toPrecision(2)}`);
    }
    for (const [i, id] of drawn.entries()) {
      const largest = logits[i].reduce((most, logit) => Math.max(most, logit));
      if (logits[i][id] !== largest) {
        throw new GpuProgramError('model/batch', `it draws token ${id}, which is not the likeliest`);
      }
    }
  }
}

/** The logits and the drawn id of each row. */
async function runStep(gpu: Gpu, batch: Batch): Promise<{ logits: Float32Array[]; drawn: number[] }> {
  const { pass, at } = batch.next();
  const encoder = gpu.device.createCommandEncoder();
  recordPass(gpu, encoder, [pass]);
  gpu.submit(encoder.finish());
  const ids = new Uint32Array(await gpu.read({ buffer: batch.tokens, offset: 4 * at, size: 4 * SLOTS }));
  return { logits: await batch.readLogits(), drawn: batch.rows.map(({ slot }) => ids[slot]) };
}
