// Arriving ids to the parts of an answer: text that can be shown at once, thinking, and calls of tools.

import { createStreamDecoder } from '../decode/stream_decoder';
import type { ChatSyntax } from '../template/chat_syntax';
import type { Tool } from '../template/message';
import type { Tokenizer } from '../tokenizer';

/** A part of an answer that is not its text. */
export type AnswerPart =
  | { type: 'reasoning'; text: string }
  | {
      /** A part of a call. The first of each `index` has `id` and `name`. The `arguments`, joined, are JSON text. */
      type: 'tool-call';
      /** The number of the call in the answer, from 0. */
      index: number;
      id?: string;
      name?: string;
      arguments: string;
    }
  /** A call whose arguments are no JSON object, or whose tool is unknown. `text`: as the model wrote it. */
  | { type: 'tool-call-error'; index: number; message: string; text: string };

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

export interface AnswerOptions {
  stop?: readonly string[];
  /** The ids continue a text, so that their first space is part of the text. Default: false. */
  goesOn?: boolean;
  /** The beginning of the answer, which the prompt holds. Default: none. */
  begun?: string;
  /** Default: the answer is nothing but text. */
  syntax?: ChatSyntax;
  /** The tools that may be called. Without any, a call is text. */
  tools?: readonly Tool[];
  /** `text`: thinking stays in the text, with its markers. Default: split. */
  reasoning?: 'split' | 'text';
}

export function createAnswerParser(tokenizer: Tokenizer, options: AnswerOptions = {}): AnswerParser {
  const decoder = createStreamDecoder(tokenizer, options);
  return {
    push: (id) => decoder.push(id),
    flush: () => decoder.flush(),
    parts: [],
    get stopped() {
      return decoder.stopped;
    },
    reasoningTokens: 0,
    calls: 0,
  };
}
