// Free text with words that are looked for in it, as a deterministic automaton: in each mode a text is read until one
// of the mode's words comes, then something is written, and another mode goes on. Bytes that are no text are read, too.

import { ConstraintError } from '../../errors';
import { byteIn, EMPTY, type Node, type ScanState, type ScanWay } from '../grammar';
import type { Fuel } from '../limits';

export interface Word {
  /** At least one. */
  readonly bytes: Uint8Array;
  /** The text behind the word. */
  readonly node: Node;
  /** The mode behind that. Null: the scan ends. */
  readonly next: number | null;
}

export interface Mode {
  /** Words that count at the very beginning of the mode, behind white space. */
  readonly atStart: readonly Word[];
  /** Words that count anywhere. */
  readonly anywhere: readonly Word[];
  /** The text may end within the mode, but not in the middle of what stands behind a word. */
  readonly mayEnd: boolean;
  /** The last byte that may be read. */
  readonly lastByte: number;
}

const SPACES = [0x09, 0x0a, 0x0d, 0x20];
/** Most bytes of all words. */
const MAX_LETTERS = 16_384;

/** @throws ConstraintError where the words are too long */
export function scan(modes: readonly Mode[], fuel: Fuel): Node {
  const words = modes.flatMap(({ atStart, anywhere }) => [...atStart, ...anywhere]);
  if (words.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_LETTERS) {
    throw new ConstraintError('', `The words to look for have more than ${MAX_LETTERS} letters. Use fewer tools.`);
  }
  const states: ScanState[] = [];
  const tries = modes.map(({ atStart, anywhere }) => {
    const free = new Trie(anywhere);
    return { free, start: atStart.length > 0 ? new Trie(atStart) : null };
  });
  // States in order: of each mode its start, then its free text, then what stands behind its words.
  const base: number[] = [];
  let count = 0;
  for (const [i, { free, start }] of tries.entries()) {
    base.push(count);
    count += (start?.size ?? 0) + free.size + modes[i].atStart.length + modes[i].anywhere.length;
  }
  for (const [i, mode] of modes.entries()) {
    const { free, start } = tries[i];
    const freeAt = base[i] + (start?.size ?? 0);
    const behindAt = freeAt + free.size;
    const inFree = (node: number) => {
      const word = free.wordAt(node);
      return word === null ? freeAt + node : behindAt + mode.atStart.length + word;
    };
    // Where the text that led to a node of the start stands among the words that count anywhere.
    const inFreeOf = start?.along((node, byte) => free.step(node, byte)) ?? [];
    const inStart = (from: number, byte: number): number => {
      if (!start) return 0;
      const child = start.child(from, byte);
      if (child !== null) {
        const word = start.wordAt(child);
        return word === null ? base[i] + child : behindAt + word;
      }
      if (from === 0 && SPACES.includes(byte)) return base[i];
      return inFree(free.step(inFreeOf[from], byte));
    };
    const add = (to: (byte: number) => number) => {
      fuel.spend(mode.lastByte);
      const edges = edgesOf(to, mode.lastByte);
      states.push(mode.mayEnd ? [...edges, { node: EMPTY, next: null }] : edges);
    };
    for (let node = 0; node < (start?.size ?? 0); node++) add((byte) => inStart(node, byte));
    for (let node = 0; node < free.size; node++) add((byte) => inFree(free.step(node, byte)));
    for (const { node, next } of [...mode.atStart, ...mode.anywhere]) {
      states.push([{ node, next: next === null ? null : base[next] }]);
    }
  }
  return { kind: 'scan', states };
}

function edgesOf(to: (byte: number) => number, lastByte: number): ScanWay[] {
  const edges: { range: [number, number]; next: number }[] = [];
  for (let byte = 0; byte <= lastByte; byte++) {
    const next = to(byte);
    const last = edges.at(-1);
    if (last?.next === next) last.range[1] = byte;
    else edges.push({ range: [byte, byte], next });
  }
  return edges.map(({ range, next }) => ({ node: byteIn(range), next }));
}

/** Words as a tree of their bytes, with the way back to the longest end of a text that still begins a word. */
class Trie {
  private readonly children: Map<number, number>[] = [new Map()];
  private readonly parents: { node: number; byte: number }[] = [{ node: 0, byte: 0 }];
  private readonly words: (number | null)[] = [null];
  private readonly back: number[] = [0];

  constructor(words: readonly Word[]) {
    for (const [i, { bytes }] of words.entries()) {
      let node = 0;
      for (const byte of bytes) {
        const known = this.children[node].get(byte);
        const next = known ?? this.children.push(new Map()) - 1;
        if (known === undefined) {
          this.children[node].set(byte, next);
          this.parents.push({ node, byte });
          this.words.push(null);
        }
        node = next;
      }
      this.words[node] ??= i;
    }
    const open = [0];
    for (let node = open.shift(); node !== undefined; node = open.shift()) {
      for (const [byte, child] of this.children[node]) {
        this.back[child] = node === 0 ? 0 : this.step(this.back[node], byte);
        this.words[child] ??= this.words[this.back[child]];
        open.push(child);
      }
    }
  }

  get size(): number {
    return this.children.length;
  }

  child(node: number, byte: number): number | null {
    return this.children[node].get(byte) ?? null;
  }

  /** The longest beginning of a word that the text ends with, behind one more byte. A whole word begins anew. */
  step(node: number, byte: number): number {
    for (let at = node; ; at = this.back[at]) {
      const child = this.child(at, byte);
      if (child !== null) return child;
      if (at === 0) return 0;
    }
  }

  /** The word that ends here. */
  wordAt(node: number): number | null {
    return this.words[node];
  }

  /** The state after each node's text, from state 0, byte by byte. */
  along(step: (before: number, byte: number) => number): number[] {
    const values = [0];
    for (const [node, { node: parent, byte }] of this.parents.entries()) {
      if (node > 0) values[node] = step(values[parent], byte);
    }
    return values;
  }
}
