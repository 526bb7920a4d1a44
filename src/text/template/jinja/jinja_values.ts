// The library's types of template values, which it does not export.

import { Environment, type Interpreter } from '@huggingface/jinja';
import { SpelledNumber } from '../../spelled_json';

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

/** The value of what a request holds. */
export function ofRequest(input: unknown): Value {
  if (input instanceof SpelledNumber) return spelled(input.text);
  if (Array.isArray(input)) return alike(toValue([]), input.map(ofRequest));
  if (typeof input !== 'object' || input === null) return toValue(input);
  return alike(toValue({}), new Map(Object.entries(input).map(([key, item]) => [key, ofRequest(item)])));
}

function spelled(text: string): Value {
  const isInteger = /^-?\d+$/.test(text);
  const value = alike(toValue(isInteger ? 0 : 0.5), Number(text));
  if (isInteger) value.toString = () => text;
  return value;
}
