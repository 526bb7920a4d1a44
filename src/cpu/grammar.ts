// The textbook walk of a document through a grammar's automaton, byte by byte.
// shaders/constraint/ is compared with this.

import { ACCEPTS, type Automaton, NO_EDGE, PUSH_WORDS } from '../grammar/automaton';
import { MAX_STACK } from '../grammar/limits';

/** A place in a document. */
export interface Place {
  readonly state: number;
  /** The states to return to, the bottom one first. */
  readonly stack: readonly number[];
  /** The first space of the next token is not part of the document: a vocabulary puts it before a text. */
  readonly dropsSpace?: boolean;
}

/** The place of an empty document. */
export const START: Place = { state: 0, stack: [] };

/** The place after one more byte. Null: the byte is refused. */
export function stepByte(automaton: Automaton, { state, stack }: Place, byte: number): Place | null {
  const edge = automaton.edges[state * automaton.nClasses + automaton.classOf[byte]];
  if (edge !== NO_EDGE) {
    const next = edge & 0xffff;
    const row = PUSH_WORDS * (edge >>> 16);
    const pushed = automaton.pushes.slice(row + 1, row + 1 + automaton.pushes[row]);
    const place = { state: next, stack: [...stack, ...pushed] };
    return canEnd(automaton, place) ? place : null;
  }
  const back = stack[stack.length - 1];
  if ((automaton.needs[state] & ACCEPTS) === 0 || back === undefined) return null;
  return stepByte(automaton, { state: back, stack: stack.slice(0, -1) }, byte);
}

/** Whether the stack has the places that the rules under way need to end. A byte after which it has not is refused. */
function canEnd(automaton: Automaton, { state, stack }: Place): boolean {
  const need = (one: number) => automaton.needs[one] & ~ACCEPTS;
  return [...stack, state].every((one, depth) => depth + need(one) <= MAX_STACK);
}

/** The place after some more bytes. Null: one of them is refused. */
export function walk(automaton: Automaton, place: Place, bytes: Iterable<number>): Place | null {
  let now: Place | null = place;
  for (const byte of bytes) now &&= stepByte(automaton, now, byte);
  return now;
}

/** Whether the document may end here: every rule under way may. */
export function mayEnd(automaton: Automaton, { state, stack }: Place): boolean {
  return [...stack, state].every((one) => (automaton.needs[one] & ACCEPTS) !== 0);
}

/** The place after a token. Null: it has no bytes, or one of them is refused. */
export function walkToken(automaton: Automaton, place: Place, bytes: Uint8Array): Place | null {
  if (bytes.length === 0) return null;
  const { state, stack, dropsSpace = false } = place;
  return walk(automaton, { state, stack }, dropsSpace && bytes[0] === 0x20 ? bytes.subarray(1) : bytes);
}

/** The bytes that may come next. */
export function allowedBytes(automaton: Automaton, place: Place): number[] {
  return Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => stepByte(automaton, place, byte) !== null);
}

/**
 * Which tokens may come next: 1, or 0.
 * @param tokens the bytes of each id; none for a control token, which is never allowed
 * @param ends ids that end an answer, allowed exactly where the document may end
 */
export function maskTokens(
  automaton: Automaton,
  place: Place,
  tokens: readonly Uint8Array[],
  ends: readonly number[],
): Uint8Array<ArrayBuffer> {
  const mask = Uint8Array.from(tokens, (bytes) => (walkToken(automaton, place, bytes) ? 1 : 0));
  for (const id of ends) mask[id] = mayEnd(automaton, place) ? 1 : 0;
  return mask;
}
