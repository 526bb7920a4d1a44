// What a constrained answer needs on the GPU: the bytes of all tokens, the automaton, and a ring of places in it. Made
// by the first such answer of a model.

import type { Place } from '../../cpu/grammar';
import { GPU_COPY_DST, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import type { Automaton } from '../../grammar/automaton';
import { packAutomaton, packPlace, SHAPE_BYTES } from '../../grammar/packed';
import { type Advance, createAdvance } from '../../kernels/constraint/advance';
import { createMask, type Mask, placesBytes } from '../../kernels/constraint/mask';
import type { TokenBytes } from '../../sampling/token_bytes';
import type { Buffers } from '../buffers';

/** Positions of the ring: more than steps can be in flight, so that a step that runs again finds its place. */
export const PLACES_RING = 2048;

/** The automaton's buffer at the least: most need no other. */
const LEAST_BYTES = 64 * 1024;

/** All tokens on the GPU: see packTokens. */
export interface TokenTables {
  starts: GPUBuffer;
  bytes: GPUBuffer;
}

interface Tables extends TokenTables {
  shape: GPUBuffer;
  places: GPUBuffer; // (PLACES_RING, 32)
}

/** The automaton with the groups that bind it. */
interface Bound {
  words: GPUBuffer;
  mask: GPUBindGroup;
  advance: GPUBindGroup;
}

export class Constrainer {
  private bound: Bound | null = null;

  private constructor(
    private readonly gpu: Gpu,
    private readonly buffers: Buffers,
    readonly tables: Tables,
    private readonly kernels: { mask: Mask; advance: Advance },
  ) {}

  /** @throws GpuMemoryError, GpuProgramError */
  static async create(gpu: Gpu, vocabSize: number, buffers: Buffers, tokens: TokenBytes): Promise<Constrainer> {
    const usage = GPU_STORAGE | GPU_COPY_DST;
    const [tables, mask, advance] = await Promise.all([
      gpu.guardMemory('The tokens of constrained answers', () => ({
        shape: gpu.createBuffer('constraint.shape', SHAPE_BYTES, GPU_UNIFORM | GPU_COPY_DST),
        starts: gpu.createBuffer('constraint.starts', tokens.starts.byteLength, usage),
        bytes: gpu.createBuffer('constraint.bytes', tokens.bytes.byteLength, usage),
        places: gpu.createBuffer('constraint.places', placesBytes(PLACES_RING), usage),
      })),
      createMask(gpu, { vocabSize, ring: PLACES_RING }),
      createAdvance(gpu, { vocabSize, ring: PLACES_RING }),
    ]);
    gpu.write(tables.starts, tokens.starts);
    gpu.write(tables.bytes, tokens.bytes);
    return new Constrainer(gpu, buffers, tables, { mask, advance });
  }

  /**
   * Obeys an automaton from now on. Returns true where it was bound anew, as its words need a larger buffer than any
   * before.
   * @throws GpuMemoryError, which leaves the automaton before
   */
  async obey(automaton: Automaton): Promise<boolean> {
    const { gpu, buffers, kernels } = this;
    const { shape, starts, bytes, places } = this.tables;
    const packed = packAutomaton(automaton);
    const former = this.bound;
    const isLarger = former === null || former.words.size < packed.words.byteLength;
    if (isLarger) {
      const size = 2 ** Math.ceil(Math.log2(Math.max(LEAST_BYTES, packed.words.byteLength)));
      const words = await gpu.guardMemory('The constraint', () =>
        gpu.createBuffer('constraint.automaton', size, GPU_STORAGE | GPU_COPY_DST),
      );
      const table = [shape, words, starts, bytes, places];
      const mask = kernels.mask.bind(buffers.logits, buffers.maxima, ...table);
      this.bound = { words, mask, advance: kernels.advance.bind(buffers.tokens, ...table) };
      if (former) gpu.destroyBuffer(former.words);
    }
    gpu.write(shape, packed.shape);
    if (this.bound) gpu.write(this.bound.words, packed.words);
    return isLarger;
  }

  /** Sets where the document stands before the token at a position. */
  setPlace(position: number, place: Place): void {
    const words = packPlace(place);
    this.gpu.write(this.tables.places, words, (position % PLACES_RING) * words.byteLength);
  }

  /** Refuses tokens in the logits and maxima that the head has left. */
  recordMask(list: CommandList): void {
    if (this.bound) this.kernels.mask.record(list, this.bound.mask);
  }

  /** Writes the place after the token that was drawn. */
  recordAdvance(list: CommandList): void {
    if (this.bound) this.kernels.advance.record(list, this.bound.advance);
  }
}
