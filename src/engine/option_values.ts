// Checks values of options against the table, describes the legal values, reads values from text, and fills in
// defaults.

import { InvalidRequestError } from '../errors';
import { refuseUnknown } from '../shared/known_names';
import type { Given, Option, Options, Resolved, Value } from './options';

/** Illegal values are cut to this many characters in messages. */
const MAX_QUOTED = 80;

export function isLegal(option: Option, value: unknown): boolean {
  if ('form' in option) return option.form[1](value);
  if (option.kind === 'choice') return typeof value === 'string' && Object.hasOwn(option.choices, value);
  const { kind, min, max = Number.POSITIVE_INFINITY } = option;
  return typeof value === 'number' && value >= min && value <= max && (kind === 'number' || Number.isInteger(value));
}

/** The legal values in words, as in "choose q8 or f32". */
export function legalValues(option: Option): string {
  if ('form' in option) return option.form[0];
  if (option.kind === 'choice')
    return Object.keys(option.choices)
      .join(', ')
      .replace(/,( \w+)$/, ' or$1');
  const { kind, min, max } = option;
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return `a ${kind === 'integer' ? 'whole ' : ''}number ${range}`;
}

/** The value of a text from an address or an attribute, or undefined if it is not legal. */
export function readValue<O extends Option>(option: O, text: string): Value<O> | undefined {
  const isNumeral = 'min' in option && /^-?\d+(\.\d+)?$/.test(text);
  const value = isNumeral ? Number(text) : text;
  return isLegal(option, value) ? (value as Value<O>) : undefined;
}

/** The beginning of a value. */
function shown(value: unknown): string {
  try {
    return (typeof value === 'object' ? JSON.stringify(value) : String(value)).slice(0, MAX_QUOTED);
  } catch {
    return 'what JSON cannot hold';
  }
}

/**
 * Fills in defaults and checks the given values.
 * @param beside further names that the caller may choose, for the error
 * @throws InvalidRequestError for an illegal value or an unknown key
 */
export function resolveOptions<T extends Options>(
  table: T,
  given: Given<T>,
  beside: readonly string[] = [],
): Resolved<T> {
  refuseUnknown(given, [...Object.keys(table), ...beside]);
  const entries = Object.entries(table).map(([key, option]) => {
    const value: unknown = given[key as keyof T];
    if (value === undefined) return [key, option.default];
    if (isLegal(option, value)) return [key, value];
    throw new InvalidRequestError(`${key} must be ${legalValues(option)}, got ${shown(value)}.`, key);
  });
  return Object.fromEntries(entries);
}
