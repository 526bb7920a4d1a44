// Adds biases to logits, and forbids tokens.

import askedWgsl from '../../../shaders/sampling/asked.wgsl?raw';
import wgsl from '../../../shaders/sampling/logit_bias.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';
import type { AskedRows } from './sample';

export interface LogitBias {
  /** logits (logitsBytes), biases (BIASES_BYTES for each slot, see packBiases), sampling (see packSampling). */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
  /** Changes the rows of a batch. */
  recordRows(list: CommandList, group: GPUBindGroup, rows: number): void;
}

/** Requests changed together, with entries for `most` biases of each slot. */
interface BiasRows extends AskedRows {
  most: number;
}

/**
 * Changes, in place, the logits of the tokens that have a bias.
 * @param batch logits have a row for each request
 */
export async function createLogitBias(gpu: Gpu, shape: { vocabSize: number }, batch?: BiasRows): Promise<LogitBias> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/logit_bias',
    wgsl: [sampling, batch?.asked ?? askedWgsl, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize, MOST_BIASES: batch?.most ?? 0 },
    bindings: ['write', 'read', batch ? 'read' : 'uniform'],
    rows: batch?.rows,
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
    recordRows: (list, group, rows) => list.add(kernel, group, 1, rows),
  };
}
