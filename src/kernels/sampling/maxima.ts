// The largest logit of every 32.

import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import wgsl from '../../../shaders/sampling/maxima.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';
import { MAXIMA_GROUP } from './logits_size';

export interface Maxima {
  /** logits (logitsBytes), maxima (maximaBytes). */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
  /** Of rows of logits, each padded to logitsBytes, to rows of maxima. */
  recordRows(list: CommandList, group: GPUBindGroup, rows: number): void;
}

const THREADS = 64;

/** Writes the largest key of every 32 logits, which `sample` reads first. */
export async function createMaxima(gpu: Gpu, shape: { vocabSize: number }): Promise<Maxima> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/maxima',
    wgsl: [logitKey, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['read', 'write'],
  });
  const workgroups = Math.ceil(shape.vocabSize / (MAXIMA_GROUP * THREADS));
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, workgroups),
    recordRows: (list, group, rows) => list.add(kernel, group, workgroups, rows),
  };
}
