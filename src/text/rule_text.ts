// Texts in the rules of a tokenizer.json, and what an error shows of them.

import { TokenizerError } from '../errors';
import type { JsonObject } from '../shared/json_object';
import { asString } from './json';

/** A value for an error message. Avoids String() of an object, which would call a "toString" from the file. */
export function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'a structure' : String(value).slice(0, 80);
}

/** The single character of a rule. A longer text would replace each space. */
export function characterOf(config: JsonObject, name: string, standard = ''): string {
  const text = asString(config[name]) ?? standard;
  if (text.length <= 2 && [...text].length === 1) return text;
  throw new TokenizerError(
    `A ${shown(config.type)} rule of the tokenizer has a ${name} of ${text.length} characters; it must be one character.`,
  );
}
