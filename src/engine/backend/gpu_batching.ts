// A batch on the GPU: queues its steps and reads their ids back while later steps run.

import type { Gpu } from '../../gpu/device';
import { recordPass } from '../../gpu/kernel';
import { WordReadback } from '../../gpu/readback';
import { Batch, SLOTS } from '../../model/batch/batch';
import { checkBatch } from '../../model/batch/batch_check';
import type { Llama } from '../../model/llama';
import { BATCH_DEPTH, type Batching } from './backend';

/**
 * A batch whose step was checked on `ids`, all but the last of which are in the cache. Null with keys and values in
 * signed bytes, attention on the CPU, a model that is not causal, or a conversation that no two slots have room for.
 * @throws GpuMemoryError, GpuProgramError, AttentionUnavailable
 */
export async function createBatching(
  gpu: Gpu,
  llama: Llama,
  most: number,
  room: number,
  ids: Uint32Array<ArrayBuffer>,
): Promise<Batching | null> {
  const { batchSources: sources, kvBranches: branches } = llama;
  if (!sources.config.causal || sources.attentionShape.kvType === 'q8' || llama.needsHost) return null;
  const slots = Batch.slotsFor(sources, most, ids.length);
  if (slots < 2) return null;
  const batch = await Batch.create(sources, slots, room);
  let readback: WordReadback;
  try {
    await checkBatch(gpu, llama, batch, ids);
    const make = () => new WordReadback(gpu, BATCH_DEPTH + 1, SLOTS);
    readback = await gpu.guardMemory('The readback of a batch', make);
  } catch (error) {
    batch.destroy();
    throw error;
  }
  return {
    slots,
    room: batch.room,
    fill: (slot, ids, sampling) => batch.fill(slot, ids, sampling, branches),
    setMembers: (members) => batch.setRows(members),
    step() {
      if (gpu.failure) return Promise.reject(gpu.failure);
      const { pass, at } = batch.next();
      const encoder = gpu.device.createCommandEncoder();
      recordPass(gpu, encoder, [pass]);
      const target = readback.copy(encoder, batch.tokens, 4 * at, SLOTS);
      gpu.submit(encoder.finish());
      return readback.readMany(target, SLOTS);
    },
    destroy() {
      batch.destroy();
      readback.destroy();
    },
  };
}
