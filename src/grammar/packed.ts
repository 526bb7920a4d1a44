// An automaton as the words that kernels read (shaders/constraint/walk.wgsl), and a place in it.

import { ACCEPTS, type Automaton } from './automaton';

export interface PackedAutomaton {
  /** `struct Shape`: classes, where pushes and edges begin, the largest need, where all begins. */
  readonly shape: Uint32Array<ArrayBuffer>; // (8)
  /** The classes of bytes and the needs of states, four in a word; then pushes and edges. */
  readonly words: Uint32Array<ArrayBuffer>;
}

/** Bytes of `struct Shape`. */
export const SHAPE_BYTES = 32;

/** Bytes of the words of an automaton. */
export function automatonBytes({ classOf, needs, pushes, edges }: Automaton): number {
  return classOf.length + needs.length + 4 * (pushes.length + edges.length);
}

/** @param first where the words lie: behind so many others */
export function packAutomaton({ nClasses, classOf, needs, pushes, edges }: Automaton, first = 0): PackedAutomaton {
  const pushesAt = (classOf.length + needs.length) / 4;
  const edgesAt = pushesAt + pushes.length;
  const words = new Uint32Array(edgesAt + edges.length);
  const bytes = new Uint8Array(words.buffer);
  bytes.set(classOf);
  bytes.set(needs, classOf.length);
  words.set(pushes, pushesAt);
  words.set(edges, edgesAt);
  const most = needs.reduce((largest, need) => Math.max(largest, need & ~ACCEPTS), 0);
  return { shape: Uint32Array.of(nClasses, first + pushesAt, first + edgesAt, most, first, 0, 0, 0), words };
}

/** A flag beside the depth: the first space of the next token is not part of the document. */
const DROPS = 0x80000000;

/** Words of a place. */
const PLACE_WORDS = 32;

/** A place of src/cpu/grammar.ts, whose stack has at most MAX_STACK states. */
interface Place {
  readonly state: number;
  readonly stack: readonly number[];
  readonly dropsSpace?: boolean;
}

export function packPlace({ state, stack, dropsSpace = false }: Place): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(PLACE_WORDS);
  words[0] = state;
  words[1] = stack.length + (dropsSpace ? DROPS : 0);
  words.set(stack, 2);
  return words;
}
