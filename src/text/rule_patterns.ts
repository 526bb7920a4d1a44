// What the rules of tokenizer.json have in common: the patterns in them.

import { TokenizerError } from '../errors';
import { asArray, asObject, asString, isObject, type JsonObject } from './json';
import { type RegexCost, regexCost } from './regex_cost';

/** The longest in use has less than 1,500 characters; JavaScript fails on one of some hundred thousand when it first runs. */
const MAX_PATTERN = 10_000;

/** The source of a rule's pattern, literal or not. */
export function patternOf(config: JsonObject): string {
  const pattern = asObject(config.pattern);
  const regex = asString(pattern?.Regex);
  const literal = asString(pattern?.String);
  const { length } = regex ?? literal ?? '';
  if (length > MAX_PATTERN) {
    throw new TokenizerError(
      `A ${String(config.type)} rule of the tokenizer has a pattern of ${length} characters; at most ${MAX_PATTERN} are allowed.`,
    );
  }
  if (regex !== null) return regex;
  if (literal !== null) return escapeRegex(literal);
  throw new TokenizerError(`A ${String(config.type)} rule of the tokenizer has neither a Regex nor a String pattern.`);
}

export function costOf(config: JsonObject): RegexCost {
  const regex = asString(asObject(config.pattern)?.Regex);
  return regex === null ? 'linear' : regexCost(regex);
}

export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|&~#-]/g, '\\$&');
}

export function objects(value: unknown): JsonObject[] {
  return asArray(value).filter(isObject);
}
