// Text to normalized text, by the rules of tokenizer.json. The library runs the rules. Rules that the library runs
// differently from the reference (tokenizers in Rust) are rewritten first:
//   Replace            a `$` in the replacement is a pattern in JavaScript
//   BertNormalizer     control characters, Chinese characters past U+FFFF -> Replace, NFD, Lowercase
//   Lowercase          JavaScript looks at the letters around a capital sigma
//   Precompiled        the library guesses SentencePiece's table -> the table itself (charsmap.ts)

import { SequenceNormalizer } from '@huggingface/tokenizers';
import { TokenizerError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { checkCount, checkGrowth } from '../rule_bounds';
import { createCharsmap } from './charsmap';
import { contentOf, costOf, objects, patternOf } from './rule_fields';

export type Normalize = (text: string) => string;

type NormalizerConfig = ConstructorParameters<typeof SequenceNormalizer>[0];

/** Chinese characters that BERT treats as words of their own (the reference's list, including its U+2B920). */
const CHINESE =
  '[\\u4e00-\\u9fff\\u3400-\\u4dbf\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2b73f}\\u{2b740}-\\u{2b81f}' +
  '\\u{2b920}-\\u{2ceaf}\\uf900-\\ufaff\\u{2f800}-\\u{2fa1f}]';

/** Null if the rules leave every text as it is. */
export function createNormalizer(config: JsonObject | null): Normalize | null {
  const steps = config ? rewrite(config) : [];
  if (steps.length === 0) return null;
  checkCount(steps);
  const stages = steps.map((step): Normalize => {
    if (step.type === 'Precompiled') return createCharsmap(step.precompiled_charsmap);
    const library = new SequenceNormalizer({ type: 'Sequence', normalizers: [step] } as unknown as NormalizerConfig);
    return (text) => library.normalize(text);
  });
  return (text) =>
    stages.reduce((before, stage) => {
      const normalized = stage(before);
      checkGrowth(text.length, normalized.length);
      return normalized;
    }, text);
}

function rewrite(config: JsonObject): JsonObject[] {
  switch (config.type) {
    case 'Sequence':
      return objects(config.normalizers).flatMap(rewrite);
    case 'Replace': {
      const pattern = patternOf(config); // throws without a pattern
      if (costOf(config) !== 'linear') {
        throw new TokenizerError(
          `The tokenizer rewrites text by an expression that could take too long: ${pattern}. Use a file of the model with plainer rules.`,
        );
      }
      return [{ ...config, content: contentOf(config).replaceAll('$', '$$$$') }];
    }
    case 'Lowercase':
      return [replace('\u03a3', '\u03c3'), { type: 'Lowercase' }];
    case 'BertNormalizer':
      return bertSteps(config);
    default:
      return [config];
  }
}

/**
 * Steps in the reference's order: clean_text, handle_chinese_chars, strip_accents (default: as lowercase), lowercase.
 */
function bertSteps(config: JsonObject): JsonObject[] {
  const isOn = (name: string) => config[name] !== false;
  const accents = config.strip_accents ?? isOn('lowercase');
  return [
    ...(isOn('clean_text')
      ? [replace('[\\u0000\\ufffd]|(?![\\t\\n\\r])[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]', ''), replace('\\s', ' ')]
      : []),
    ...(isOn('handle_chinese_chars') ? [replace(CHINESE, ' $& ')] : []),
    ...(accents === true ? [{ type: 'NFD' }, replace('\\p{Mn}', '')] : []),
    ...(isOn('lowercase') ? rewrite({ type: 'Lowercase' }) : []),
  ];
}

function replace(Regex: string, content: string): JsonObject {
  return { type: 'Replace', pattern: { Regex }, content };
}
