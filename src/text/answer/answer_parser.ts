// Arriving ids to the parts of an answer: text that can be shown at once, thinking, and calls of tools. Shown text is
// never taken back.

import { createStreamDecoder } from '../decode/stream_decoder';
import type { Tokenizer } from '../tokenizer';
import type { AnswerOptions, AnswerPart } from './answer_part';
import { AnswerSplitter } from './answer_splitter';

export interface AnswerParser {
  /** The text of the answer that can be shown now; often empty. */
  push(id: number): string;
  /** The text held back, at the end of the answer. */
  flush(): string;
  /** The parts that the last push or flush completed. */
  readonly parts: readonly AnswerPart[];
  /** True once a stop string was found. The text ends before it, and further ids produce nothing. */
  readonly stopped: boolean;
  /** Tokens of thinking so far. */
  readonly reasoningTokens: number;
  /** Whole calls so far. */
  readonly calls: number;
}

export function createAnswerParser(tokenizer: Tokenizer, options: AnswerOptions = {}): AnswerParser {
  const { goesOn = false, begun = '', syntax, tools = [], readCalls } = options;
  const splitter = new AnswerSplitter(options);
  const calls = tools.length > 0 && readCalls ? syntax?.tools : null;
  const decoder = createStreamDecoder(tokenizer, goesOn, namesIn([syntax?.thinking, calls]).trim());
  let early = begun === '' ? '' : splitter.begin(begun);
  let isNew = true; // the parts of `begun` are not passed on yet
  let reasoningTokens = 0;

  const add = (text: string, last: boolean): string => {
    if (!isNew) splitter.parts.length = 0;
    isNew = false;
    if (splitter.stopped) return '';
    const shown = early + splitter.add(text, last);
    early = '';
    return shown;
  };
  return {
    push(id) {
      const before = splitter.isThinking;
      const shown = add(decoder.push(id), false);
      if (before || splitter.isThinking) reasoningTokens++;
      return shown;
    },
    flush: () => add(decoder.flush(), true),
    get parts() {
      return splitter.parts;
    },
    get stopped() {
      return splitter.stopped;
    },
    get reasoningTokens() {
      return reasoningTokens;
    },
    get calls() {
      return splitter.calls;
    },
  };
}

/** The texts of the syntax, which may name control tokens. */
function namesIn(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? Object.values(value).map(namesIn).join('\n') : '';
}
