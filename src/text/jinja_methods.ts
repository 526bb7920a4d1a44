// What a value of a chat template answers to `value.name`: Python's methods of texts and mappings, as far as templates use them.

import { type Callable, fail, itemsOf, kindOf, Namespace, type Value } from './jinja_values';
import type { Rendering } from './template_fuel';

type Method<T> = (self: T, args: readonly Value[], run: Rendering) => Value;

const table = <T>(methods: Record<string, Method<T>>): ReadonlyMap<string, Method<T>> =>
  new Map(Object.entries(methods));

const SURROGATE = /[\ud800-\udfff]/;

/** `value.name`: Python looks for a method first, then for a key. Undefined where there is neither. */
export function attribute(value: Value, name: string): Value {
  const method =
    typeof value === 'string'
      ? bound(TEXT_METHODS, value, name)
      : value instanceof Map
        ? bound(MAPPING_METHODS, value, name)
        : undefined;
  return method ?? member(value, name);
}

/** `value[key]`: a key of a mapping, a place in a list or text counted from either end; then what `attribute` knows. */
export function subscript(value: Value, key: Value): Value {
  if (typeof key === 'number') {
    if (Array.isArray(value)) return value.at(key);
    if (typeof value === 'string') return SURROGATE.test(value) ? Array.from(value).at(key) : value.at(key);
  }
  return member(value, key) ?? (typeof key === 'string' ? attribute(value, key) : undefined);
}

function member(value: Value, key: Value): Value {
  if (value instanceof Namespace) return value.values.get(key);
  return value instanceof Map ? value.get(key) : undefined;
}

function bound<T>(methods: ReadonlyMap<string, Method<T>>, self: T, name: string): Callable | undefined {
  const method = methods.get(name);
  return (
    method &&
    ((args, named, run) => method(self, named.has('count') ? [...args.slice(0, 2), named.get('count')] : args, run))
  );
}

export function textArgument(value: Value): string {
  return typeof value === 'string' ? value : fail(`a text is needed where it gives a ${kindOf(value)}.`);
}

/** White space off both ends, or off one; or the characters named. */
export function strip(text: string, side: 'both' | 'left' | 'right', characters: Value = null): string {
  if (characters === null) return side === 'both' ? text.trim() : side === 'left' ? text.trimStart() : text.trimEnd();
  const off = new Set(textArgument(characters));
  const letters = Array.from(text);
  let from = 0;
  let to = letters.length;
  if (side !== 'right') while (from < to && off.has(letters[from])) from++;
  if (side !== 'left') while (to > from && off.has(letters[to - 1])) to--;
  return letters.slice(from, to).join('');
}

export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();
}

/** Every piece, or `count` of them, replaced; the size is known before the text is made. */
export function replace(run: Rendering, text: string, from: Value, to: Value, count: Value = null): string {
  const [old, fresh] = [textArgument(from), textArgument(to)];
  const pieces = old === '' ? ['', ...text, ''] : text.split(old);
  const most = typeof count === 'number' && count >= 0 ? count : pieces.length;
  if (pieces.length - 1 > most) pieces.push(pieces.splice(most).join(old));
  run.checkSize(text.length + (pieces.length - 1) * fresh.length);
  return pieces.join(fresh);
}

/** str.split: at runs of white space, or at a separator; `most` splits at most, the rest in one piece. */
function split(text: string, separator: Value = null, most: Value = -1): string[] {
  const limit = typeof most === 'number' && most >= 0 ? most : Number.POSITIVE_INFINITY;
  if (separator === null) {
    const words: string[] = [];
    let rest = text.trimStart();
    for (let end = 0; rest !== ''; rest = rest.slice(end).trimStart()) {
      end = words.length < limit ? rest.search(/\s|$/) : rest.length;
      words.push(rest.slice(0, end));
    }
    return words;
  }
  const mark = textArgument(separator);
  if (mark === '') fail('it splits a text at an empty separator.');
  const pieces = text.split(mark);
  if (pieces.length - 1 > limit) pieces.push(pieces.splice(limit).join(mark));
  return pieces;
}

const anyOf = (value: Value) => (Array.isArray(value) ? value : [value]).map(textArgument);

const TEXT_METHODS = table<string>({
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  title: (text) => text.replace(/\p{L}+/gu, capitalize),
  capitalize,
  strip: (text, [characters]) => strip(text, 'both', characters),
  lstrip: (text, [characters]) => strip(text, 'left', characters),
  rstrip: (text, [characters]) => strip(text, 'right', characters),
  startswith: (text, [start]) => anyOf(start).some((one) => text.startsWith(one)),
  endswith: (text, [end]) => anyOf(end).some((one) => text.endsWith(one)),
  split: (text, [separator, most]) => split(text, separator, most),
  replace: (text, [from, to, count], run) => replace(run, text, from, to, count),
});

const MAPPING_METHODS = table<Map<Value, Value>>({
  get: (mapping, [key, otherwise]) => mapping.get(key) ?? otherwise ?? null,
  items: (mapping) => [...mapping],
  keys: itemsOf,
  values: (mapping) => [...mapping.values()],
});
