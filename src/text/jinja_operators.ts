// What the operators of chat templates do with values, as in Python; text + number is one text, as templates in use expect.

import { contains } from './jinja_filters';
import { asNumber, compare, Float, fail, isEqual, kindOf, textOf, type Value } from './jinja_values';
import type { Rendering } from './template_fuel';

export type Comparison = (left: Value, right: Value) => boolean;

export const COMPARISONS: ReadonlyMap<string, Comparison> = new Map(
  Object.entries<Comparison>({
    '==': isEqual,
    '!=': (left, right) => !isEqual(left, right),
    '<': (left, right) => compare(left, right) < 0,
    '<=': (left, right) => compare(left, right) <= 0,
    '>': (left, right) => compare(left, right) > 0,
    '>=': (left, right) => compare(left, right) >= 0,
    in: (left, right) => contains(right, left),
    'not in': (left, right) => !contains(right, left),
  }),
);

export function arithmetic(run: Rendering, operator: string, left: Value, right: Value): Value {
  if (operator === '~') return textOf(left) + textOf(right);
  const a = asNumber(left);
  const b = asNumber(right);
  if (a !== null && b !== null) {
    const result = calculate(operator, a, b);
    if (!Number.isFinite(result)) fail(`${a} ${operator} ${b} is no finite number.`);
    const whole = operator !== '/' && !(left instanceof Float || right instanceof Float) && Number.isInteger(result);
    return whole ? result : new Float(result);
  }
  if (operator === '+') {
    if (Array.isArray(left) && Array.isArray(right)) return left.concat(right);
    const texts = [left, right].every((side) => typeof side === 'string' || asNumber(side) !== null);
    if (texts) return textOf(left) + textOf(right);
  }
  if (operator === '*' && typeof left === 'string' && b !== null) {
    run.checkSize(left.length * b);
    return left.repeat(Math.max(0, b));
  }
  return fail(`${kindOf(left)} ${operator} ${kindOf(right)} means nothing.`);
}

function calculate(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      return Math.floor(a / b);
    case '%':
      return a - b * Math.floor(a / b); // the sign of b
    default:
      return a ** b;
  }
}

/** value[from:to:step]: places count from either end, what lies outside is not there. */
export function slice(value: Value, from: Value, to: Value, step: Value): Value {
  const items = typeof value === 'string' ? Array.from(value) : value;
  const by = asNumber(step ?? 1);
  if (!Array.isArray(items) || !by) return fail(`a slice of a ${kindOf(value)} by ${textOf(step)} cannot be taken.`);
  const edge = (given: Value, otherwise: number) => {
    const place = asNumber(given ?? null);
    if (place === null) return otherwise;
    const low = by > 0 ? 0 : -1;
    return Math.min(Math.max(place < 0 ? place + items.length : place, low), items.length + low);
  };
  const [start, end] = [edge(from, by > 0 ? 0 : items.length - 1), edge(to, by > 0 ? items.length : -1)];
  const taken: Value[] = [];
  for (let i = start; by > 0 ? i < end : i > end; i += by) taken.push(items[i]);
  return typeof value === 'string' ? taken.join('') : taken;
}
