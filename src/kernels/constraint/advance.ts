// Walks the token that was drawn through the grammar.

import wgsl from '../../../shaders/constraint/advance.wgsl?raw';
import walk from '../../../shaders/constraint/walk.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type RowTable } from '../../gpu/kernel';
import type { RingShape } from './mask';

export interface Advance {
  /** tokens, shapes and words of automata (packAutomaton), starts and bytes of all tokens (packTokens), places. */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup, rows?: number): void;
}

/**
 * Writes the place after the token that was drawn to the ring, at the next position modulo its size.
 * @param rows those of a batch
 */
export async function createAdvance(gpu: Gpu, { vocabSize, ring }: RingShape, rows?: RowTable): Promise<Advance> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/advance',
    wgsl: [walk, wgsl],
    constants: { VOCAB_SIZE: vocabSize, RING: ring, SHAPES: rows?.most ?? 1 },
    bindings: ['read', 'uniform', 'read', 'read', 'read', 'write'],
    rows,
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group, rows = 1) => list.add(kernel, group, 1, rows),
  };
}
