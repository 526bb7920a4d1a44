// Automata over bytes with a stack of states to return to, as tables that a kernel can walk. Knows no GPU and no text.
// A state has one edge for each class of bytes. An edge may enter a rule: it pushes where to return. A state that may
// end, without an edge for the byte, returns to the top of the stack, which then looks at the same byte.

export interface Automaton {
  readonly nStates: number;
  readonly nClasses: number;
  readonly nPushes: number;
  /** The class of each byte. */
  readonly classOf: Uint8Array<ArrayBuffer>; // (256)
  /** The next state | the row of `pushes` << 16, or NO_EDGE. A document begins at state 0, its stack empty. */
  readonly edges: Uint32Array<ArrayBuffer>; // (nStates, nClasses)
  /**
   * A byte of each state: how many places of the stack it still takes to end its rule, + ACCEPTS where it may end.
   * Padded to whole words.
   */
  readonly needs: Uint8Array<ArrayBuffer>; // (nStates)
  /** The number of states to push, then these states, the bottom one first. Row 0 pushes none. */
  readonly pushes: Uint32Array<ArrayBuffer>; // (nPushes, PUSH_WORDS)
}

/** An edge that refuses the byte. */
export const NO_EDGE = 0xffffffff;
/** A flag in `needs`. */
export const ACCEPTS = 0x80;
/** Words in a row of `pushes`. */
export const PUSH_WORDS = 8;
