// Checked access to the fields of tokenizer.json rules: patterns, replacements, marks.

import { TokenizerError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { asArray, asObject, asString } from '../json';
import { shown } from '../rule_text';
import { type RegexCost, regexCost } from './regex_cost';

/**
 * Longest pattern. Those in use have less than 1,500 characters; JavaScript fails on the first run of one with some
 * 100,000.
 */
const MAX_PATTERN = 10_000;
const MAX_CONTENT = 64;

function checkLength({ type }: JsonObject, pattern: string): void {
  if (pattern.length <= MAX_PATTERN) return;
  throw new TokenizerError(
    `A ${shown(type)} rule of the tokenizer has a pattern of ${pattern.length} characters; at most ${MAX_PATTERN} are allowed.`,
  );
}

/**
 * The replacement of a Replace rule. It may repeat for each character of a text; those in use have a few characters.
 */
export function contentOf(config: JsonObject): string {
  const content = asString(config.content) ?? '';
  if (content.length <= MAX_CONTENT) return content;
  throw new TokenizerError(
    `A Replace rule of the tokenizer writes ${content.length} characters for each match; at most ${MAX_CONTENT} are allowed.`,
  );
}

/** The source of a rule's pattern, given as an expression or as a literal text. */
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

/** The source of an expression that matches this text. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|&~#-]/g, '\\$&');
}

export function objects(value: unknown): JsonObject[] {
  return asArray(value).filter(isJsonObject);
}
