// What a step of a batch needs for conversations with a constraint: an automaton and a ring of places for each slot.
// Made by the first of them.

import type { Place } from '../../cpu/grammar';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../../gpu/device';
import type { CommandList, RowTable } from '../../gpu/kernel';
import type { Automaton } from '../../grammar/automaton';
import { automatonBytes, packAutomaton, packPlace, SHAPE_BYTES } from '../../grammar/packed';
import { type Advance, createAdvance } from '../../kernels/constraint/advance';
import { createMask, type Mask, placesBytes } from '../../kernels/constraint/mask';
import type { TokenTables } from '../output/constrainer';

/** Positions of a ring. A step that runs again is a step of one conversation. */
const RING = 16;
/** Bytes for an automaton in each slot, at the least: most need no more. */
const LEAST_BYTES = 64 * 1024;

type Name = 'logits' | 'maxima' | 'tokens';

/** The words of all automata with the groups that bind them. */
interface Bound {
  automata: GPUBuffer;
  /** Bytes of a slot. */
  each: number;
  mask: GPUBindGroup;
  advance: GPUBindGroup;
}

export class BatchConstraints {
  /** The automaton of each slot that has one. */
  private readonly obeyed = new Map<number, Automaton>();

  private constructor(
    private readonly gpu: Gpu,
    private readonly own: Readonly<Record<'shapes' | 'places', GPUBuffer>>,
    private bound: Bound,
    private readonly bind: (bytes: number) => Promise<Bound>,
    private readonly kernels: { mask: Mask; advance: Advance },
  ) {}

  /** @throws GpuMemoryError, GpuProgramError */
  static async create(
    gpu: Gpu,
    vocabSize: number,
    rows: RowTable,
    { logits, maxima, tokens }: Readonly<Record<Name, GPUBuffer>>,
    { starts, bytes }: TokenTables,
  ): Promise<BatchConstraints> {
    const [mask, advance] = await Promise.all([
      createMask(gpu, { vocabSize, ring: RING }, rows),
      createAdvance(gpu, { vocabSize, ring: RING }, rows),
    ]);
    const { shapes, places } = await gpu.guardMemory('The places of a batch', () => ({
      shapes: gpu.createBuffer('batch.shapes', rows.most * SHAPE_BYTES, GPU_UNIFORM | GPU_COPY_DST),
      places: gpu.createBuffer('batch.places', rows.most * placesBytes(RING), GPU_STORAGE | GPU_COPY_DST),
    }));
    const bind = async (each: number): Promise<Bound> => {
      const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
      const automata = await gpu.guardMemory('The constraints of a batch', () =>
        gpu.createBuffer('batch.automata', rows.most * each, usage),
      );
      const table = [shapes, automata, starts, bytes, places];
      return { automata, each, mask: mask.bind(logits, maxima, ...table), advance: advance.bind(tokens, ...table) };
    };
    try {
      return new BatchConstraints(gpu, { shapes, places }, await bind(LEAST_BYTES), bind, { mask, advance });
    } catch (error) {
      for (const buffer of [shapes, places]) gpu.destroyBuffer(buffer);
      throw error;
    }
  }

  /**
   * Makes the conversation in a slot obey an automaton. Steps of others may run meanwhile. Returns true where all are
   * bound anew, as this one needs more words than any before.
   * @throws GpuMemoryError, which leaves the automata before
   */
  async obey(slot: number, automaton: Automaton): Promise<boolean> {
    const bytes = automatonBytes(automaton);
    const former = this.bound;
    const isLarger = bytes > former.each;
    if (isLarger) this.bound = await this.bind(2 ** Math.ceil(Math.log2(bytes)));
    this.obeyed.set(slot, automaton);
    for (const each of isLarger ? this.obeyed.keys() : [slot]) this.write(each);
    if (isLarger) this.gpu.destroyBuffer(former.automata);
    return isLarger;
  }

  private write(slot: number): void {
    const { gpu, own, obeyed, bound } = this;
    const { shape, words } = packAutomaton(obeyed.get(slot) as Automaton, (slot * bound.each) / 4);
    gpu.write(own.shapes, shape, slot * SHAPE_BYTES);
    gpu.write(bound.automata, words, slot * bound.each);
  }

  /** True if the conversation in a slot has a constraint. */
  holds(slot: number): boolean {
    return this.obeyed.has(slot);
  }

  /** Lets the conversation in a slot write what it likes. */
  free(slot: number): void {
    if (!this.obeyed.delete(slot)) return;
    this.gpu.write(this.own.shapes, new Uint32Array(SHAPE_BYTES / 4), slot * SHAPE_BYTES);
  }

  /** Sets where the document of a slot stands before the token at a position. */
  setPlace(slot: number, position: number, place: Place): void {
    const words = packPlace(place);
    this.gpu.write(this.own.places, words, (slot * RING + (position % RING)) * words.byteLength);
  }

  /** Refuses tokens in the logits that the head has left, and writes the maxima of all rows. */
  recordMask(list: CommandList, nTokens: number): void {
    this.kernels.mask.record(list, this.bound.mask, nTokens);
  }

  /** Writes the places after the tokens that were drawn. */
  recordAdvance(list: CommandList, nTokens: number): void {
    this.kernels.advance.record(list, this.bound.advance, nTokens);
  }

  destroy(): void {
    for (const buffer of [this.own.shapes, this.own.places, this.bound.automata]) this.gpu.destroyBuffer(buffer);
  }
}
