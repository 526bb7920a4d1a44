// Bounds of what the rules of an untrusted tokenizer.json make of a text together, each of them small.

import { TokenizerError } from '../errors';
import { isJsonObject, type JsonObject } from '../shared/json_object';
import { asArray, asObject, asString } from './json';

/** Most rules of one kind. Those in use have some ten. */
const MAX_RULES = 256;
/** Most characters for each character of a text, by all rules together. Unicode's own rules write up to 18. */
const MAX_GROWTH = 64;

export function checkCount(rules: readonly unknown[]): void {
  if (rules.length <= MAX_RULES) return;
  throw new TokenizerError(
    `The tokenizer has ${rules.length} rules of one kind; at most ${MAX_RULES} are allowed. Use another file of the model.`,
  );
}

/** Refuses what rules that are small by themselves would make of a text together. */
export function checkGrowth(before: number, after: number): void {
  if (after <= MAX_GROWTH * (before + 1)) return;
  throw new TokenizerError(
    `The tokenizer's rules make ${after} characters of ${before}; at most ${MAX_GROWTH} for each are allowed. Use another file of the model.`,
  );
}

/** Refuses a decoder of too many steps, and of steps that together make too much of a token. */
export function checkDecoder(decoder: JsonObject | null): void {
  const steps = decoder ? decoderSteps(decoder) : [];
  checkCount(steps);
  checkGrowth(
    0,
    steps.reduce((product, step) => product * growthOf(step), 1),
  );
}

function decoderSteps(decoder: JsonObject): JsonObject[] {
  return decoder.type === 'Sequence' ? asArray(decoder.decoders).filter(isJsonObject).flatMap(decoderSteps) : [decoder];
}

/** Most units that a unit of a token becomes by one step. */
function growthOf({ type, pattern, content }: JsonObject): number {
  const from = asString(asObject(pattern)?.String) ?? '';
  return type === 'Replace' ? Math.max(1, (asString(content) ?? '').length / Math.max(1, from.length)) : 1;
}
