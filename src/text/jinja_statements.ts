// The blocks of chat templates: {% if %}, {% for %}, {% set %}, {% macro %}, {% call %}, {% filter %}, break and continue, and
// {% generation %}, with which transformers marks what a model said.

import { tokenize } from './jinja_lexer';
import { ExpressionParser } from './jinja_parser';
import { bindParameters, callValue, type Expression, type Parameter, paid, Scope } from './jinja_scope';
import { type Callable, fail, isTrue, itemsOf, Namespace, textOf, type Value } from './jinja_values';
import type { Rendering } from './template_fuel';

/** How a statement ended: 'break' and 'continue' leave every block up to the loop. */
type Completion = 'break' | 'continue' | undefined;
type Statement = (scope: Scope) => Completion;
type Assign = (scope: Scope, value: Value) => void;

const FUEL_PER_ROUND = 4; // a round of a loop costs this much before its body does

/** @throws ChatTemplateError where the source is no template; rendering throws it, too */
export function parseTemplate(source: string): (run: Rendering, names: ReadonlyMap<string, Value>) => void {
  const program = new StatementParser(tokenize(source)).program();
  return (run, names) => {
    const scope = new Scope(run);
    for (const [name, value] of names) scope.variables.set(name, value);
    program(scope);
  };
}

class StatementParser extends ExpressionParser {
  program(): Statement {
    return this.block().body;
  }

  /** Statements up to `{% name` of one of the names, which is skipped and told; with no names, up to the end. */
  private block(...ends: string[]): { body: Statement; end: string } {
    const statements: Statement[] = [];
    while (this.token.kind !== 'end') {
      if (this.skip('{%')) {
        const name = this.name();
        if (ends.includes(name)) return { body: inOrder(statements), end: name };
        statements.push(this.statement(name));
      } else statements.push(this.output());
    }
    if (ends.length > 0) fail(`it ends before {% ${ends.at(-1)} %}.`);
    return { body: inOrder(statements), end: '' };
  }

  /** The body of a block that `{% end %}` closes. */
  private body(end: string): Statement {
    this.need('%}');
    const { body } = this.block(end);
    this.need('%}');
    return body;
  }

  private output(): Statement {
    if (this.token.kind === 'text') {
      const { text } = this.next();
      return (scope) => void scope.run.write(text);
    }
    this.need('{{');
    const value = this.sequence();
    this.need('}}');
    return (scope) => void scope.run.write(textOf(value(scope)));
  }

  private statement(name: string): Statement {
    switch (name) {
      case 'if':
        return this.if();
      case 'for':
        return this.for();
      case 'set':
        return this.set();
      case 'macro':
        return this.macro();
      case 'call':
        return this.callBlock();
      case 'filter':
        return this.filterBlock();
      case 'generation':
        return this.body('endgeneration');
      case 'break':
      case 'continue':
        this.need('%}');
        return () => name;
      default:
        return fail(`it has the unknown statement {% ${name} %}.`);
    }
  }

  private if(): Statement {
    const test = this.expression();
    this.need('%}');
    const { body, end } = this.block('elif', 'else', 'endif');
    let otherwise: Statement = () => undefined;
    if (end === 'elif') otherwise = this.if();
    else if (end === 'else') otherwise = this.body('endif');
    else this.need('%}');
    return (scope) => {
      scope.run.burn(1);
      return isTrue(test(scope)) ? body(scope) : otherwise(scope);
    };
  }

  private for(): Statement {
    const assign = this.target();
    this.need('in');
    const iterable = this.or();
    const test = this.skip('if') ? this.expression() : null;
    this.need('%}');
    const { body, end } = this.block('else', 'endfor');
    let otherwise: Statement | null = null;
    if (end === 'else') otherwise = this.body('endfor');
    else this.need('%}');
    return (scope) => {
      const all = itemsOf(iterable(scope));
      scope.run.burn(FUEL_PER_ROUND * all.length);
      const items = test
        ? all.filter((item) => {
            const inner = new Scope(scope.run, scope);
            assign(inner, item);
            return isTrue(test(inner));
          })
        : all;
      if (items.length === 0) return otherwise?.(scope);
      runLoop(items, assign, body, scope);
    };
  }

  private set(): Statement {
    const assign = this.target();
    if (this.skip('=')) {
      const value = this.sequence();
      this.need('%}');
      return (scope) => void assign(scope, value(scope));
    }
    let filtered: Expression = (scope) => scope.get('');
    while (this.skip('|')) filtered = this.filter(filtered);
    const body = this.body('endset');
    return (scope) => void assign(scope, applied(filtered, body, scope));
  }

  private filterBlock(): Statement {
    let filtered = this.filter((scope) => scope.get(''));
    while (this.skip('|')) filtered = this.filter(filtered);
    const body = this.body('endfilter');
    return (scope) => void scope.run.write(textOf(applied(filtered, body, scope)));
  }

  private macro(): Statement {
    const name = this.name();
    const make = this.macroBody(this.parameters(), 'endmacro');
    return (scope) => void scope.variables.set(name, make(scope));
  }

  /** `{% call(parameters) macro(arguments) %}`: the macro calls the block as `caller`. */
  private callBlock(): Statement {
    const parameters = this.sees('(') ? this.parameters() : [];
    const name = this.name();
    const give = this.arguments();
    const make = this.macroBody(parameters, 'endcall');
    return (scope) => {
      const { places, named } = give(scope);
      const withCaller = new Map(named).set('caller', make(scope));
      scope.run.write(textOf(callValue(scope.get(name), places, withCaller, scope.run)));
      return undefined;
    };
  }

  private parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    this.need('(');
    while (!this.skip(')')) {
      const name = this.name();
      if (parameters.some((one) => one.name === name)) fail(`a macro has two parameters ${name}.`);
      parameters.push({ name, otherwise: this.skip('=') ? this.expression() : null });
      if (!this.skip(',') && !this.sees(')')) this.need(')');
    }
    return parameters;
  }

  private macroBody(parameters: readonly Parameter[], end: string): (scope: Scope) => Callable {
    const before = this.names.length;
    const body = this.body(end);
    const extras = new Set(this.names.slice(before));
    return (outer) => (places, named, run) => {
      const scope = new Scope(run, outer);
      bindParameters(scope, parameters, extras, places, named);
      return run.pay(run.capture(() => body(scope)));
    };
  }

  /** What is assigned to: a name, names between commas, or a value of a namespace. */
  private target(): Assign {
    const targets: Assign[] = [];
    const bracketed = this.skip('(');
    do {
      const name = this.name();
      targets.push(
        this.skip('.') ? assignMember(name, this.name()) : (scope, value) => scope.variables.set(name, value),
      );
    } while (this.skip(','));
    if (bracketed) this.need(')');
    if (targets.length === 1) return targets[0];
    return (scope, value) => {
      const items = itemsOf(value);
      if (items.length !== targets.length) fail(`it unpacks ${items.length} values into ${targets.length} names.`);
      targets.forEach((assign, i) => {
        assign(scope, items[i]);
      });
    };
  }
}

function inOrder(statements: readonly Statement[]): Statement {
  return (scope) => {
    for (const statement of statements) {
      scope.run.burn(1);
      const completion = statement(scope);
      if (completion) return completion;
    }
    return undefined;
  };
}

/** What `body` writes, put through filters that read it under the empty name. */
function applied(filtered: Expression, body: Statement, scope: Scope): Value {
  const inner = new Scope(scope.run, scope);
  inner.variables.set(
    '',
    scope.run.capture(() => body(inner)),
  );
  return paid(filtered)(inner);
}

function assignMember(name: string, member: string): Assign {
  return (scope, value) => {
    const space = scope.get(name);
    if (!(space instanceof Namespace)) return fail(`${name}.${member} is set, but ${name} is no namespace.`);
    space.values.set(member, value);
  };
}

function runLoop(items: readonly Value[], assign: Assign, body: Statement, outer: Scope): void {
  const { length } = items;
  for (const [i, item] of items.entries()) {
    const scope = new Scope(outer.run, outer);
    const loop: Record<string, Value> = {
      index: i + 1,
      index0: i,
      revindex: length - i,
      revindex0: length - i - 1,
      first: i === 0,
      last: i === length - 1,
      length,
      previtem: items[i - 1],
      nextitem: items[i + 1],
    };
    scope.variables.set('loop', new Map(Object.entries(loop)));
    assign(scope, item);
    if (body(scope) === 'break') return;
  }
}
