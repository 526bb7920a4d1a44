// A batch on the GPU: queues its steps and reads their ids back while later steps run.

import type { Gpu } from '../../gpu/device';
import { recordPass } from '../../gpu/kernel';
import { WordReadback } from '../../gpu/readback';
import { Batch } from '../../model/batch/batch';
import { SLOTS } from '../../model/batch/row_table';
import type { KvBranches } from '../../model/kv_branches';
import type { LinearSources } from '../../model/linears';
import type { Batching } from './backend';

/** @throws GpuMemoryError, GpuProgramError, AttentionUnavailable */
export async function createBatching(
  gpu: Gpu,
  sources: LinearSources,
  branches: KvBranches,
  most: number,
  room: number,
): Promise<Batching> {
  const slots = Math.min(most, SLOTS);
  const batch = await Batch.create(sources, slots, room);
  const readback = await gpu.guardMemory('The readback of a batch', () => new WordReadback(gpu, DEPTH + 1, SLOTS));
  return {
    slots,
    room: batch.room,
    fill: (slot, tokens, sampling) => batch.fill(slot, tokens, sampling, branches),
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

/** Steps in flight, at most. */
export const DEPTH = 32;
