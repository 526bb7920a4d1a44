// Options of answers in words.

import type { GenerateOptions } from '../src/engine/protocol';

/** As in `logprobs 5`. */
export function optionTexts(options: GenerateOptions = {}): string[] {
  return Object.entries(options).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
}
