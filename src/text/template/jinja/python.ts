// Corrects differences between the library and Jinja in Python. Operands are evaluated and corrected here before the
// library sees them.

import { ChatTemplateError } from '../../../errors';
import { MARK, withoutMarks } from '../../spelled_json';
import { alike, type Node, type Scope, toValue, type Value } from './jinja_values';
import { LoopInterpreter } from './loops';
import { asText } from './python_text';

type Syntax = Record<string, unknown> & { type: string };
type Method = Value & { value: (args: Value[], scope: Scope) => Value };

/** Node type of an already evaluated operand. */
const DONE = 'Done';
const done = (value: Value) => ({ type: DONE, value }) as unknown as Node;

/** Filters of texts, which print any other value first. */
const OF_TEXT = new Set(['capitalize', 'indent', 'lower', 'replace', 'title', 'trim', 'upper']);
/** Filters that treat undefined as an empty list. */
const OF_LIST = new Set('count first join last length list max min reverse sort sum unique'.split(' '));
/** Filters that also treat None as an empty list. */
const OF_ANY = new Set(['map', 'reject', 'rejectattr', 'select', 'selectattr']);
const METHODS = new Set(['strip', 'lstrip', 'rstrip', 'find', 'format', 'replace', 'split', 'splitlines']);
/** Methods of mappings, which come before a key of that name. */
const OF_MAPPING = /^(get|items|keys|values)$/;
/** Filters that repeat a text of theirs for each part of a value. */
const REPEATING = new Set(['indent', 'join', 'tojson']);

/** Longest text that a template may produce. */
export const MAX_OUTPUT = 4_000_000;
/** Longest text that a step may make. What could be longer is refused before it takes hundreds of megabytes. */
const MAX_MADE = 8 * MAX_OUTPUT;
/** Most indents of a line of JSON, about. */
const MAX_INDENTS = 100;
/** The cost of a piece of a text that is split, in characters. */
const PIECE_COST = 300;

/** The size of a value as if it were printed: nested values included, shared ones counted each time. */
export interface Weight {
  items: number;
  characters: number;
  /** False for a value that may grow. */
  isFixed: boolean;
}

export abstract class PythonInterpreter extends LoopInterpreter {
  private hasIntegerKeys = false;
  protected abstract weigh(value: Value): Weight;

  override evaluate(node: Node, scope: Scope): Value {
    const syntax = node as unknown as Syntax | undefined;
    switch (syntax?.type) {
      case DONE:
        return syntax.value as Value;
      case 'ObjectLiteral':
        return this.mapping(syntax.value as Map<Node, Node>, node, scope);
      case 'MemberExpression':
        return this.member(syntax, node, scope);
      case 'BinaryExpression':
        return this.binary(syntax, node, scope);
      case 'FilterExpression':
        return this.filter(syntax, scope);
      case 'TestExpression':
        return this.test(syntax, node, scope);
      case 'FilterStatement': {
        const operand = { type: 'Program', body: syntax.body };
        return this.filter({ ...syntax, type: 'FilterExpression', operand }, scope);
      }
      default:
        return super.evaluate(node, scope);
    }
  }

  private delegate(syntax: Syntax, operands: Record<string, unknown>, scope: Scope): Value {
    // The library returns nothing for the first item of an empty list.
    return super.evaluate({ ...syntax, ...operands } as unknown as Node, scope) ?? toValue(undefined);
  }

  /** `{0: 'a'}`: the library only supports texts as keys. */
  private mapping(entries: Map<Node, Node>, node: Node, scope: Scope): Value {
    if (![...entries.keys()].some((key) => (key as unknown as Syntax).type === 'IntegerLiteral')) {
      return super.evaluate(node, scope);
    }
    this.hasIntegerKeys = true;
    const inside = new Map<unknown, Value>();
    for (const [key, value] of entries) inside.set(this.evaluate(key, scope).value, this.evaluate(value, scope));
    const keyed = alike(toValue({}), inside);
    const keys = () => toValue([...inside.keys()]);
    const pair = ([key, value]: [unknown, Value]) => alike(toValue([]), [toValue(key), value]);
    const list = (pairs: [unknown, Value][]) => alike(toValue([]), pairs.map(pair));
    const byKey = ([a]: [unknown, Value], [b]: [unknown, Value]) => {
      if (typeof a !== typeof b) throw new Error('dictsort of texts and numbers');
      return (a as number) < (b as number) ? -1 : 1;
    };
    const methods: [string, Method['value']][] = [
      ['get', ([key, otherwise]) => inside.get(key?.value) ?? otherwise ?? toValue(null)],
      ['items', () => list([...inside])],
      ['keys', keys],
      ['dictsort', () => list([...inside].sort(byKey))],
    ];
    for (const [name, run] of methods) setMethod(keyed, name, run);
    return Object.assign(keyed, { items: () => list([...inside]), keys });
  }

  private member(syntax: Syntax, node: Node, scope: Scope): Value {
    const property = syntax.property as Syntax;
    if (syntax.computed !== true) {
      const name = property.value as string;
      const isOfMapping = OF_MAPPING.test(name);
      if (!isOfMapping && !METHODS.has(name)) return super.evaluate(node, scope);
      const object = this.evaluate(syntax.object as Node, scope);
      if (isOfMapping && object.type === 'ObjectValue') return methodsOf(object).get(name)!;
      if (!isOfMapping && object.type === 'StringValue') this.giveMethod(object, name);
      return this.delegate(syntax, { object: done(object) }, scope);
    }
    if (property.type === 'StringLiteral' || property.type === 'SliceExpression') return super.evaluate(node, scope);
    const object = this.evaluate(syntax.object as Node, scope);
    const key = this.evaluate(property as unknown as Node, scope);
    if (key.type !== 'StringValue' && key.type !== 'IntegerValue') return toValue(undefined);
    if (key.type === 'IntegerValue') {
      const inside = object.value as unknown;
      if (inside instanceof Map) return (inside.get(key.value) as Value | undefined) ?? toValue(undefined);
      if (typeof inside === 'string') return toValue(characters(inside).at(key.value as number));
    }
    return this.delegate(syntax, { object: done(object), property: done(key) }, scope);
  }

  /** `nothing is iterable` */
  private test(syntax: Syntax, node: Node, scope: Scope): Value {
    if (!/^(iterable|sequence)$/.test((syntax.test as { value: string }).value)) return super.evaluate(node, scope);
    const operand = this.evaluate(syntax.operand as Node, scope);
    if (operand.type === 'UndefinedValue') return toValue(syntax.negate !== true);
    return this.delegate(syntax, { operand: done(operand) }, scope);
  }

  /** `left ~ right` */
  private concatenation({ left, right }: Syntax, scope: Scope): Value {
    return toValue([left, right].map((side) => asText(this.evaluate(side as Node, scope)).value).join(''));
  }

  /** `0 in mapping`, `['a'] in list`, `==` of all values, and `'a' * 3`. */
  private binary(syntax: Syntax, node: Node, scope: Scope): Value {
    const operator = (syntax.operator as { value: string }).value;
    if (operator === '~') return this.concatenation(syntax, scope);
    if (!/in$|^[!=]=$|^\*$/.test(operator)) return super.evaluate(node, scope);
    const left = this.evaluate(syntax.left as Node, scope);
    const right = this.evaluate(syntax.right as Node, scope);
    const text = operator === '*' ? (repeated(left, right) ?? repeated(right, left)) : null;
    if (text) return text;
    const inside = right.value as unknown;
    let isSo: boolean;
    if (operator.endsWith('=')) isSo = areEqual(left, right);
    else if (left.type === 'IntegerValue' && inside instanceof Map) isSo = inside.has(left.value);
    else if (Array.isArray(inside)) isSo = inside.some((item) => areEqual(left, item));
    else return this.delegate(syntax, { left: done(left), right: done(right) }, scope);
    return toValue(isSo === /^(in|==)$/.test(operator));
  }

  private filter(syntax: Syntax, scope: Scope): Value {
    const filter = syntax.filter as Syntax;
    const name = (filter.type === 'CallExpression' ? (filter.callee as Syntax).value : filter.value) as string;
    let operand = this.evaluate(syntax.operand as Node, scope);
    if (OF_TEXT.has(name)) operand = asText(operand);
    if (operand.type === 'UndefinedValue') {
      if (OF_LIST.has(name)) operand = toValue([]);
      else if (name === 'items') operand = toValue({});
    }
    if (OF_ANY.has(name) && (operand.type === 'UndefinedValue' || operand.type === 'NullValue')) return toValue([]);
    if (name === 'length' || name === 'count') {
      const inside = operand.value as unknown;
      if (typeof inside === 'string') return toValue(characters(inside).length);
      if (name === 'count' && Array.isArray(inside)) return toValue(inside.length);
    }
    if (name === 'items' && this.hasIntegerKeys && operand.type === 'ObjectValue') {
      return (operand as unknown as { items(): Value }).items();
    }
    if (name === 'string') return asText(operand);
    if (name === 'join' && Array.isArray(operand.value)) operand = alike(operand, operand.value.map(printed));
    if (name === 'sum') return this.sum(syntax, operand, filter, scope);
    if (name === 'map' && Array.isArray(operand.value)) {
      const [given, ...args] = (filter.args as Syntax[] | undefined) ?? [];
      if (given?.type === 'StringLiteral') return this.mapped(operand, given, args, scope);
    }
    if (name === 'min' || name === 'max') return this.extreme(syntax, operand, filter, scope, name === 'max');
    const plain = operand;
    if (name === 'tojson') operand = withMarks(operand);
    const isMarked = operand !== plain;
    if (name === 'tojson' && this.hasIntegerKeys) operand = withTextKeys(operand);
    if (name === 'replace' && operand.type === 'StringValue') this.giveMethod(operand, name);
    if (name === 'trim') return toValue(strip(operand.value as string, this.first(filter, scope), true, true));
    const isSized = REPEATING.has(name) && filter.type === 'CallExpression';
    const sized = isSized ? { filter: this.sized(name, operand, filter, scope) } : {};
    const result = this.delegate(syntax, { operand: done(operand), ...sized }, scope);
    return isMarked ? toValue(withoutMarks(result.value as string)) : result;
  }

  /** The first argument of a filter. */
  private first({ args }: Syntax, scope: Scope): Value | undefined {
    const [arg] = (args as Syntax[] | undefined) ?? [];
    return arg && this.evaluate((arg.type === 'KeywordArgumentExpression' ? arg.value : arg) as Node, scope);
  }

  /** `numbers|sum`, and `objects|sum(attribute='n')`, which is a sum behind `map`. */
  private sum(syntax: Syntax, operand: Value, filter: Syntax, scope: Scope): Value {
    const map = { ...filter, callee: { ...(filter.callee as Syntax), value: 'map' } };
    const isMapped = filter.type === 'CallExpression';
    const { value } = isMapped ? this.delegate(syntax, { operand: done(operand), filter: map }, scope) : operand;
    return (value as Value[]).reduce((sum, number) => {
      if (typeof number.value !== 'number') throw new Error('sum without numbers');
      return alike(number.type === 'FloatValue' ? number : sum, (sum.value as number) + number.value);
    }, toValue(0));
  }

  /** `values|map('upper')` */
  private mapped(values: Value, given: Syntax, args: readonly Syntax[], scope: Scope): Value {
    const name = { ...given, type: 'Identifier' };
    const filter = args.length > 0 ? { type: 'CallExpression', callee: name, args } : name;
    let made = 0;
    const items = (values.value as Value[]).map((value) => {
      const item = this.evaluate({ type: 'FilterExpression', filter, operand: done(value) } as unknown as Node, scope);
      made += this.weigh(item).characters;
      checkMost(made);
      return item;
    });
    return alike(toValue([]), items);
  }

  /** `values|min`: the first after `sort`, which takes the same named arguments. */
  private extreme(syntax: Syntax, operand: Value, filter: Syntax, scope: Scope, isMost: boolean): Value {
    const args = [done(toValue(isMost)), ...((filter.args as Node[] | undefined) ?? [])];
    const sort = { type: 'CallExpression', callee: { type: 'Identifier', value: 'sort' }, args };
    const sorted = this.delegate(syntax, { operand: done(operand), filter: sort }, scope).value as Value[];
    return sorted[0] ?? toValue(undefined);
  }

  /** The call of a filter with its arguments evaluated, none of which makes the text too long. */
  private sized(name: string, operand: Value, filter: Syntax, scope: Scope): Syntax {
    const { items, characters } = this.weigh(operand);
    const parts = name === 'tojson' ? MAX_INDENTS * items : operand.type === 'StringValue' ? characters : items;
    const args = (filter.args as Syntax[]).map((arg) => {
      const isNamed = arg.type === 'KeywordArgumentExpression';
      const value = this.evaluate((isNamed ? arg.value : arg) as Node, scope);
      checkMost(parts * (typeof value.value === 'number' ? value.value : this.weigh(value).characters));
      return isNamed ? { ...arg, value: done(value) } : done(value);
    });
    return { ...filter, args };
  }

  private giveMethod(text: Value, name: string): void {
    const self = text.value as string;
    const plain = methodsOf(text).get(name) as Method; // undefined for what the library lacks
    if (plain && OURS.has(plain)) return;
    setMethod(text, name, (args, scope) => {
      if (name === 'find') return toValue(find(self, args));
      if (name === 'format') return toValue(format(self, args));
      if (name === 'splitlines') {
        const lines = self.split(/\r\n|[\n\v\f\r\x85\u2028\u2029]/);
        checkMost(PIECE_COST * lines.length);
        return toValue(lines.at(-1) === '' ? lines.slice(0, -1) : lines);
      }
      if (name === 'replace' || name === 'split') {
        checkPieces(self, args);
        const replaced = name === 'replace' ? replaceAll(self, args) : null;
        if (replaced !== null) return toValue(replaced);
      } else return toValue(strip(self, args[0], name !== 'rstrip', name !== 'lstrip'));
      return plain.value(args, scope);
    });
  }
}

/** A text several times, or null. */
function repeated(text: Value, times: Value): Value | null {
  const [part, count] = [text.value, times.value] as unknown[];
  if (typeof part !== 'string' || times.type !== 'IntegerValue') return null;
  checkMost(part.length * (count as number));
  return toValue(part.repeat(Math.max(0, count as number)));
}

/** Equality of Python: by contents, and of numbers with numbers alone. */
function areEqual(a: Value, b: Value): boolean {
  const [inside, other] = [a.value, b.value] as unknown[];
  if (isNumber(inside) && isNumber(other)) return Number(inside) === Number(other);
  if (a.type !== b.type || inside === other) return a.type === b.type;
  if (a.type === 'NamespaceValue' || !(Array.isArray(inside) || inside instanceof Map)) return false;
  const items = new Map<unknown, Value>((other as Map<unknown, Value>).entries());
  const entries = Array.from<[unknown, Value]>(inside.entries());
  return (
    entries.length === items.size && entries.every(([key, item]) => items.has(key) && areEqual(item, items.get(key)!))
  );
}

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'boolean';

/** An item that `join` prints. It takes an attribute of objects. */
function printed(item: Value): Value {
  return item.type === 'ObjectValue' ? item : asText(item);
}

/**
 * Puts the filter `string` behind what is printed, in place: the library prints None and True in other words. A loop
 * over a list of tuples gets lists, since the library unpacks no tuples.
 */
export function printAsPython<T>(node: T): T {
  const syntax = node as Syntax;
  const printed = (operand: Syntax) => ({ type: 'FilterExpression', filter: { value: 'string' }, operand });
  const { loopvar, iterable } = syntax as Record<string, Syntax | undefined>;
  if (loopvar?.type === 'TupleLiteral' && iterable?.type === 'ArrayLiteral') {
    for (const item of iterable.value as Syntax[]) item.type = item.type.replace('Tuple', 'Array');
  }
  for (const name of ['body', 'defaultBlock', 'alternate']) {
    const body = syntax[name] as Syntax[] | undefined;
    if (body)
      syntax[name] = body.map((one) => (/Expr|Literal|Ident|Tern/.test(one.type) ? printed(one) : printAsPython(one)));
  }
  return node;
}

/** The place of a text in characters, or -1. */
function find(text: string, [part, from]: readonly Value[]): number {
  const points = Array.from(text);
  const rest = points.slice(from?.value as number).join('');
  const at = rest.indexOf(part?.value as string);
  return at < 0 ? at : points.length - Array.from(rest.slice(at)).length;
}

/** @throws ChatTemplateError for more than `most` */
export function checkMost(n: number, most = MAX_MADE, what = 'characters in a text'): void {
  if (n <= most) return;
  throw new ChatTemplateError(
    `The chat template has ${n} ${what}; at most ${most} are allowed. Use another template or fewer messages.`,
  );
}

/** Refuses a text in too many pieces, or with too much between them. */
function checkPieces(text: string, args: Value[]): void {
  const [old, by] = args.map(({ value }) => value as unknown);
  const each = typeof by === 'string' ? by.length : PIECE_COST;
  if (text.length * each < MAX_OUTPUT) return; // counting takes time
  checkMost(each * text.split(typeof old === 'string' ? old : /\s+/).length);
}

const OURS = new WeakSet<Value>();

function methodsOf(value: Value): Map<string, Method> {
  return (value as unknown as { builtins: Map<string, Method> }).builtins;
}

function setMethod(value: Value, name: string, run: Method['value']): void {
  const method = alike(
    toValue(() => null),
    run,
  ) as Method;
  OURS.add(method);
  methodsOf(value).set(name, method);
}

/** A text by characters, as Python counts, instead of UTF-16 units. */
function characters(text: string): { length: number; at(index: number): string | undefined } {
  return /[\ud800-\udbff]/.test(text) ? Array.from(text) : text;
}

/** A value whose numbers are marked texts where JSON of the library would print them in another way. */
function withMarks(value: Value): Value {
  const inside = value.value as unknown;
  if (typeof inside === 'number') {
    const text = asText(value).value as string;
    return text === String(inside) ? value : toValue(MARK + text);
  }
  const items = Array.isArray(inside) ? inside : inside instanceof Map ? Array.from(inside.values()) : [];
  const marked = items.map(withMarks);
  if (marked.every((item, i) => item === items[i])) return value;
  if (Array.isArray(inside)) return alike(value, marked);
  return alike(value, new Map(Array.from((inside as Map<unknown, Value>).keys(), (key, i) => [key, marked[i]])));
}

/** A value with texts as keys, for JSON. Depth and size have been checked. */
function withTextKeys(value: Value): Value {
  const inside = value.value as unknown;
  if (Array.isArray(inside)) return alike(value, inside.map(withTextKeys));
  if (!(inside instanceof Map)) return value;
  return alike(value, new Map(Array.from(inside, ([key, item]) => [String(key), withTextKeys(item as Value)])));
}

/**
 * The text with each `old` replaced; null for other arguments. The library calls a function for each match, which takes
 * half a second for two million of them.
 */
function replaceAll(text: string, args: Value[]): string | null {
  const [old, by, count] = args.map(({ value }) => value as unknown);
  const isAll = count === undefined || (count instanceof Map && count.size === 0); // named arguments, none
  const isPlain = isAll && typeof old === 'string' && old !== '' && typeof by === 'string';
  return isPlain ? text.split(old).join(by) : null;
}

/** White space as Python counts it. JavaScript adds U+FEFF, and leaves out U+0085 and four separators. */
const isSpace = (unit: string) => /\p{White_Space}/u.test(unit) || (unit >= '\x1c' && unit <= '\x1f');

/** A text without the given characters, or else without white space, at its start, its end, or both. */
function strip(text: string, given: Value | undefined, left: boolean, right: boolean): string {
  const hasGiven = given?.type === 'StringValue';
  const points = hasGiven ? Array.from(text) : text; // white space has one unit each
  const unwanted = new Set(hasGiven ? (given.value as string) : '');
  const isUnwanted = (point: string) => (hasGiven ? unwanted.has(point) : isSpace(point));
  let start = 0;
  let end = points.length;
  if (left) while (start < end && isUnwanted(points[start])) start++;
  if (right) while (end > start && isUnwanted(points[end - 1])) end--;
  const rest = points.slice(start, end);
  return typeof rest === 'string' ? rest : rest.join('');
}

/**
 * `'{} {0} {name} {{'.format(...)`. Format specifications and attributes, as in `{:>8}` and `{a.b}`, are not supported.
 */
function format(text: string, args: readonly Value[]): string {
  const named =
    args.at(-1)?.type === 'KeywordArgumentsValue' ? (args.at(-1)!.value as unknown as Map<string, Value>) : null;
  let next = 0;
  let length = 0;
  return text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, field: string | undefined) => {
    if (whole === '{{' || whole === '}}') return whole[0];
    const value =
      field === undefined
        ? undefined
        : field === ''
          ? args[next++]
          : /^\d+$/.test(field)
            ? args[Number(field)]
            : named?.get(field);
    if (value === undefined || value.type === 'KeywordArgumentsValue') {
      throw new ChatTemplateError(
        `The chat template formats a text with ${JSON.stringify(whole.slice(0, 40))}, which has no value or is not supported.`,
      );
    }
    const shown = String(asText(value).value);
    length += shown.length;
    checkMost(length, MAX_OUTPUT);
    return shown;
  });
}
