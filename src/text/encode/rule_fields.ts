// What the rules of tokenizer.json have in common: the patterns in them.

import { TokenizerError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { asArray, asObject, asString, shown } from '../json';
import { type RegexCost, regexCost } from './regex_cost';

/** The longest in use has less than 1,500 characters; JavaScript fails on one of some hundred thousand when it first runs. */
const MAX_PATTERN = 10_000;
const MAX_CONTENT = 64;

function checkLength({ type }: JsonObject, pattern: string): void {
  if (pattern.length <= MAX_PATTERN) return;
  throw new TokenizerError(
    `A ${shown(type)} rule of the tokenizer has a pattern of ${pattern.length} characters; at most ${MAX_PATTERN} are allowed.`,
  );
}

/** What a Replace rule writes: a few characters in all files in use, and it may do so for each character of a text. */
export function contentOf(config: JsonObject): string {
  const content = asString(config.content) ?? '';
  if (content.length <= MAX_CONTENT) return content;
  throw new TokenizerError(
    `A Replace rule of the tokenizer writes ${content.length} characters for each match; at most ${MAX_CONTENT} are allowed.`,
  );
}

/** The one character that a rule names: a longer text would take the place of each space. */
export function characterOf(config: JsonObject, name: string, standard = ''): string {
  const text = asString(config[name]) ?? standard;
  if (text.length <= 2 && [...text].length === 1) return text;
  throw new TokenizerError(
    `A ${shown(config.type)} rule of the tokenizer has a ${name} of ${text.length} characters; it must be one character.`,
  );
}

/** The source of a rule's pattern, literal or not. */
export function patternOf(config: JsonObject): string {
  const pattern = asObject(config.pattern);
  const regex = asString(pattern?.Regex);
  const literal = asString(pattern?.String);
  checkLength(config, regex ?? literal ?? '');
  if (regex !== null) return regex;
  if (literal !== null) return escapeRegex(literal);
  throw new TokenizerError(`A ${shown(config.type)} rule of the tokenizer has neither a Regex nor a String pattern.`);
}

export function costOf(config: JsonObject): RegexCost {
  const regex = asString(asObject(config.pattern)?.Regex);
  return regex === null ? 'linear' : regexCost(regex);
}

/** The source of an expression that finds a text. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|&~#-]/g, '\\$&');
}

export function objects(value: unknown): JsonObject[] {
  return asArray(value).filter(isJsonObject);
}

/** Runs rules of the library, which knows no errors of ours: an expression can be too large, a text grow past what a string holds. */
export function typedErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof TokenizerError) throw cause;
    throw new TokenizerError(`The tokenizer's rules for splitting text cannot be used: ${(cause as Error).message}`, {
      cause,
    });
  }
}
