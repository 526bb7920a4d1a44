// The values of a chat template, and what Python says of them: truth, equality, order, text, JSON.
// Whole numbers are JavaScript's; numbers with a fraction are a class of their own, since 1.0 is not printed as 1.

import { ChatTemplateError } from '../errors';
import type { Rendering } from './template_fuel';

export type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | Float
  | Value[]
  | Map<Value, Value>
  | Namespace
  | Callable;

export type Named = ReadonlyMap<string, Value>;
export type Callable = (args: readonly Value[], named: Named, run: Rendering) => Value;

export class Float {
  constructor(readonly value: number) {}
}

/** The only value that a template may change. */
export class Namespace {
  constructor(readonly values: Map<Value, Value>) {}
}

export function fail(message: string): never {
  throw new ChatTemplateError(`The chat template cannot be used: ${message}`);
}

export function kindOf(value: Value): string {
  if (value === null) return 'none';
  if (value instanceof Float) return 'number';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Map) return 'mapping';
  return value instanceof Namespace ? 'namespace' : typeof value;
}

export function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return value instanceof Float ? value.value !== 0 : Boolean(value);
}

/** The number that a value stands for, or null: Python counts with true and false. */
export function asNumber(value: Value): number | null {
  if (value instanceof Float) return value.value;
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : null;
}

export function isEqual(a: Value, b: Value): boolean {
  const number = asNumber(a);
  if (number !== null) return number === asNumber(b);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (a instanceof Map) {
    return (
      b instanceof Map && a.size === b.size && [...a].every(([key, item]) => b.has(key) && isEqual(item, b.get(key)))
    );
  }
  return a === b;
}

/** Negative, zero or positive; texts and numbers have an order, among themselves. */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  const left = asNumber(a);
  const right = asNumber(b);
  if (left === null || right === null) return fail(`${kindOf(a)} and ${kindOf(b)} have no order.`);
  return left - right;
}

/** What a loop runs over: the items of a list, the keys of a mapping, the characters of a text, nothing of undefined. */
export function itemsOf(value: Value): Value[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys()];
  if (typeof value === 'string') return Array.from(value);
  return value === undefined ? [] : fail(`a ${kindOf(value)} cannot be run through.`);
}

function floatText({ value }: Float): string {
  const sign = Object.is(value, -0) ? '-' : '';
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? sign + value.toFixed(1) : String(value);
}

/** str(): what printing gives. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : quoted(value);
}

/** repr(): the same with quotes around texts, as inside a printed list. */
function quoted(value: Value): string {
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value.replace(/[\\\n\r\t]/g, (c) => JSON.stringify(c).slice(1, -1));
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (value === undefined) return 'Undefined';
  if (value instanceof Float) return floatText(value);
  if (Array.isArray(value)) return `[${value.map(quoted).join(', ')}]`;
  if (value instanceof Map) return `{${[...value].map(([key, item]) => `${quoted(key)}: ${quoted(item)}`).join(', ')}}`;
  if (value instanceof Namespace) return `<Namespace ${quoted(value.values)}>`;
  return typeof value === 'function' ? fail('it prints a function.') : String(value);
}

export interface JsonStyle {
  /** Spaces a level, or null for one line. */
  indent: number | null;
  ascii: boolean;
  sortKeys: boolean;
  /** Between items, and between a key and its value. */
  separators: readonly [string, string];
}

/** json.dumps. */
export function toJson(value: Value, style: JsonStyle, newline = '\n'): string {
  if (value instanceof Float) return floatText(value);
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    if (!style.ascii) return text;
    return text.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
  if (typeof value === 'function') return fail('a function cannot be written as JSON.');
  if (value instanceof Namespace) return toJson(value.values, style, newline);
  if (!Array.isArray(value) && !(value instanceof Map)) return JSON.stringify(value ?? null);
  const inner = style.indent === null ? newline : newline + ' '.repeat(style.indent);
  const [comma, colon] = style.separators;
  let parts: string[];
  if (Array.isArray(value)) parts = value.map((item) => toJson(item, style, inner));
  else {
    const entries = [...value];
    if (style.sortKeys) entries.sort(([a], [b]) => compare(a, b));
    parts = entries.map(([key, item]) => toJson(textOf(key), style) + colon + toJson(item, style, inner));
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (style.indent === null || parts.length === 0) return open + parts.join(comma) + close;
  return open + inner + parts.join(comma + inner) + newline + close;
}
