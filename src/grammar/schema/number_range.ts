// Numbers between two bounds, without an exponent, digit by digit. With at most 15 digits, two numbers that differ are
// two doubles that differ, so that whoever reads them sees the bounds kept.

import { byteIn, choice, EMPTY, literal, type Node, optional, repeat, sequence } from '../grammar';
import { MAX_DIGITS } from './json_text';

export interface Bound {
  readonly value: number;
  readonly isExclusive: boolean;
}

/** From min to max, where null is no bound. */
export function numberBetween(min: Bound | null, max: Bound | null): Node {
  const parts: Node[] = [];
  for (let whole = 1; whole <= MAX_DIGITS; whole++) {
    const places = MAX_DIGITS - whole;
    const least = min && scaled(min, places, 'up');
    const most = max && scaled(max, places, 'down');
    parts.push(...magnitudes(whole, least ?? -LARGEST, most ?? LARGEST));
    const below = magnitudes(whole, most === null ? 1n : larger(-most, 1n), least === null ? LARGEST : -least);
    parts.push(...below.map((node) => sequence(literal('-'), node)));
  }
  return choice(...parts);
}

/** The largest number of MAX_DIGITS digits. */
const LARGEST = 10n ** BigInt(MAX_DIGITS) - 1n;
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The first whole number within a bound, counted in units of the last decimal place. */
function scaled({ value, isExclusive }: Bound, places: number, direction: 'up' | 'down'): bigint {
  const [digits, exponent = '0'] = value.toString().split('e');
  const [whole, fraction = ''] = digits.split('.');
  const shift = Number(exponent) + places - fraction.length;
  const number = BigInt(whole + fraction);
  const unit = 10n ** BigInt(Math.abs(shift));
  const floor = shift >= 0 ? number * unit : (number - (((number % unit) + unit) % unit)) / unit;
  const isExact = shift >= 0 || floor * unit === number;
  if (direction === 'up') return isExact && !isExclusive ? floor : floor + 1n;
  return isExact && isExclusive ? floor - 1n : floor;
}

/** Numbers from 0 with so many digits before the point. The bounds count units of the last place. */
function magnitudes(whole: number, min: bigint, max: bigint): Node[] {
  const smallest = whole === 1 ? 0n : 10n ** BigInt(MAX_DIGITS - 1);
  const [from, to] = [larger(min, smallest), smaller(max, LARGEST)];
  if (from > to) return [];
  const digits = (bound: bigint) => bound.toString().padStart(MAX_DIGITS, '0');
  return [digitsBetween(whole, digits(from), digits(to))];
}

/**
 * The digits behind the first ones, which were those of a bound where its rest is given.
 * @param whole digits before the point, of all MAX_DIGITS
 * @param low what the digits have to reach, empty where they are beyond it
 * @param high what they must not pass, empty where they are below it
 */
function digitsBetween(whole: number, low: string, high: string): Node {
  const at = MAX_DIGITS - Math.max(low.length, high.length);
  const free = (digit: number): Node => sequence(inDigits(digit, digit), freeDigits(whole, at + 1));
  const [first, last] = [low === '' ? 0 : Number(low[0]), high === '' ? 9 : Number(high[0])];
  const [lowRest, highRest] = [beyond(low, '0'), beyond(high, '9')];
  const next = (digit: number): Node => {
    const rests = [digit === first ? lowRest : '', digit === last ? highRest : ''] as const;
    return rests.join('') === '' ? free(digit) : sequence(inDigits(digit, digit), digitsBetween(whole, ...rests));
  };
  const edges = first === last ? [next(first)] : [next(first), next(last)];
  const inner = first + 1 < last ? [sequence(inDigits(first + 1, last - 1), freeDigits(whole, at + 1))] : [];
  const digits = choice(...edges, ...inner);
  const pointed = at === whole ? sequence(literal('.'), digits) : digits;
  return at >= whole && /^0*$/.test(low) ? optional(pointed) : pointed;
}

/** The rest of a bound behind its first digit. Empty where every digit keeps it. */
function beyond(bound: string, free: '0' | '9'): string {
  const rest = bound.slice(1);
  return rest === free.repeat(rest.length) ? '' : rest;
}

/** Any digits from the one at `at`. The places behind the point may be left out. */
function freeDigits(whole: number, at: number): Node {
  if (at > whole) return repeat(inDigits(0, 9), 0, MAX_DIGITS - at);
  const places = MAX_DIGITS - whole;
  const fraction = places === 0 ? EMPTY : optional(sequence(literal('.'), repeat(inDigits(0, 9), 1, places)));
  return sequence(repeat(inDigits(0, 9), whole - at, whole - at), fraction);
}

const inDigits = (first: number, last: number): Node => byteIn([0x30 + first, 0x30 + last]);
