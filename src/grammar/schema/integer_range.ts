// Whole numbers between two bounds, digit by digit.

import { byteIn, choice, literal, type Node, repeat, sequence } from '../grammar';
import { MAX_DIGITS } from './json_text';

export const MAX_INTEGER = 10 ** MAX_DIGITS - 1;

/** From min to max, both included and within MAX_INTEGER. */
export function integerBetween(min: number, max: number): Node {
  const least = Math.max(min, -MAX_INTEGER);
  const most = Math.min(max, MAX_INTEGER);
  const parts: Node[] = [];
  if (least < 0 && least <= most) parts.push(sequence(literal('-'), positiveBetween(Math.max(1, -most), -least)));
  if (least <= 0 && most >= 0) parts.push(literal('0'));
  if (most > 0 && least <= most) parts.push(positiveBetween(Math.max(1, least), most));
  return choice(...parts);
}

/** Bounds of the same number of digits are compared digit by digit. */
function positiveBetween(min: number, max: number): Node {
  const parts: Node[] = [];
  for (let from = min; from <= max; ) {
    const digits = String(from).length;
    const to = Math.min(max, 10 ** digits - 1);
    parts.push(sameLength(String(from), String(to)));
    from = to + 1;
  }
  return choice(...parts);
}

function sameLength(from: string, to: string): Node {
  if (from.length === 0) return literal('');
  const [first, last] = [Number(from[0]), Number(to[0])];
  const [low, high] = [from.slice(1), to.slice(1)];
  if (first === last) return sequence(digit(first, last), sameLength(low, high));
  const nines = '9'.repeat(low.length);
  const zeros = '0'.repeat(low.length);
  // The first digit of each bound decides alone where the digits behind it are free.
  const isLowFree = low === zeros;
  const isHighFree = high === nines;
  const between = [isLowFree ? first : first + 1, isHighFree ? last : last - 1] as const;
  return choice(
    ...(isLowFree ? [] : [sequence(digit(first, first), sameLength(low, nines))]),
    ...(between[0] <= between[1] ? [sequence(digit(...between), repeat(digit(0, 9), low.length, low.length))] : []),
    ...(isHighFree ? [] : [sequence(digit(last, last), sameLength(zeros, high))]),
  );
}

const digit = (first: number, last: number): Node => byteIn([0x30 + first, 0x30 + last]);
