// A grammar as a tree: what a constraint is written as before it becomes an automaton. All texts are bytes of UTF-8.

/** Bytes from the first to the last, both included. */
export type ByteRange = readonly [first: number, last: number];

export type Node =
  /** One byte out of sorted, disjoint ranges. None: nothing can be written here. */
  | { readonly kind: 'byte'; readonly ranges: readonly ByteRange[] }
  /** These bytes. None: the empty text. */
  | { readonly kind: 'literal'; readonly bytes: Uint8Array }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly parts: readonly Node[] }
  /** A sequence that may stop after any `min` parts. */
  | { readonly kind: 'beginning'; readonly parts: readonly Node[]; readonly min: number }
  /** @param max null: without an end */
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number | null }
  /** One part or more in their order, with the separator between two of them. No part is empty. */
  | { readonly kind: 'list'; readonly separator: Node; readonly parts: readonly ListPart[] }
  /** Another rule, by its number. */
  | { readonly kind: 'call'; readonly rule: number }
  /** An automaton, from its state 0 on, which reads bytes (answer/scan.ts). */
  | { readonly kind: 'scan'; readonly states: readonly ScanState[] };

/** The ways on from a state. Those of the first one are told apart by what they write. */
export type ScanState = readonly ScanWay[];

/** Something written, and the state behind it. Null: the end. */
export interface ScanWay {
  readonly node: Node;
  readonly next: number | null;
}

export interface ListPart {
  readonly node: Node;
  readonly isOptional: boolean;
}

export interface Rule {
  /** For messages. */
  readonly name: string;
  readonly node: Node;
}

/** The document is what rule 0 writes. */
export type Grammar = readonly Rule[];

const encoder = new TextEncoder();

export const literal = (text: string): Node => ({ kind: 'literal', bytes: encoder.encode(text) });
export const byteIn = (...ranges: readonly ByteRange[]): Node => ({ kind: 'byte', ranges });
export const sequence = (...parts: readonly Node[]): Node => ({ kind: 'sequence', parts });
export const choice = (...parts: readonly Node[]): Node => (parts.length === 1 ? parts[0] : { kind: 'choice', parts });
export const repeat = (part: Node, min: number, max: number | null): Node => ({ kind: 'repeat', part, min, max });
export const optional = (part: Node): Node => repeat(part, 0, 1);
export const call = (rule: number): Node => ({ kind: 'call', rule });

/** The empty text. */
export const EMPTY: Node = sequence();
/** Matches no text, not even the empty one. */
export const NEVER: Node = choice();
