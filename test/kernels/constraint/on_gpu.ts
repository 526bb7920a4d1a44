// The mask and advance kernels on a device of a test, with buffers for one vocabulary and one automaton.

import { expect } from 'vitest';
import { maskTokens, type Place } from '../../../src/cpu/grammar';
import { GPU_COPY_DST, GPU_UNIFORM } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import type { Automaton } from '../../../src/grammar/automaton';
import { packAutomaton, packPlace, SHAPE_BYTES } from '../../../src/grammar/packed';
import { createAdvance } from '../../../src/kernels/constraint/advance';
import { createMask, PLACE_WORDS, placesBytes } from '../../../src/kernels/constraint/mask';
import { maximaBytes } from '../../../src/kernels/sampling/logits_size';
import { packTokens } from '../../../src/sampling/token_bytes';
import { type PATHS, testGpu } from '../../gpu/test_device';

export const RING = 4;
const CONTEXT = 64;

export interface Vocabulary {
  tokens: readonly Uint8Array[];
  ends: readonly number[];
}

/** Kernels with buffers for one vocabulary and one automaton. */
export async function onGpu(automaton: Automaton, { tokens, ends }: Vocabulary, without: (typeof PATHS)[number] = []) {
  const gpu = await testGpu(without);
  const vocabSize = tokens.length;
  const [maskKernel, advanceKernel] = await Promise.all([
    createMask(gpu, { vocabSize, ring: RING }),
    createAdvance(gpu, { vocabSize, ring: RING }),
  ]);
  const packed = packAutomaton(automaton);
  expect(packed.shape.byteLength).toBe(SHAPE_BYTES);
  const shape = gpu.createBuffer('shape', SHAPE_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  gpu.write(shape, packed.shape);
  const { starts, bytes } = packTokens(vocabSize, (id) => tokens[id], ends);
  const table = [gpu.upload('automaton', packed.words), gpu.upload('starts', starts), gpu.upload('bytes', bytes)];
  const places = gpu.upload('places', new Uint32Array(placesBytes(RING) / 4).fill(7));
  const logits = gpu.upload('logits', new Float32Array(vocabSize));
  const maxima = gpu.upload('maxima', new Uint32Array(maximaBytes(vocabSize) / 4));
  const ids = gpu.upload('tokens', new Uint32Array(CONTEXT + 1));
  const masking = new CommandList(gpu);
  maskKernel.record(masking, maskKernel.bind(logits, maxima, shape, ...table, places));
  const advancing = new CommandList(gpu);
  advanceKernel.record(advancing, advanceKernel.bind(ids, shape, ...table, places));
  const at = (position: number) => 4 * PLACE_WORDS * (position % RING);
  return {
    write: (position: number, place: Place) => gpu.write(places, packPlace(place), at(position)),
    /** The logits and maxima of the token at a position, all of them `before` first. */
    async mask(position: number, before: Float32Array<ArrayBuffer>, nTokens = 1) {
      gpu.write(logits, before);
      await masking.run({ position: position - nTokens, nTokens });
      const after = new Float32Array(await gpu.read(logits, 4 * vocabSize));
      expect(gpu.failure).toBeNull();
      return { after, maxima: new Uint32Array(await gpu.read(maxima)) };
    },
    /** The place behind an id at a position. */
    async advance(position: number, id: number): Promise<Place> {
      gpu.write(ids, Uint32Array.of(id), 4 * position);
      await advancing.run({ position: position - 1, nTokens: 1 });
      const ring = new Uint32Array(await gpu.read(places));
      expect(gpu.failure).toBeNull();
      const [state, depth, ...stack] = ring.subarray(at(position + 1) / 4, at(position + 1) / 4 + PLACE_WORDS);
      const dropsSpace = depth >= 2 ** 31;
      const place = { state, stack: stack.slice(0, depth % 2 ** 31) };
      return dropsSpace ? { ...place, dropsSpace } : place;
    },
  };
}

type OnGpu = Awaited<ReturnType<typeof onGpu>>;

/** Compares the mask at a place, and the place after some allowed tokens. */
export async function compare(
  gpu: OnGpu,
  automaton: Automaton,
  { tokens, ends }: Vocabulary,
  place: Place,
  position = 9,
) {
  gpu.write(position, place);
  const before = Float32Array.from(tokens, (_, id) => 0.5 + (id % 7));
  const { after } = await gpu.mask(position, before);
  const mask = maskTokens(automaton, place, tokens, ends);
  expect([...after]).toEqual([...before].map((logit, id) => (mask[id] === 1 ? logit : Number.NEGATIVE_INFINITY)));
  return [...mask.keys()].filter((id) => mask[id] === 1);
}
