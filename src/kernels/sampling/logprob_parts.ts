// The first half of log softmax, over many workgroups, and copies of what it read.

import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import wgsl from '../../../shaders/sampling/logprob_parts.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface LogprobParts {
  /** logits (logitsBytes), their maxima (maximaBytes), a copy of each, parts (partsBytes). */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

/** Logits of one part. */
const PART = 1024;

/** Bytes of `parts`: a key and a sum for every 1,024 logits. */
export function partsBytes(vocabSize: number): number {
  return 8 * Math.ceil(vocabSize / PART);
}

/** Sums exp(logit) in parts, and keeps the logits and maxima that biases and penalties are about to change. */
export async function createLogprobParts(gpu: Gpu, shape: { vocabSize: number }): Promise<LogprobParts> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/logprob_parts',
    wgsl: [logitKey, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['read', 'read', 'write', 'write', 'write'],
  });
  const workgroups = Math.ceil(shape.vocabSize / PART);
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, workgroups),
  };
}
