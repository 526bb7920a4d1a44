// Options of answers in words.

import type { GenerateOptions } from '../src/engine/protocol';

/** As in `logprobs 5`; a constraint is named by its kind. */
export function optionTexts({ constraint, ...options }: GenerateOptions = {}): string[] {
  const texts = Object.entries(options).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return constraint ? [...texts, constraint.kind] : texts;
}
