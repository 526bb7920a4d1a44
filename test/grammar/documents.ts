// Documents for the tests of automata: whether one is taken, and random ones that are.

import { mayEnd, type Place, START, stepByte, walk } from '../../src/cpu/grammar';
import { ACCEPTS, type Automaton, NO_EDGE, PUSH_WORDS } from '../../src/grammar/automaton';
import { compileGrammar } from '../../src/grammar/compile/compile';
import { type SchemaOptions, schemaGrammar } from '../../src/grammar/schema/json_schema';

const bytesOf = (text: string) => new TextEncoder().encode(text);

export const compileSchema = (schema: unknown, options: SchemaOptions = {}) =>
  compileGrammar(schemaGrammar(schema, { layout: 'line', ...options }).grammar);

/** True for a whole document. */
export function takes(automaton: Automaton, text: string): boolean {
  const place = walk(automaton, START, bytesOf(text));
  return place !== null && mayEnd(automaton, place);
}

/** Bytes that each state needs, at the least, to end its rule. */
function distances(automaton: Automaton): number[] {
  const { nStates, nClasses, edges, pushes, needs } = automaton;
  const distance = Array.from({ length: nStates }, (_, state) =>
    needs[state] & ACCEPTS ? 0 : Number.POSITIVE_INFINITY,
  );
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    for (let at = edges.length - 1; at >= 0; at--) {
      const edge = edges[at];
      if (edge === NO_EDGE) continue;
      const row = PUSH_WORDS * (edge >>> 16);
      const pushed = [...pushes.slice(row + 1, row + 1 + pushes[row])];
      const through = pushed.reduce((sum, state) => sum + distance[state], 1 + distance[edge & 0xffff]);
      const state = Math.floor(at / nClasses);
      if (through >= distance[state]) continue;
      distance[state] = through;
      isSettled = false;
    }
  }
  return distance;
}

const decodeUtf8 = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

/**
 * Draws documents: any class of bytes for a while, then the shortest way to the end.
 * @param more.from where the document goes on. `endsSoon`: it ends where it may
 */
export function documentSource(
  automaton: Automaton,
  random: () => number,
  more: { from?: Place; endsSoon?: boolean; decode?: (bytes: Uint8Array) => string } = {},
): () => string {
  const { from = START, endsSoon = false, decode = decodeUtf8 } = more;
  const distance = distances(automaton);
  const left = ({ state, stack }: Place) => stack.reduce((sum, one) => sum + distance[one], distance[state]);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)];
  const bytesByClass = Array.from({ length: automaton.nClasses }, (_, id) =>
    Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => automaton.classOf[byte] === id),
  );
  return () => {
    const bytes: number[] = [];
    const wandering = Math.floor(random() * 80);
    for (let place = from; ; ) {
      const isWandering = bytes.length < wandering;
      const isWhole = mayEnd(automaton, place);
      if (isWhole && (endsSoon || !isWandering || random() < 0.2)) break;
      const ways = bytesByClass.flatMap((some) => {
        const next = stepByte(automaton, place, some[0]);
        return next ? [{ some, next }] : [];
      });
      if (ways.length === 0 && isWhole) break;
      if (ways.length === 0) throw new Error(`stuck behind ${new TextDecoder().decode(Uint8Array.from(bytes))}`);
      const way = isWandering
        ? pick(ways)
        : ways.reduce((best, one) => (left(one.next) < left(best.next) ? one : best));
      bytes.push(pick(way.some));
      place = way.next;
      if (bytes.length > 100_000) throw new Error('a document without an end');
    }
    return decode(Uint8Array.from(bytes));
  };
}
