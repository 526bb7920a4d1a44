// Numbers between two bounds, without an exponent, as an automaton that compares them digit by digit. With at most 15
// digits, two numbers that differ are two doubles that differ, so that whoever reads them sees the bounds kept.

import { byteIn, choice, EMPTY, literal, type Node, type ScanState, type ScanWay, sequence } from '../grammar';
import type { Fuel } from '../limits';
import { MAX_DIGITS } from './json_text';

export interface Bound {
  readonly value: number;
  readonly isExclusive: boolean;
}

/** A bound in decimal digits, before and behind the point. */
interface Digits {
  readonly whole: string;
  readonly fraction: string;
  readonly isExclusive: boolean;
}

/**
 * From min to max, where null is no bound.
 * @param step of which whole numbers are multiples; null: numbers with a fraction, too
 */
export function numberBetween(min: Bound | null, max: Bound | null, step: number | null, fuel: Fuel): Node {
  const zero = { value: 0, isExclusive: false };
  const parts: Node[] = [];
  const isPositive = min !== null && min.value >= 0;
  if (max === null || max.value >= 0) parts.push(digitsBetween(isPositive ? min : zero, max, step, fuel));
  if (!isPositive) {
    const below = max !== null && max.value < 0 ? negated(max) : { value: 0, isExclusive: true };
    parts.push(sequence(literal('-'), digitsBetween(below, min && negated(min), step, fuel)));
  }
  return choice(...parts);
}

const negated = ({ value, isExclusive }: Bound): Bound => ({ value: -value, isExclusive });

function digitsOf({ value, isExclusive }: Bound): Digits {
  const [digits, exponent = '0'] = value.toString().split('e');
  const [whole, fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  const all = '0'.repeat(Math.max(0, -shift)) + whole + fraction + '0'.repeat(Math.max(0, shift));
  const point = whole.length + Math.max(0, shift);
  return { whole: all.slice(0, point), fraction: all.slice(point), isExclusive };
}

/** More digits than a number has. */
const ENDLESS: Digits = { whole: '9'.repeat(MAX_DIGITS + 1), fraction: '', isExclusive: false };

/** What was read: digits before the point, a zero before it, the point, digits behind it. */
const WHOLE = 0;
const ZERO = 1;
const POINT = 2;
const FRACTION = 3;

/**
 * The digits read so far, what the last one was, how they compare with the digits of each bound, and what is left of
 * the step.
 */
type Place = readonly [nDigits: number, phase: number, toMin: number, toMax: number, rest: number];

const WORK_PER_STATE = 20;

/** Numbers from 0 between two bounds. */
function digitsBetween(min: Bound, max: Bound | null, step: number | null, fuel: Fuel): Node {
  const [low, high] = [digitsOf(min), max === null ? ENDLESS : digitsOf(max)];
  const places: Place[] = [[0, WHOLE, 0, 0, 0]];
  const ids = new Map<string, number>();
  const edge = (byte: number, ...place: Place): ScanWay => {
    const key = place.join();
    const next = ids.get(key) ?? places.push(place) - 1;
    ids.set(key, next);
    return { node: byteIn([byte, byte]), next };
  };
  const states: ScanState[] = [];
  for (let i = 0; i < places.length; i++) {
    fuel.spend(WORK_PER_STATE);
    const [n, phase, toMin, toMax, rest] = places[i];
    // A number with more digits before the point is larger.
    const settled = (to: number, { whole }: Digits) => (phase < POINT ? Math.sign(n - whole.length) || to : to);
    const [isMin, isMax] = [settled(toMin, low), settled(toMax, high)];
    const edges: ScanWay[] = [];
    const isFull = n === MAX_DIGITS;
    for (let digit = 0; digit < 10 && phase !== ZERO && !isFull; digit++) {
      const compared = (to: number, { whole, fraction }: Digits) =>
        to || Math.sign(digit - Number((whole + fraction)[n] ?? 0));
      const next = phase >= POINT ? FRACTION : n + digit === 0 ? ZERO : WHOLE;
      edges.push(
        edge(0x30 + digit, n + 1, next, compared(toMin, low), compared(toMax, high), (10 * rest + digit) % (step ?? 1)),
      );
    }
    if (step === null && phase < POINT && n > 0 && !isFull) edges.push(edge(0x2e, n, POINT, isMin, isMax, 0));
    const isBeyond = ({ whole, fraction }: Digits) => /[1-9]/.test((whole + fraction).slice(n));
    const keepsMin = isMin > 0 || (isMin === 0 && !low.isExclusive && !isBeyond(low));
    const keepsMax = isMax < 0 || (isMax === 0 && (isBeyond(high) || !high.isExclusive));
    if (n > 0 && phase !== POINT && rest === 0 && keepsMin && keepsMax) edges.push({ node: EMPTY, next: null });
    states.push(edges);
  }
  return { kind: 'scan', states };
}
