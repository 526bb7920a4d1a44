// Tokens -> functions: an expression becomes a function from a scope to a value, each evaluation paid for with fuel.
// The grammar and its precedences are those of Jinja 3; jinja_statements.ts has the blocks.

import { TokenCursor } from './jinja_cursor';
import { Arguments, filterNamed, testNamed } from './jinja_filters';
import { attribute, subscript } from './jinja_methods';
import { arithmetic, COMPARISONS, slice } from './jinja_operators';
import { callValue, type Expression, paid, type Scope } from './jinja_scope';
import { asNumber, Float, fail, isTrue, kindOf, textOf, type Value } from './jinja_values';

/** One argument of a call: `a`, `name=a`, `*a` or `**a`. */
interface Argument {
  spread: '' | '*' | '**';
  name: string | null;
  value: Expression;
}

/** Binary operators from weak to strong, below comparisons. */
const LEVELS = [['+', '-'], ['~'], ['*', '/', '//', '%'], ['**']];
const CONSTANTS: ReadonlyMap<string, Value> = new Map(
  Object.entries({ true: true, True: true, false: false, False: false, none: null, None: null }),
);
/** Words that follow a test rather than being its argument. */
const AFTER_TEST = ['else', 'or', 'and', 'is', 'in', 'not', 'if'];

export class ExpressionParser extends TokenCursor {
  /** Names read so far: a macro that reads `kwargs` or `varargs` gets them. */
  readonly names: string[] = [];

  /** `a`, or `a, b` as a list. */
  sequence(): Expression {
    const first = this.expression();
    if (!this.sees(',')) return first;
    const items = [first];
    while (this.skip(',')) if (!this.closes()) items.push(this.expression());
    return list(items);
  }

  expression(): Expression {
    const value = this.or();
    if (!this.skip('if')) return value;
    const test = this.or();
    const otherwise = this.skip('else') ? this.expression() : () => undefined;
    return paid((scope) => (isTrue(test(scope)) ? value(scope) : otherwise(scope)));
  }

  /** Without a condition after it, which in `for x in xs if ...` belongs to the loop. */
  or(): Expression {
    let left = this.and();
    while (this.skip('or')) {
      const [first, second] = [left, this.and()];
      left = paid((scope) => {
        const value = first(scope);
        return isTrue(value) ? value : second(scope);
      });
    }
    return left;
  }

  private and(): Expression {
    let left = this.not();
    while (this.skip('and')) {
      const [first, second] = [left, this.not()];
      left = paid((scope) => {
        const value = first(scope);
        return isTrue(value) ? second(scope) : value;
      });
    }
    return left;
  }

  private not(): Expression {
    if (!this.skip('not')) return this.comparison();
    const value = this.not();
    return paid((scope) => !isTrue(value(scope)));
  }

  /** a < b < c holds where a < b and b < c. */
  private comparison(): Expression {
    const first = this.binary(0);
    const rest: { holds: (a: Value, b: Value) => boolean; right: Expression }[] = [];
    for (;;) {
      const operator = this.sees('not', 'in') ? 'not in' : this.token.text;
      const holds = COMPARISONS.get(operator);
      if (!holds || !this.skip(...operator.split(' '))) break;
      rest.push({ holds, right: this.binary(0) });
    }
    if (rest.length === 0) return first;
    return paid((scope) => {
      let left = first(scope);
      return rest.every(({ holds, right }) => {
        const value = right(scope);
        const held = holds(left, value);
        left = value;
        return held;
      });
    });
  }

  private binary(level: number): Expression {
    if (level === LEVELS.length) return this.unary();
    let left = this.binary(level + 1);
    for (;;) {
      const operator = LEVELS[level].find((one) => this.skip(one));
      if (!operator) return left;
      const [first, second] = [left, this.binary(level + 1)];
      left = paid((scope) => arithmetic(scope.run, operator, first(scope), second(scope)));
    }
  }

  /** A sign binds tighter than a filter: -1 | abs is 1. */
  private unary(filtered = true): Expression {
    let value: Expression;
    const sign = this.skip('-') ? -1 : this.skip('+') ? 1 : 0;
    if (sign !== 0) {
      const operand = this.unary(false);
      value = paid((scope) => arithmetic(scope.run, '*', operand(scope), sign));
    } else value = this.primary();
    value = this.postfix(value);
    return filtered ? this.filters(value) : value;
  }

  private primary(): Expression {
    const { kind, text } = this.next();
    if (kind === 'name') {
      const constant = CONSTANTS.get(text);
      if (constant !== undefined) return () => constant;
      this.names.push(text);
      return paid((scope) => scope.get(text));
    }
    if (kind === 'number') {
      const value = /^\d+$/.test(text) ? Number(text) : new Float(Number(text));
      return () => value;
    }
    if (kind === 'string') {
      let value = text;
      while (this.token.kind === 'string') value += this.next().text;
      return paid(() => value);
    }
    if (kind === 'mark' && text === '(') {
      if (this.skip(')')) return list([]);
      const value = this.sequence();
      this.need(')');
      return value;
    }
    if (kind === 'mark' && text === '[') return list(this.until(']', () => this.expression()));
    if (kind === 'mark' && text === '{') return this.mapping();
    return fail(`it has ${JSON.stringify(text.slice(0, 40))} where a value is needed.`);
  }

  private mapping(): Expression {
    const entries = this.until('}', () => {
      const key = this.expression();
      this.need(':');
      return [key, this.expression()] as const;
    });
    return paid((scope) => new Map(entries.map(([key, value]) => [keyOf(key(scope)), value(scope)])));
  }

  /** `.name`, `[key]`, `[from:to:step]` and `(arguments)`, as many as follow. */
  postfix(value: Expression): Expression {
    for (let object = value; ; ) {
      const before = object;
      if (this.skip('.')) {
        const { kind, text } = this.next();
        if (kind !== 'name' && kind !== 'number') fail('a name is needed after a dot.');
        object =
          kind === 'name'
            ? paid((scope) => attribute(before(scope), text))
            : paid((scope) => subscript(before(scope), Number(text)));
      } else if (this.skip('[')) {
        object = this.bracket(before);
      } else if (this.sees('(')) {
        object = this.call(before);
      } else return object;
    }
  }

  private bracket(object: Expression): Expression {
    const parts: (Expression | null)[] = [null];
    while (!this.skip(']')) {
      if (this.skip(':')) parts.push(null);
      else if (parts.at(-1) === null) parts[parts.length - 1] = this.expression();
      else this.need(']');
    }
    const [from, to, step] = parts;
    if (parts.length > 3 || (parts.length === 1 && !from)) fail('brackets hold a key, or from:to:step.');
    if (parts.length === 1 && from) return paid((scope) => subscript(object(scope), from(scope)));
    return paid((scope) => slice(object(scope), from?.(scope), to?.(scope), step?.(scope)));
  }

  private call(callee: Expression): Expression {
    const give = this.arguments();
    return paid((scope) => {
      const { places, named } = give(scope);
      return callValue(callee(scope), places, named, scope.run);
    });
  }

  /** Arguments in brackets; evaluated, they are places and names. */
  arguments(): (scope: Scope) => Arguments {
    this.need('(');
    const given = this.until(')', (): Argument => {
      const spread = this.skip('**') ? '**' : this.skip('*') ? '*' : '';
      const named = this.token.kind === 'name' && this.following?.text === '=';
      const name = named && !spread ? this.name() : null;
      if (name !== null) this.need('=');
      return { spread, name, value: this.expression() };
    });
    return (scope) => evaluateArguments(given, scope);
  }

  /** `| filter` and `is test`, as many as follow. */
  filters(value: Expression): Expression {
    for (let operand = value; ; ) {
      const before = operand;
      if (this.skip('|')) operand = this.filter(before);
      else if (this.skip('is')) operand = this.test(before);
      else return operand;
    }
  }

  filter(operand: Expression): Expression {
    const name = this.name();
    const give = this.sees('(') ? this.arguments() : noArguments;
    return paid((scope) => filterNamed(name)(operand(scope), give(scope), scope.run));
  }

  private test(operand: Expression): Expression {
    const negated = this.skip('not');
    const name = this.name();
    let other: Expression = () => undefined;
    const { kind, text } = this.token;
    if (this.sees('(')) {
      const give = this.arguments();
      other = (scope) => give(scope).places[0];
    } else if (kind === 'string' || kind === 'number' || (kind === 'name' && !AFTER_TEST.includes(text))) {
      other = this.postfix(this.primary());
    } else if (this.sees('[') || this.sees('{')) other = this.postfix(this.primary());
    return paid((scope) => testNamed(name)(operand(scope), other(scope)) !== negated);
  }
}

function list(items: readonly Expression[]): Expression {
  return paid((scope) => items.map((item) => item(scope)));
}

const noArguments = () => new Arguments([], new Map());

function evaluateArguments(given: readonly Argument[], scope: Scope): Arguments {
  const places: Value[] = [];
  const named = new Map<string, Value>();
  for (const { spread, name, value } of given) {
    const evaluated = value(scope);
    if (name !== null) named.set(name, evaluated);
    else if (spread === '') places.push(evaluated);
    else if (spread === '*' && Array.isArray(evaluated)) places.push(...evaluated);
    else if (spread === '**' && evaluated instanceof Map) {
      for (const [key, item] of evaluated) named.set(textOf(key), item);
    } else fail(`${spread} cannot unpack a ${kindOf(evaluated)}.`);
  }
  return new Arguments(places, named);
}

function keyOf(value: Value): Value {
  const plain = typeof value === 'string' || value === null || (asNumber(value) !== null && !(value instanceof Float));
  return plain ? value : fail(`a ${kindOf(value)} cannot be a key.`);
}
