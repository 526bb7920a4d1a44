// Refuses the tokens that a grammar does not allow next.

import wgsl from '../../../shaders/constraint/mask.wgsl?raw';
import walk from '../../../shaders/constraint/walk.wgsl?raw';
import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface Mask {
  /**
   * logits (logitsBytes), maxima (maximaBytes), shape and words of the automaton (packAutomaton), starts and bytes of
   * all tokens (packTokens), places (placesBytes).
   */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

/** Words of a place: state, depth of the stack, and the stack. */
export const PLACE_WORDS = 32;

/** Bytes of a ring of places. */
export function placesBytes(ring: number): number {
  return 4 * PLACE_WORDS * ring;
}

const THREADS = 256;

/** Sets the logits of refused tokens, in place, and the maxima, before the token at position + nTokens is drawn. */
export async function createMask(gpu: Gpu, shape: { vocabSize: number; ring: number }): Promise<Mask> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/mask',
    wgsl: [logitKey, walk, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize, RING: shape.ring },
    bindings: ['write', 'write', 'uniform', 'read', 'read', 'read', 'read'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, Math.ceil(shape.vocabSize / THREADS)),
  };
}
