// The library's types of template values, which it does not export.

import { Environment, type Interpreter } from '@huggingface/jinja';

export type Node = Parameters<Interpreter['evaluate']>[0];
export type Scope = Parameters<Interpreter['evaluate']>[1];
export type Value = ReturnType<Interpreter['evaluate']>;

const scratch = new Environment();

export function toValue(input: unknown): Value {
  scratch.variables.delete('value');
  return scratch.set('value', input);
}

/** A value of the same class with other contents. */
export function alike(value: Value, inside: unknown): Value {
  return new (value.constructor as new (inside: unknown) => Value)(inside);
}
