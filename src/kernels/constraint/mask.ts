// Refuses the tokens that a grammar does not allow next.

import wgsl from '../../../shaders/constraint/mask.wgsl?raw';
import walk from '../../../shaders/constraint/walk.wgsl?raw';
import logitKey from '../../../shaders/sampling/logit_key.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type RowTable } from '../../gpu/kernel';

export interface Mask {
  /**
   * logits (logitsBytes), maxima (maximaBytes), shapes and words of automata (packAutomaton), starts and bytes of all
   * tokens (packTokens), places (placesBytes). In a batch, a row for each request; shapes and places for each slot.
   */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup, rows?: number): void;
}

export interface RingShape {
  vocabSize: number;
  /** Positions of a ring of places. */
  ring: number;
}

/** Words of a place: state, depth of the stack, and the stack. */
export const PLACE_WORDS = 32;

/** Bytes of a ring of places. */
export function placesBytes(ring: number): number {
  return 4 * PLACE_WORDS * ring;
}

const THREADS = 256;

/**
 * Sets the logits of refused tokens, in place, and the maxima, before the next token is drawn.
 * @param rows those of a batch
 */
export async function createMask(gpu: Gpu, { vocabSize, ring }: RingShape, rows?: RowTable): Promise<Mask> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/mask',
    wgsl: [logitKey, walk, wgsl],
    constants: { VOCAB_SIZE: vocabSize, RING: ring, SHAPES: rows?.most ?? 1 },
    bindings: ['write', 'write', 'uniform', 'read', 'read', 'read', 'read'],
    rows,
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group, rows = 1) => list.add(kernel, group, Math.ceil(vocabSize / THREADS), rows),
  };
}
