// What a parsed chat template runs in: scopes of variables, evaluation at a price, calls and their parameters.

import { fail, kindOf, type Named, type Value } from './jinja_values';
import type { Rendering } from './template_fuel';

/** The variables of a block, and those around it. */
export class Scope {
  readonly variables = new Map<string, Value>();

  constructor(
    readonly run: Rendering,
    readonly outer: Scope | null = null,
  ) {}

  get(name: string): Value {
    return this.variables.has(name) ? this.variables.get(name) : this.outer?.get(name);
  }
}

export type Expression = (scope: Scope) => Value;

/** A parameter of a macro, with what it is where nothing is given. */
export interface Parameter {
  name: string;
  otherwise: Expression | null;
}

/** Fuel for each evaluation, and for the size of what it gave. */
export function paid(evaluate: Expression): Expression {
  return (scope) => scope.run.pay(evaluate(scope));
}

export function callValue(callee: Value, places: readonly Value[], named: Named, run: Rendering): Value {
  return typeof callee === 'function'
    ? callee(places, named, run)
    : fail(`it calls a value that is no function (${kindOf(callee)}).`);
}

/** As Python binds: by place, then by name, then by default; what is left over is an error unless the macro asks for it. */
export function bindParameters(
  scope: Scope,
  parameters: readonly Parameter[],
  asksFor: ReadonlySet<string>,
  places: readonly Value[],
  named: ReadonlyMap<string, Value>,
): void {
  const left = new Map(named);
  for (const [i, { name, otherwise }] of parameters.entries()) {
    const given = i < places.length ? places[i] : left.get(name);
    if (i >= places.length) left.delete(name);
    scope.variables.set(name, given === undefined && otherwise ? otherwise(scope) : given);
  }
  if (left.has('caller')) scope.variables.set('caller', left.get('caller'));
  left.delete('caller');
  const rest = places.slice(parameters.length);
  if (asksFor.has('kwargs')) scope.variables.set('kwargs', left);
  else if (left.size > 0) fail(`a macro has no parameter ${[...left.keys()].join(', ')}.`);
  if (asksFor.has('varargs')) scope.variables.set('varargs', rest);
  else if (rest.length > 0) fail(`a macro takes ${parameters.length} values and is given ${places.length}.`);
}
