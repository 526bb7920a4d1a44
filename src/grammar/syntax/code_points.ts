// Sets of code points, and the bytes of UTF-8 that write one of them. Surrogates are in no set: UTF-8 has none.

import { type ByteRange, byteIn, choice, type Node, sequence } from '../grammar';

export type CodeRange = readonly [first: number, last: number];
/** Sorted ranges that do not touch. */
export type CodePoints = readonly CodeRange[];

const LAST = 0x10ffff;
const SURROGATES: CodeRange = [0xd800, 0xdfff];

/** A set of ranges in any order, which may overlap. */
export function codePoints(ranges: readonly CodeRange[]): CodePoints {
  const set: [number, number][] = [];
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const before = set[set.length - 1];
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else set.push([first, last]);
  }
  return set.flatMap((range) => without(range, SURROGATES));
}

function without([first, last]: CodeRange, [from, to]: CodeRange): CodeRange[] {
  const rest: CodeRange[] = [
    [first, Math.min(last, from - 1)],
    [Math.max(first, to + 1), last],
  ];
  return first > to || last < from ? [[first, last]] : rest.filter(([a, b]) => a <= b);
}

/** All code points that are not in the set. */
export function allBut(set: CodePoints): CodePoints {
  const starts = [0, ...set.map(([, last]) => last + 1)];
  const ends = [...set.map(([first]) => first - 1), LAST];
  return codePoints(starts.map((start, i): CodeRange => [start, ends[i]]).filter(([a, b]) => a <= b));
}

export const ALL: CodePoints = codePoints([[0, LAST]]);

/** The part of a set between two code points, both included. */
export function within(set: CodePoints, first: number, last: number): CodePoints {
  return set.map(([a, b]): CodeRange => [Math.max(a, first), Math.min(b, last)]).filter(([a, b]) => a <= b);
}

/** Any of them in UTF-8. */
export function utf8(set: CodePoints): Node {
  const ascii = within(set, 0, 0x7f);
  const others = within(set, 0x80, LAST).flatMap(([first, last]) => [...byteSequences(first, last)]);
  const sequences = others.map((bytes) => sequence(...bytes.map((range) => byteIn(range))));
  return choice(...(ascii.length > 0 ? [byteIn(...ascii)] : []), ...sequences);
}

/** Splits a range until each byte has a range of its own. */
function* byteSequences(first: number, last: number): Generator<ByteRange[]> {
  for (const end of [0x7f, 0x7ff, 0xffff]) {
    if (first <= end && end < last) {
      yield* byteSequences(first, end);
      yield* byteSequences(end + 1, last);
      return;
    }
  }
  const length = lengthOf(first);
  for (let i = 1; i < length; i++) {
    const low = (1 << (6 * i)) - 1; // the bits of the last i bytes
    if ((first & ~low) === (last & ~low)) continue;
    const cut = (first & low) !== 0 ? first | low : (last & low) !== low ? (last & ~low) - 1 : null;
    if (cut === null) continue;
    yield* byteSequences(first, cut);
    yield* byteSequences(cut + 1, last);
    return;
  }
  const [from, to] = [bytesOf(first), bytesOf(last)];
  yield from.map((byte, i): ByteRange => [byte, to[i]]);
}

const lengthOf = (code: number): number => (code <= 0x7f ? 1 : code <= 0x7ff ? 2 : code <= 0xffff ? 3 : 4);

/** The bits of a first byte that tell the length, by length. */
const MARKS = [0, 0, 0xc0, 0xe0, 0xf0];

function bytesOf(code: number): number[] {
  const length = lengthOf(code);
  return Array.from({ length }, (_, i) => {
    const bits = code >> (6 * (length - 1 - i));
    return i === 0 ? MARKS[length] | bits : 0x80 | (bits & 0x3f);
  });
}
