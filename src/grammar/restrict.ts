// An automaton for a vocabulary that cannot write every byte. The grammar allows a document byte by byte, and after
// each byte it can still end; that holds for tokens, too, where each byte is a token of its own.

import { ACCEPTS, type Automaton, NO_EDGE, PUSH_WORDS } from './automaton';
import { Fuel, MAX_STACK } from './limits';

/** The places of a stack that no rule needs: there is no way to end it. */
const NEVER_ENDS = 1000;

/**
 * The automaton without the bytes that `writes` has no 1 for, and without the ways that would then have no end. Null if
 * no document is left.
 * @throws ConstraintError where that takes too much work
 */
export function restrictBytes(automaton: Automaton, writes: ArrayLike<number>): Automaton | null {
  const { nStates, nClasses, classOf, pushes } = automaton;
  const isUsed = (byte: number) => {
    for (let at = classOf[byte]; at < nStates * nClasses; at += nClasses) {
      if (automaton.edges[at] !== NO_EDGE) return true;
    }
    return false;
  };
  const missing = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !writes[byte] && isUsed(byte));
  if (missing.length === 0) return automaton;

  // One more class, which no state has an edge for.
  const width = nClasses + 1;
  const classes = classOf.slice();
  for (const byte of missing) classes[byte] = nClasses;
  const kept = new Set(classes);
  const edges = new Uint32Array(nStates * width).fill(NO_EDGE);
  for (let state = 0; state < nStates; state++) {
    for (let each = 0; each < nClasses; each++) {
      if (kept.has(each)) edges[state * width + each] = automaton.edges[state * nClasses + each];
    }
  }
  const needs = leastNeeds(edges, automaton);
  if (needs[0] >= NEVER_ENDS) return null;
  for (const [at, edge] of edges.entries()) {
    if (edge !== NO_EDGE && needOf(edge, needs, pushes) > MAX_STACK) edges[at] = NO_EDGE;
  }
  const packed = automaton.needs.map((need, state) => (need & ACCEPTS) | Math.min(needs[state] ?? 0, MAX_STACK));
  return { ...automaton, nClasses: width, classOf: classes, edges, needs: packed };
}

/** The places of the stack that each state takes, at the least, to end its rule. */
function leastNeeds(edges: Uint32Array, { nStates, needs: packed, pushes }: Automaton): number[] {
  const width = edges.length / nStates;
  const needs: number[] = Array.from({ length: nStates }, (_, state) => (packed[state] & ACCEPTS ? 0 : NEVER_ENDS));
  const fuel = new Fuel();
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    fuel.spend(edges.length / 4);
    for (let at = edges.length - 1; at >= 0; at--) {
      if (edges[at] === NO_EDGE) continue;
      const state = Math.floor(at / width);
      const need = needOf(edges[at], needs, pushes);
      if (need >= needs[state]) continue;
      needs[state] = need;
      isSettled = false;
    }
  }
  return needs;
}

/** The places of the stack that an edge takes. A state that is pushed returns when the stack is down to it. */
function needOf(edge: number, needs: readonly number[], pushes: Uint32Array): number {
  const row = PUSH_WORDS * (edge >>> 16);
  let most = pushes[row] + needs[edge & 0xffff];
  for (let depth = 0; depth < pushes[row]; depth++) most = Math.max(most, depth + needs[pushes[row + 1 + depth]]);
  return most;
}
