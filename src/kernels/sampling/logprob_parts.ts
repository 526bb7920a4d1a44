// The first half of log softmax where biases and penalties change the logits before the second half.

import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import logprobPart from '../../../shaders/sampling/logprob_part.wgsl?raw';
import wgsl from '../../../shaders/sampling/logprob_parts.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';
import { countParts } from './sample';

export interface LogprobParts {
  /** logits (logitsBytes), their maxima (maximaBytes), a copy of each, parts (partsBytes). */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
  /** Of rows of logits and maxima, each padded to its size above, to rows of parts. */
  recordRows(list: CommandList, group: GPUBindGroup, rows: number): void;
}

/** Sums exp(logit) in parts, and keeps the logits and maxima that biases and penalties are about to change. */
export async function createLogprobParts(gpu: Gpu, shape: { vocabSize: number }): Promise<LogprobParts> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/logprob_parts',
    wgsl: [logitKey, logprobPart, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['read', 'read', 'write', 'write', 'write'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, countParts(shape.vocabSize)),
    recordRows: (list, group, rows) => list.add(kernel, group, countParts(shape.vocabSize), rows),
  };
}
