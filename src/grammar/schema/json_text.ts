// How JSON is written: strings, numbers, lists and objects, and what stands between their parts. Every text is valid by
// RFC 8259, without half a surrogate pair and without a number that JavaScript cannot hold.

import {
  byteIn,
  choice,
  EMPTY,
  type ListPart,
  literal,
  NEVER,
  type Node,
  optional,
  repeat,
  sequence,
} from '../grammar';
import type { RuleBook } from '../rule_book';
import { ALL, type CodePoints, utf8, within } from '../syntax/code_points';

/**
 * The white space between the parts. `line` writes all in one line, with one space after a colon and a comma. `free`
 * lets the model break lines and indent, with at most two line breaks and 32 spaces at a time.
 */
export type Layout = 'free' | 'line';

/** Most digits of a whole number, so that a double holds it. */
export const MAX_DIGITS = 15;
const MOST_INDENTED = 32;

const DIGIT = byteIn([0x30, 0x39]);
const FROM_1_TO_9 = byteIn([0x31, 0x39]);
const HEX = byteIn([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]);
/** All of ASCII that stands for itself in a string: no control character, no quote, no backslash. */
const PLAIN = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7f],
] as const;
const LAST_CODE_POINT = 0x10ffff;

const FRACTION = sequence(literal('.'), repeat(DIGIT, 1, 16));
const EXPONENT = sequence(
  byteIn([0x45, 0x45], [0x65, 0x65]),
  optional(byteIn([0x2b, 0x2b], [0x2d, 0x2d])),
  repeat(DIGIT, 1, 2),
);
const NUMBER = sequence(
  optional(literal('-')),
  choice(literal('0'), sequence(FROM_1_TO_9, repeat(DIGIT, 0, MAX_DIGITS - 1))),
  optional(FRACTION),
  optional(EXPONENT),
);

/** `\` and what may follow. A surrogate comes with its other half. */
const ESCAPE = sequence(
  literal('\\'),
  choice(
    byteIn(...[...'"/\\bfnrt'].map((letter) => [letter.charCodeAt(0), letter.charCodeAt(0)] as const)),
    sequence(literal('u'), byteIn([0x30, 0x39], [0x41, 0x43], [0x45, 0x46], [0x61, 0x63], [0x65, 0x66]), HEX, HEX, HEX),
    sequence(
      literal('u'),
      byteIn([0x44, 0x44], [0x64, 0x64]),
      choice(
        sequence(byteIn([0x30, 0x37]), HEX, HEX),
        sequence(
          byteIn([0x38, 0x39], [0x41, 0x42], [0x61, 0x62]),
          ...[HEX, HEX, literal('\\u'), byteIn([0x44, 0x44], [0x64, 0x64])],
          ...[byteIn([0x43, 0x46], [0x63, 0x66]), HEX, HEX],
        ),
      ),
    ),
  ),
);

export const QUOTE = literal('"');
/** The name of the rule of any value. */
export const ANY = 'any value';

export class JsonText {
  private readonly gap: Node;
  private readonly comma: Node;
  private readonly colon: Node;

  constructor(
    private readonly book: RuleBook,
    layout: Layout,
  ) {
    this.gap = layout === 'free' ? optional(book.once('white space', whiteSpace)) : EMPTY;
    this.comma = layout === 'free' ? sequence(literal(','), this.gap) : literal(', ');
    this.colon = layout === 'free' ? sequence(literal(':'), this.gap) : literal(': ');
  }

  readonly boolean = choice(literal('true'), literal('false'));
  readonly null = literal('null');

  get number(): Node {
    return this.book.once('number', () => NUMBER);
  }

  /** @param max null: without an end */
  string(min = 0, max: number | null = null): Node {
    const write = () => sequence(QUOTE, repeat(this.character, min, max), QUOTE);
    return max === null ? write() : this.book.once(`string of ${min} to ${max}`, write);
  }

  /** Any character, in any spelling. */
  private get character(): Node {
    return this.book.once('character', () =>
      choice(
        byteIn(...PLAIN),
        this.beyondAscii(within(ALL, 0x80, LAST_CODE_POINT)),
        this.book.once('escape', () => ESCAPE),
      ),
    );
  }

  /** One of these characters in the spelling of JSON.stringify. */
  characterOf = (set: CodePoints): Node => {
    const plain = PLAIN.flatMap(([first, last]) => within(set, first, last));
    const escaped = [0x22, 0x5c, ...Array.from({ length: 0x20 }, (_, code) => code)]
      .filter((code) => within(set, code, code).length > 0)
      .map((code) => literal(JSON.stringify(String.fromCodePoint(code)).slice(1, -1)));
    const others = within(set, 0x80, LAST_CODE_POINT);
    return choice(
      ...(plain.length > 0 ? [byteIn(...plain)] : []),
      ...(others.length > 0 ? [this.beyondAscii(others)] : []),
      ...escaped,
    );
  };

  private beyondAscii(set: CodePoints): Node {
    return this.book.once(`characters ${set.map((range) => range.join('-')).join()}`, () => utf8(set));
  }

  /** `min` to `max` items, the first ones by their own rules, any further one by `rest`, which null forbids. */
  array(prefix: readonly Node[], rest: Node | null, min: number, max: number | null): Node {
    const separated = (node: Node) => sequence(this.comma, node);
    const single = max === null ? [...prefix] : prefix.slice(0, max);
    if (single.length === 0 && rest !== null && max !== 0) single.push(rest);
    const parts = single.map((node, i) => (i === 0 ? node : separated(node)));
    if (rest !== null && (max === null || max > parts.length)) {
      const most = max === null ? null : max - parts.length;
      parts.push(repeat(separated(rest), Math.max(0, min - parts.length), most));
    } else if (min > parts.length) return NEVER;
    const items: Node = { kind: 'beginning', parts, min: Math.min(Math.max(min, 1), parts.length) };
    const filled = parts.length > 0 ? [sequence(this.gap, items, this.gap)] : [];
    return sequence(literal('['), choice(...(min === 0 ? [this.gap] : []), ...filled), literal(']'));
  }

  /** @param parts written by `pair` */
  object(parts: readonly ListPart[]): Node {
    const list: Node = { kind: 'list', separator: this.comma, parts };
    const filled = sequence(this.gap, list, this.gap);
    const mayBeEmpty = parts.every((part) => part.isOptional);
    return sequence(literal('{'), choice(...(mayBeEmpty ? [this.gap] : []), filled), literal('}'));
  }

  /** A key and its value. */
  pair(key: Node, value: Node): Node {
    return sequence(key, this.colon, value);
  }

  /** One pair or more, all of a kind. */
  pairs(pair: Node): Node {
    return sequence(pair, repeat(sequence(this.comma, pair), 0, null));
  }

  /** A value in the spelling of JSON.stringify, with this layout. */
  value(value: unknown): Node {
    if (Array.isArray(value)) {
      const items = value.map((item) => this.value(item));
      return this.array(items, null, items.length, items.length);
    }
    if (typeof value !== 'object' || value === null) return literal(JSON.stringify(value) ?? 'null');
    return this.object(
      Object.entries(value).map(([key, inner]) => ({
        node: this.pair(literal(JSON.stringify(key)), this.value(inner)),
        isOptional: false,
      })),
    );
  }

  /** Any value at all. */
  get any(): Node {
    return this.book.once(ANY, () =>
      choice(this.string(), this.number, this.boolean, this.null, this.anyArray, this.anyObject),
    );
  }

  get anyArray(): Node {
    return this.book.once('any array', () => this.array([], this.any, 0, null));
  }

  get anyObject(): Node {
    return this.book.once('any object', () => {
      const pairs = this.pairs(this.pair(this.string(), this.any));
      return this.object([{ node: pairs, isOptional: true }]);
    });
  }
}

/** A space, or line breaks and an indentation. */
function whiteSpace(): Node {
  const lineBreak = literal('\n');
  return choice(
    literal(' '),
    sequence(lineBreak, optional(lineBreak), repeat(byteIn([0x09, 0x09], [0x20, 0x20]), 0, MOST_INDENTED)),
  );
}
