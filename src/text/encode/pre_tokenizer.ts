// Text to words, by the rules of tokenizer.json. The library runs the rules. Rules that the library runs differently
// from the reference (tokenizers 0.22 in Rust) are first rewritten into equivalent ones:
//   ByteLevel          JavaScript's \s includes U+FEFF but not U+0085    -> Split by the reference's own expression
//   Digits             JavaScript's \d is ASCII, Rust's numeric is \p{N} -> Split by \p{N}
//   Punctuation        runs were kept together                           -> Split by one mark
//   Whitespace         JavaScript's \w is ASCII                          -> Split by Unicode words
//   Split              MergedWithPrevious, MergedWithNext, Contiguous, invert with Isolated, String with Removed
//   Metaspace          words were not split at their marks               -> Split before each mark
//   BertPreTokenizer   JavaScript's \s again                             -> Split by spaces and by one mark

import { SequencePreTokenizer } from '@huggingface/tokenizers';
import { TokenizerError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { asString } from '../json';
import { checkCount, checkGrowth } from '../rule_bounds';
import { characterOf, shown } from '../rule_text';
import { createNormalizer } from './normalizer';
import { LONGEST_PIECE } from './regex_cost';
import { contentOf, costOf, escapeRegex, objects, patternOf } from './rule_fields';
import { safeCut } from './safe_cut';
import { type TextPipeline, typedErrors } from './text_pipeline';
import { GPT2_WORDS } from './word_regexes';

type PreTokenizerConfig = ConstructorParameters<typeof SequencePreTokenizer>[0];

/** Time ahead of what the text allows, as a last resort against slow expressions. */
const MAX_MILLISECONDS = 1000;
/** Added by each piece. A desktop takes 0.4 for prose and 2 for numbers (jais-2, tiny_aya). */
const MILLISECONDS_PER_PIECE = 25;
const COMPILED_FOR = ['a', '\u2581'];
/** As Rust's \w. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d';
const ONE_MARK = '[\\p{P}!-/:-@\\[-`{-~]';

/** @param spells write words in the byte alphabet, for a model that does not do so itself */
export function createTextPipeline(
  normalizer: JsonObject | null,
  preTokenizer: JsonObject | null,
  spells = false,
): TextPipeline {
  return typedErrors(() => {
    const rules = preTokenizer ? rewrite(preTokenizer) : [];
    // A final ByteLevel only rewrites each word in the byte alphabet. BPE does so on bytes, not text.
    const byteLevel = rules.at(-1)?.type === 'ByteLevel';
    const spellings = rules.filter(({ type }) => type === 'ByteLevel').length;
    if (spellings > 1) {
      // Each further ByteLevel would rewrite the output of the previous one, twice as long.
      throw new TokenizerError(`The tokenizer spells its text in bytes ${spellings} times; once is supported.`);
    }
    if (byteLevel && !spells) rules.pop();
    const stages = createStages(rules);
    const normalize = createNormalizer(normalizer);
    const words: TextPipeline['words'] = (section, first) =>
      stages.reduce(
        (before, stage) => {
          const words = stage(before, first);
          checkGrowth(section.length, lengthOf(words));
          return words;
        },
        [section],
      );
    // JavaScript compiles an expression on its first run, and again for characters past U+00FF.
    for (const probe of COMPILED_FOR) words(normalize?.(probe) ?? probe, true);
    return {
      normalize: normalize && ((text) => typedErrors(() => normalize(text))),
      words: (section, first) => typedErrors(() => words(section, first)),
      byteLevel,
    };
  });
}

function lengthOf(words: readonly string[]): number {
  return words.reduce((sum, { length }) => sum + length, 0);
}

type Stage = (words: string[], first: boolean) => string[];

/** Groups rules that run one after another. A rule that is checked by itself is a group of its own. */
function createStages(rules: readonly JsonObject[]): Stage[] {
  checkCount(rules);
  const groups: JsonObject[][] = [];
  const isAlone = ({ cost, type }: JsonObject) => cost === 'polynomial' || type === 'Replace';
  rules.forEach((rule, i) => {
    if (i === 0 || isAlone(rule) || isAlone(rules[i - 1])) groups.push([]);
    groups.at(-1)!.push(rule);
  });
  return groups.map((pretokenizers) => {
    const library = new SequencePreTokenizer({ type: 'Sequence', pretokenizers } as unknown as PreTokenizerConfig);
    const run: Stage = (words, first) => library.pre_tokenize(words, { section_index: first ? 0 : 1 });
    return pretokenizers[0].cost === 'polynomial' ? inPieces(run) : run;
  });
}

/** Runs a stage on short pieces of the text, within a time that grows with all texts so far. */
function inPieces(run: Stage): Stage {
  let left = MAX_MILLISECONDS;
  return (words, first) => {
    let looked = performance.now();
    const out: string[] = [];
    for (const word of words) {
      for (let start = 0; start < word.length; ) {
        const end = safeCut(word, start, LONGEST_PIECE);
        for (const part of run([word.slice(start, end)], first)) out.push(part);
        const now = performance.now();
        const more = (MILLISECONDS_PER_PIECE * (end - start)) / LONGEST_PIECE;
        left = Math.min(MAX_MILLISECONDS, left + more - (now - looked));
        looked = now;
        start = end;
        if (left >= 0) continue;
        left = MAX_MILLISECONDS;
        throw new TokenizerError(
          `The tokenizer's expressions took too long to split ${word.length} characters. Shorten the text.`,
        );
      }
    }
    return out;
  };
}

function rewrite(config: JsonObject): JsonObject[] {
  switch (config.type) {
    case 'Sequence':
      return objects(config.pretokenizers).flatMap(rewrite);
    case 'ByteLevel': {
      // It takes a letter: V8 finds an empty match between the halves of a character, too.
      const prefix = { type: 'Replace', pattern: { Regex: '\\A[^ ]' }, content: ' $&' };
      const spell = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
      return [
        ...(config.add_prefix_space === true ? [prefix] : []),
        ...(config.use_regex === false ? [] : [isolate(GPT2_WORDS)]),
        spell,
      ];
    }
    case 'Digits':
      return [isolate(config.individual_digits === true ? '\\p{N}' : '\\p{N}+')];
    case 'Punctuation':
      return [split(ONE_MARK, asString(config.behavior) ?? 'Isolated', false)];
    case 'Whitespace':
      return [split(`[${WORD}]+|[^${WORD}\\s]+`, 'Removed', true)];
    case 'BertPreTokenizer':
      return [split('\\s+', 'Removed', false), isolate(ONE_MARK)];
    case 'WhitespaceSplit':
      return [split('\\s+', 'Removed', false)];
    case 'CharDelimiterSplit':
      return [split(escapeRegex(characterOf(config, 'delimiter')), 'Removed', false)];
    case 'Split':
      return [
        {
          ...split(patternOf(config), asString(config.behavior) ?? 'Isolated', config.invert === true),
          cost: costOf(config),
        },
      ];
    case 'Replace':
      return [{ ...config, content: contentOf(config), pattern: { Regex: patternOf(config) }, cost: costOf(config) }];
    case 'Metaspace': {
      const mark = characterOf(config, 'replacement', '\u2581');
      const scheme = asString(config.prepend_scheme) ?? (config.add_prefix_space === false ? 'never' : 'always');
      const spaces = { type: 'Metaspace', replacement: mark, prepend_scheme: scheme };
      return config.split === false ? [spaces] : [spaces, split(escapeRegex(mark), 'MergedWithNext', false)];
    }
    case 'FixedLength': {
      const { length } = config;
      if (!Number.isSafeInteger(length) || Number(length) < 1) {
        throw new TokenizerError(
          `A FixedLength rule of the tokenizer has a length of ${shown(length)}; it must be 1 or more.`,
        );
      }
      return [config];
    }
    default:
      return [config];
  }
}

/** One Split rule in the two forms that the library runs like the reference: Isolated and Removed. */
function split(regex: string, behavior: string, invert: boolean): JsonObject {
  const rest = `(?:(?!${regex})[\\s\\S])*`;
  switch (behavior) {
    case 'Removed':
      return { type: 'Split', pattern: { Regex: regex }, behavior: 'Removed', invert };
    case 'Isolated':
      return isolate(regex); // both the matches and the text between are kept, inverted or not
    case 'Contiguous':
      return isolate(invert ? regex : `(?:${regex})+`);
    case 'MergedWithPrevious':
      // The match is optional: otherwise each letter of a text without matches would search for one.
      if (!invert) return isolate(`(?:${regex})|${rest}(?:${regex})?`);
      break;
    case 'MergedWithNext':
      if (!invert) return isolate(`(?:${regex})${rest}`);
      break;
  }
  throw new TokenizerError(
    `The tokenizer splits text with "${behavior}"${invert ? ' inverted' : ''}, which is not supported.`,
  );
}

function isolate(regex: string): JsonObject {
  return { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false };
}
