// Draws the next token from the logits.

import askedWgsl from '../../../shaders/sampling/asked.wgsl?raw';
import candidates from '../../../shaders/sampling/candidates.wgsl?raw';
import draw from '../../../shaders/sampling/draw.wgsl?raw';
import gumbel from '../../../shaders/sampling/gumbel.wgsl?raw';
import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import logprobPart from '../../../shaders/sampling/logprob_part.wgsl?raw';
import wgsl from '../../../shaders/sampling/sample.wgsl?raw';
import sampling from '../../../shaders/sampling/sampling.wgsl?raw';
import thresholds from '../../../shaders/sampling/thresholds.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type RowTable } from '../../gpu/kernel';

export interface Sample {
  /**
   * logits (logitsBytes), maxima of these logits (maximaBytes), sampling (SAMPLING_BYTES, see packSampling), tokens,
   * a buffer whose first word is not 0 after a step that gave up, and parts (partsBytes).
   */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  /** @param parts also writes the parts of log softmax */
  record(list: CommandList, group: GPUBindGroup, parts?: boolean): void;
  /** Draws for the requests of a batch. @param parts as in `record` */
  recordRows(list: CommandList, group: GPUBindGroup, rows: number, parts?: boolean): void;
}

/** Logits of one part of log softmax. */
const PART = 1024;

/** Parts of a vocabulary. */
export function countParts(vocabSize: number): number {
  return Math.ceil(vocabSize / PART);
}

/** Bytes of the parts: a key and a sum for every 1,024 logits. */
export function partsBytes(vocabSize: number): number {
  return 8 * countParts(vocabSize);
}

/** Requests of a batch: their rows, and the library that reads what each asks (SAMPLING_BYTES, in storage). */
export interface AskedRows {
  rows: RowTable;
  asked: string;
}

/**
 * Writes the next token to tokens[position + nTokens], or of each row of a batch to its own place.
 * @param batch logits and maxima have a row for each request
 */
export async function createSample(gpu: Gpu, shape: { vocabSize: number }, batch?: AskedRows): Promise<Sample> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/sample',
    wgsl: [sampling, batch?.asked ?? askedWgsl, gumbel, logitKey, logprobPart, candidates, thresholds, draw, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize },
    bindings: ['read', 'read', batch ? 'read' : 'uniform', 'write', 'read', 'write'],
    rows: batch?.rows,
  });
  const parts = countParts(shape.vocabSize);
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group, withParts = false) => list.add(kernel, group, withParts ? 1 + parts : 1),
    recordRows: (list, group, rows, withParts = false) => list.add(kernel, group, withParts ? 1 + parts : 1, rows),
  };
}
