// The filters of chat templates, `value | name(...)`, and the tests, `value is name(...)`: Jinja's own, and tojson as transformers has it.

import { capitalize, replace, strip, subscript, textArgument } from './jinja_methods';
import {
  asNumber,
  compare,
  Float,
  fail,
  isEqual,
  isTrue,
  itemsOf,
  kindOf,
  type Named,
  Namespace,
  textOf,
  toJson,
  type Value,
} from './jinja_values';
import type { Rendering } from './template_fuel';

type Filter = (value: Value, given: Arguments, run: Rendering) => Value;
type Test = (value: Value, other: Value) => boolean;

/** Arguments by place or by name, as Python takes them. */
export class Arguments {
  constructor(
    readonly places: readonly Value[],
    readonly named: Named,
  ) {}

  take(place: number, name: string, otherwise: Value): Value {
    return this.places[place] ?? this.named.get(name) ?? otherwise;
  }
}

export function filterNamed(name: string): Filter {
  return FILTERS.get(name) ?? fail(`there is no filter "${name}".`);
}

export function testNamed(name: string): Test {
  return TESTS.get(name) ?? fail(`there is no test "${name}".`);
}

/** 'a.b.0' of an item, for the filters that take the name of an attribute. */
function path(item: Value, name: Value): Value {
  return textOf(name)
    .split('.')
    .reduce<Value>((inner, part) => subscript(inner, /^\d+$/.test(part) ? Number(part) : part), item);
}

/** Texts without regard to case, unless that is asked for. */
function sorted(items: readonly Value[], key: (item: Value) => Value, caseSensitive: Value, reverse: Value): Value[] {
  const keys = new Map(items.map((item) => [item, fold(key(item), caseSensitive)]));
  const sign = isTrue(reverse) ? -1 : 1;
  return [...items].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
}

function fold(value: Value, caseSensitive: Value): Value {
  return typeof value === 'string' && !isTrue(caseSensitive) ? value.toLowerCase() : value;
}

/** select, reject and their likes: a test by name with its argument, or truth. */
function select(value: Value, keep: boolean, name: Value, other: Value, of: (item: Value) => Value = (item) => item) {
  const test: Test = name === undefined ? isTrue : testNamed(textArgument(name));
  return itemsOf(value).filter((item) => test(of(item), other) === keep);
}

function selectAttribute(value: Value, { places: [name, test, other] }: Arguments, keep: boolean): Value {
  return select(value, keep, test, other, (item) => path(item, name));
}

function map(value: Value, given: Arguments, run: Rendering): Value {
  const name = given.named.get('attribute');
  if (name !== undefined) {
    return itemsOf(value).map((item) => path(item, name) ?? given.named.get('default'));
  }
  const filter = filterNamed(textArgument(given.places[0]));
  const rest = new Arguments(given.places.slice(1), given.named);
  return itemsOf(value).map((item) => run.pay(filter(item, rest, run)));
}

function join(value: Value, given: Arguments, run: Rendering): string {
  const separator = textOf(given.take(0, 'd', ''));
  const name = given.take(1, 'attribute', undefined);
  const texts = itemsOf(value).map((item) => textOf(name === undefined ? item : path(item, name)));
  run.checkSize(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
  return texts.join(separator);
}

function indent(value: Value, given: Arguments, run: Rendering): string {
  const width = given.take(0, 'width', 4);
  const [first, blank] = [isTrue(given.take(1, 'first', false)), isTrue(given.take(2, 'blank', false))];
  const lines = textOf(value).split('\n');
  run.checkSize((typeof width === 'number' ? width : textOf(width).length) * lines.length);
  const margin = typeof width === 'number' ? ' '.repeat(width) : textOf(width);
  return lines.map((line, i) => ((i > 0 || first) && (line !== '' || blank) ? margin + line : line)).join('\n');
}

function tojson(value: Value, given: Arguments, run: Rendering): string {
  const indent = asNumber(given.take(1, 'indent', null));
  const separators = given.take(2, 'separators', null);
  run.checkSize(100 * (indent ?? 0)); // values are at most that many levels deep
  const [comma, colon] = Array.isArray(separators) ? separators.map(textOf) : [indent === null ? ', ' : ',', ': '];
  return toJson(value, {
    indent,
    ascii: isTrue(given.take(0, 'ensure_ascii', false)),
    sortKeys: isTrue(given.take(3, 'sort_keys', false)),
    separators: [comma, colon],
  });
}

function dictsort(value: Value, given: Arguments): Value {
  if (!(value instanceof Map)) return fail(`it sorts a ${kindOf(value)} as a mapping.`);
  const place = given.take(1, 'by', 'key') === 'value' ? 1 : 0;
  const key = (entry: Value) => subscript(entry, place);
  return sorted([...value], key, given.take(0, 'case_sensitive', false), given.take(2, 'reverse', false));
}

function toInt(value: Value, given: Arguments): Value {
  const number = typeof value === 'string' ? Number.parseFloat(value) : (asNumber(value) ?? Number.NaN);
  return Number.isFinite(number) ? Math.trunc(number) : given.take(0, 'default', 0);
}

function toFloat(value: Value, given: Arguments): Value {
  const number = typeof value === 'string' ? Number.parseFloat(value) : (asNumber(value) ?? Number.NaN);
  return Number.isFinite(number) ? new Float(number) : given.take(0, 'default', new Float(0));
}

function lengthOf(value: Value): number {
  return value instanceof Map ? value.size : itemsOf(value).length;
}

function otherwise(value: Value, given: Arguments): Value {
  const replaced = value === undefined || (isTrue(given.take(1, 'boolean', false)) && !isTrue(value));
  return replaced ? given.take(0, 'default_value', '') : value;
}

function unique(items: readonly Value[], caseSensitive: Value): Value[] {
  const seen = new Set<Value>();
  return items.filter((item) => {
    const key = fold(item, caseSensitive);
    return !seen.has(key) && seen.add(key);
  });
}

const FILTERS: ReadonlyMap<string, Filter> = new Map(
  Object.entries<Filter>({
    safe: (value) => value,
    string: textOf,
    tojson,
    join,
    indent,
    map,
    dictsort,
    int: toInt,
    float: toFloat,
    length: lengthOf,
    count: lengthOf,
    list: (value) => [...itemsOf(value)],
    items: (value) => (value === undefined ? [] : value instanceof Map ? [...value] : fail('it needs a mapping.')),
    first: (value) => itemsOf(value)[0],
    last: (value) => itemsOf(value).at(-1),
    reverse: (value) =>
      typeof value === 'string' ? Array.from(value).reverse().join('') : itemsOf(value).toReversed(),
    sort: (value, given) =>
      sorted(
        itemsOf(value),
        (item) => {
          const name = given.take(2, 'attribute', undefined);
          return name === undefined ? item : path(item, name);
        },
        given.take(1, 'case_sensitive', false),
        given.take(0, 'reverse', false),
      ),
    unique: (value, given) => unique(itemsOf(value), given.take(0, 'case_sensitive', false)),
    select: (value, { places: [test, other] }) => select(value, true, test, other),
    reject: (value, { places: [test, other] }) => select(value, false, test, other),
    selectattr: (value, given) => selectAttribute(value, given, true),
    rejectattr: (value, given) => selectAttribute(value, given, false),
    default: otherwise,
    d: otherwise,
    upper: (value) => textOf(value).toUpperCase(),
    lower: (value) => textOf(value).toLowerCase(),
    capitalize: (value) => capitalize(textOf(value)),
    title: (value) => textOf(value).replace(/[^-\s({[<]+/g, capitalize),
    trim: (value, given) => strip(textOf(value), 'both', given.take(0, 'chars', null)),
    replace: (value, given, run) =>
      replace(run, textOf(value), given.take(0, 'old', ''), given.take(1, 'new', ''), given.take(2, 'count', null)),
    abs: (value) => {
      const number = Math.abs(asNumber(value) ?? fail('abs needs a number.'));
      return value instanceof Float ? new Float(number) : number;
    },
  }),
);

const isWhole = (value: Value) => typeof value === 'number';

const TESTS: ReadonlyMap<string, Test> = new Map(
  Object.entries<Test>({
    defined: (value) => value !== undefined,
    undefined: (value) => value === undefined,
    none: (value) => value === null,
    true: (value) => value === true,
    false: (value) => value === false,
    boolean: (value) => typeof value === 'boolean',
    string: (value) => typeof value === 'string',
    number: (value) => asNumber(value) !== null,
    integer: isWhole,
    float: (value) => value instanceof Float,
    mapping: (value) => value instanceof Map,
    iterable: (value) =>
      value === undefined ||
      typeof value === 'string' ||
      (typeof value === 'object' && (Array.isArray(value) || value instanceof Map)),
    sequence: (value) => typeof value === 'string' || Array.isArray(value) || value instanceof Map,
    callable: (value) => typeof value === 'function',
    odd: (value) => Math.abs((asNumber(value) ?? fail('odd needs a number.')) % 2) === 1,
    even: (value) => (asNumber(value) ?? fail('even needs a number.')) % 2 === 0,
    divisibleby: (value, other) => (asNumber(value) ?? 1) % (asNumber(other) ?? 0) === 0,
    lower: (value) => textOf(value) === textOf(value).toLowerCase() && textOf(value) !== textOf(value).toUpperCase(),
    upper: (value) => textOf(value) === textOf(value).toUpperCase() && textOf(value) !== textOf(value).toLowerCase(),
    eq: isEqual,
    equalto: isEqual,
    ne: (value, other) => !isEqual(value, other),
    in: (value, other) => contains(other, value),
  }),
);

/** `item in container`. Nothing is in undefined. */
export function contains(container: Value, item: Value): boolean {
  if (typeof container === 'string') return container.includes(textArgument(item));
  if (container instanceof Map) return container.has(item);
  if (container instanceof Namespace) return fail('a namespace cannot be searched.');
  return itemsOf(container).some((one) => isEqual(one, item));
}
