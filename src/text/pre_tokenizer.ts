// Text -> words, by the rules of tokenizer.json, each run as the reference does it (tokenizers 0.22 in Rust).

import { TokenizerError } from '../errors';
import { BYTE_TO_CHAR, utf8Bytes } from './bytes';
import { asArray, asObject, asString, isObject, type JsonObject } from './json';
import { compileReferenceRegex } from './reference_regex';

export interface TextPipeline {
  /** Null where the text is left as it is: then places in the text stay places in the normalised text. */
  readonly normalize: ((text: string) => string) | null;
  /** Words of one section between added tokens; `first` says that the section starts the text. */
  words(section: string, first: boolean): string[];
  /** The words still have to be spelled in the byte alphabet. */
  readonly byteLevel: boolean;
}

type Normalizer = (text: string) => string;
/** One word -> several; `first` says that it starts the text. */
type Splitter = (word: string, first: boolean) => string[];

// Of GPT-2; the reference compiles exactly this into its ByteLevel rule.
export const GPT2_WORDS = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const ONE_MARK = '[\\p{P}!-/:-@\\[-`{-~]';

export function createTextPipeline(normalizer: JsonObject | null, preTokenizer: JsonObject | null): TextPipeline {
  try {
    const rules = preTokenizer ? flatten(preTokenizer, 'pretokenizers') : [];
    // ByteLevel respells each word after splitting it; where it closes the list the model does that, on bytes.
    const byteLevel = rules.at(-1)?.type === 'ByteLevel';
    const splitters = rules.flatMap((rule, i) => splittersOf(rule, i === rules.length - 1));
    const steps = normalizer ? flatten(normalizer, 'normalizers').map(normalizerOf) : [];
    return {
      normalize: steps.length > 0 ? (text) => steps.reduce((done, step) => step(done), text) : null,
      words: (section, first) =>
        splitters.reduce((words, split) => words.flatMap((word) => split(word, first)), [section]),
      byteLevel,
    };
  } catch (cause) {
    if (cause instanceof TokenizerError) throw cause;
    throw new TokenizerError(`The tokenizer's rules for splitting text cannot be used: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** A rule, or those of a sequence inside sequences. */
function flatten(config: JsonObject, member: 'normalizers' | 'pretokenizers'): JsonObject[] {
  return config.type === 'Sequence' ? objects(config[member]).flatMap((inner) => flatten(inner, member)) : [config];
}

function normalizerOf(config: JsonObject): Normalizer {
  switch (config.type) {
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const form = config.type;
      return (text) => text.normalize(form);
    }
    case 'Lowercase':
      return (text) => text.toLowerCase();
    case 'StripAccents':
      return (text) => text.replace(/\p{M}/gu, '');
    case 'Strip':
      return (text) => {
        const left = config.strip_left === false ? text : text.trimStart();
        return config.strip_right === false ? left : left.trimEnd();
      };
    case 'Prepend': {
      const before = asString(config.prepend) ?? '';
      return (text) => (text === '' ? '' : before + text);
    }
    case 'Replace':
      return replacer(patternOf(config), asString(config.content) ?? '');
    default:
      throw new TokenizerError(`The tokenizer normalizes text with "${String(config.type)}", which is not supported.`);
  }
}

function splittersOf(config: JsonObject, last: boolean): Splitter[] {
  switch (config.type) {
    case 'ByteLevel': {
      const space = replacer('\\A(?! )', ' ');
      return [
        ...(config.add_prefix_space === true ? [(word: string) => [space(word)]] : []),
        ...(config.use_regex === false ? [] : [isolate(GPT2_WORDS)]),
        ...(last ? [] : [respell]),
      ];
    }
    case 'Digits':
      return [isolate(config.individual_digits === true ? '\\p{N}' : '\\p{N}+')];
    case 'Punctuation':
      return [split(ONE_MARK, asString(config.behavior) ?? 'Isolated', false)];
    case 'BertPreTokenizer':
      return [split('\\s+', 'Removed', false), isolate(ONE_MARK)];
    case 'Whitespace':
      return [split('\\w+|[^\\w\\s]+', 'Removed', true)];
    case 'WhitespaceSplit':
      return [split('\\s+', 'Removed', false)];
    case 'FixedLength':
      return [isolate(`[\\s\\S]{1,${Number(config.length)}}`)];
    case 'CharDelimiterSplit':
      return [split(escapeRegex(asString(config.delimiter) ?? ''), 'Removed', false)];
    case 'Split':
      return [split(patternOf(config), asString(config.behavior) ?? 'Isolated', config.invert === true)];
    case 'Metaspace':
      return metaspace(config);
    default:
      throw new TokenizerError(`The tokenizer splits text with "${String(config.type)}", which is not supported.`);
  }
}

function respell(word: string): string[] {
  return [Array.from(utf8Bytes(word), (byte) => BYTE_TO_CHAR[byte]).join('')];
}

/** Spaces become marks; each mark starts a word. */
function metaspace(config: JsonObject): Splitter[] {
  const mark = asString(config.replacement) ?? '\u2581';
  const scheme = asString(config.prepend_scheme) ?? (config.add_prefix_space === false ? 'never' : 'always');
  const spaces: Splitter = (word, first) => {
    const marked = word.replaceAll(' ', () => mark);
    const prepend = scheme === 'always' || (scheme === 'first' && first);
    return [prepend && !marked.startsWith(mark) ? mark + marked : marked];
  };
  return config.split === false ? [spaces] : [spaces, split(escapeRegex(mark), 'MergedWithNext', false)];
}

function split(regex: string, behavior: string, invert: boolean): Splitter {
  const rest = `(?:(?!${regex})[\\s\\S])*`;
  switch (behavior) {
    case 'Removed': {
      const pattern = compileReferenceRegex(regex);
      return (word) =>
        cut(word, pattern)
          .filter((piece) => piece.matched === invert)
          .map((piece) => piece.text);
    }
    case 'Isolated':
      return isolate(regex); // inverted or not, both the matches and what lies between are kept
    case 'Contiguous':
      return isolate(invert ? regex : `(?:${regex})+`);
    case 'MergedWithPrevious':
      if (!invert) return isolate(`${rest}(?:${regex})`);
      break;
    case 'MergedWithNext':
      if (!invert) return isolate(`(?:${regex})${rest}`);
      break;
  }
  throw new TokenizerError(
    `The tokenizer splits text with "${behavior}"${invert ? ' inverted' : ''}, which is not supported.`,
  );
}

function isolate(regex: string): Splitter {
  const pattern = compileReferenceRegex(regex);
  return (word) => cut(word, pattern).map((piece) => piece.text);
}

/** Matches and what lies between them, without the empty ones. */
function cut(text: string, pattern: RegExp): { text: string; matched: boolean }[] {
  const pieces: { text: string; matched: boolean }[] = [];
  const add = (piece: string, matched: boolean) => piece !== '' && pieces.push({ text: piece, matched });
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    add(text.slice(end, match.index), false);
    add(match[0], true);
    end = match.index + match[0].length;
  }
  add(text.slice(end), false);
  return pieces;
}

function replacer(regex: string, content: string): Normalizer {
  const pattern = compileReferenceRegex(regex);
  return (text) => text.replaceAll(pattern, () => content);
}

function patternOf(config: JsonObject): string {
  const pattern = asObject(config.pattern);
  const regex = asString(pattern?.Regex);
  const literal = asString(pattern?.String);
  if (regex !== null) return regex;
  if (literal !== null) return escapeRegex(literal);
  throw new TokenizerError(`A ${String(config.type)} rule of the tokenizer has neither a Regex nor a String pattern.`);
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|&~#-]/g, '\\$&');
}

function objects(value: unknown): JsonObject[] {
  return asArray(value).filter(isObject);
}
