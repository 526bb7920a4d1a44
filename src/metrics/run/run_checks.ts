// Checks of values from files and storage, which may hold anything. Each check returns a valid copy, or throws with the
// name of the value. Pure.

import { VivaceError } from '../../errors';
import { isJsonObject } from '../../shared/json_object';

/** Reports a file or a stored value that is no valid run. The message is a sentence with the reason. */
export class RunFileError extends VivaceError {
  constructor(message: string, code = 'run-file') {
    super(code, message);
  }
}

/** @param name the place of the value, such as `info.model.name` */
export type Check<T> = (value: unknown, name: string) => T;

function refuse(name: string, what: string): never {
  throw new RunFileError(`This is not a valid run: ${name} is not ${what}.`);
}

const MAX_NUMBER = 1e15;

export function number(min = 0, max = MAX_NUMBER): Check<number> {
  return (value, name) =>
    typeof value === 'number' && value >= min && value <= max ? value : refuse(name, `a number from ${min} to ${max}`);
}

export function whole(max: number): Check<number> {
  const inRange = number(0, max);
  return (value, name) => (Number.isInteger(inRange(value, name)) ? Number(value) : refuse(name, 'a whole number'));
}

export function text(max: number): Check<string> {
  return (value, name) =>
    typeof value === 'string' && value.length <= max ? value : refuse(name, `text of at most ${max} letters`);
}

export function matching(pattern: RegExp, what: string): Check<string> {
  return (value, name) => (typeof value === 'string' && pattern.test(value) ? value : refuse(name, what));
}

export const yesOrNo: Check<boolean> = (value, name) =>
  typeof value === 'boolean' ? value : refuse(name, 'true or false');

/** One of the keys of `words`. */
export function oneOf<T extends string>(words: Readonly<Record<T, true>>): Check<T> {
  return (value, name) =>
    typeof value === 'string' && Object.hasOwn(words, value) ? (value as T) : refuse(name, 'one of the known words');
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value, name) => (value === null || value === undefined ? null : check(value, name));
}

export function list<T>(check: Check<T>, max: number): Check<T[]> {
  return (value, name) => {
    if (!Array.isArray(value) || value.length > max) refuse(name, `a list of at most ${max} entries`);
    const entryName = `an entry of ${name}`;
    return Array.from(value, (entry) => check(entry, entryName)); // holes too
  };
}

/** An object with these fields. Others are dropped, and fields whose check returns undefined are left out. */
export function fields<T extends object>(checks: { readonly [K in keyof Required<T>]: Check<T[K]> }): Check<T> {
  return (value, name) => {
    if (!isJsonObject(value)) refuse(name, 'an object');
    const entries = Object.entries<Check<unknown>>(checks).map(([key, check]) => [
      key,
      check(Object.hasOwn(value, key) ? value[key] : undefined, name ? `${name}.${key}` : key),
    ]);
    return Object.fromEntries(entries.filter(([, checked]) => checked !== undefined)) as T;
  };
}

/** A field that may be missing. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value, name) => (value === undefined ? undefined : check(value, name));
}
