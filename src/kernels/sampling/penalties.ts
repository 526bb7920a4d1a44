// Penalizes the logits of tokens that occurred.

import askedWgsl from '../../../shaders/sampling/asked.wgsl?raw';
import historyWgsl from '../../../shaders/sampling/history.wgsl?raw';
import wgsl from '../../../shaders/sampling/penalties.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';
import type { AskedRows } from './sample';

export interface Penalties {
  /**
   * logits (logitsBytes), seen (seenBytes, zeros), sampling (SAMPLING_BYTES, see packSampling), tokens, and
   * the history of a batch.
   */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
  /** Penalizes the rows of a batch. */
  recordRows(list: CommandList, group: GPUBindGroup, rows: number): void;
}

/** Requests penalized together: their rows, and the library that has the ids of slots of `room` positions. */
interface PenaltyRows extends AskedRows {
  history: string;
  room: number;
}

/**
 * Penalizes, in place, the logits of all tokens before position + nTokens, or before the next position of each row.
 * @param batch logits and `seen` have a row for each request
 */
export async function createPenalties(gpu: Gpu, shape: { vocabSize: number }, batch?: PenaltyRows): Promise<Penalties> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/penalties',
    wgsl: [sampling, batch?.asked ?? askedWgsl, batch?.history ?? historyWgsl, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize, ...(batch ? { ROOM: batch.room } : {}) },
    bindings: ['write', 'write', ...(batch ? (['read', 'read', 'write'] as const) : (['uniform', 'read'] as const))],
    rows: batch?.rows,
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
    recordRows: (list, group, rows) => list.add(kernel, group, 1, rows),
  };
}
