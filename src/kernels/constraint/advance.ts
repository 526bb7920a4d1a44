// Walks the token that was drawn through the grammar.

import wgsl from '../../../shaders/constraint/advance.wgsl?raw';
import walk from '../../../shaders/constraint/walk.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel } from '../../gpu/kernel';

export interface Advance {
  /** tokens, shape and words of the automaton (packAutomaton), starts and bytes of all tokens (packTokens), places. */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup): void;
}

/** Writes the place after tokens[position + nTokens] to the ring, at the next position modulo its size. */
export async function createAdvance(gpu: Gpu, shape: { vocabSize: number; ring: number }): Promise<Advance> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/advance',
    wgsl: [walk, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize, RING: shape.ring },
    bindings: ['read', 'uniform', 'read', 'read', 'read', 'write'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group) => list.add(kernel, group, 1),
  };
}
