// What becomes of a text before a vocabulary's model sees it. The rules of GGUF files that are common need no library;
// those of tokenizer.json come with it (pre_tokenizer.ts).

import { TokenizerError } from '../../errors';

export interface TextPipeline {
  /** Null if texts are not normalized, so that positions in a text and in the normalized text agree. */
  readonly normalize: ((text: string) => string) | null;
  /** Words of one section between added tokens. `first`: the section starts the text. */
  words(section: string, first: boolean): string[];
  /** The words still need to be written in the byte alphabet. */
  readonly byteLevel: boolean;
}

export const SPACE_MARK = '\u2581';
const COMPILED_FOR = ['a', SPACE_MARK];

/**
 * Byte-level words: every match of each expression, and every stretch between matches. The expressions are our own
 * (gguf_pre_types.ts), and each takes a time in proportion to its text.
 */
export function wordPipeline(expressions: readonly string[]): TextPipeline {
  const splits = expressions.map((source) => new RegExp(inJavaScript(source), 'gu'));
  const words = (section: string) =>
    splits.reduce((words, split) => words.flatMap((word) => isolated(word, split)), [section]);
  for (const probe of COMPILED_FOR) words(probe);
  return { normalize: null, byteLevel: true, words: (section) => typedErrors(() => words(section)) };
}

/** SentencePiece: a space becomes a mark, and by default one stands before each text. */
export function markPipeline(prefix: boolean): TextPipeline {
  return {
    normalize: (text) => (prefix ? SPACE_MARK : '') + text.replaceAll(' ', SPACE_MARK),
    byteLevel: false,
    words: (section) => [section],
  };
}

/**
 * The reference's spelling in JavaScript's: its `\s` is Unicode's white space, and letters of either case are not known
 * to every browser.
 */
function inJavaScript(source: string): string {
  return source
    .replaceAll('\\s', '\\p{White_Space}')
    .replaceAll('\\S', '\\P{White_Space}')
    .replace(/\(\?i:([^)]*)\)/g, (_, letters: string) => {
      return `(?:${letters.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)})`;
    });
}

function isolated(text: string, split: RegExp): string[] {
  const words: string[] = [];
  let end = 0;
  for (const { 0: match, index } of text.matchAll(split)) {
    if (end < index) words.push(text.slice(end, index));
    if (match !== '') words.push(match);
    end = index + match.length;
  }
  if (end < text.length) words.push(text.slice(end));
  return words;
}

/** Runs rules and turns untyped errors into ours, such as too large an expression or too long a string. */
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
