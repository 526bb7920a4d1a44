// What an answer holds beside its text, and how it is read. Types only.

import type { Tool } from '../template/message';
import type { ChatSyntax, ToolSyntax } from '../template/syntax/chat_syntax';

/** A part of an answer that is not its text. */
export type AnswerPart =
  /** A part of the thinking. */
  | { type: 'reasoning'; text: string }
  /** A part of a call. The first of each `index` has `id` and `name`. The `arguments`, joined, are JSON text. */
  | {
      type: 'tool-call';
      /** The number of the call in the answer, from 0. */
      index: number;
      id?: string;
      name?: string;
      arguments: string;
    }
  /** A call whose arguments are no JSON object, or whose tool is unknown. `text`: as the model wrote it. */
  | { type: 'tool-call-error'; index: number; message: string; text: string };

/** Reads calls that follow one another. */
export interface CallReader {
  /** Text that is not part of a call, once `isDone`. */
  readonly rest: string;
  readonly isDone: boolean;
  push(text: string): void;
  /** The end of the answer. */
  flush(): void;
}

/** @param index the number of the first call */
export type ReadCalls = (
  syntax: ToolSyntax,
  tools: readonly Tool[],
  index: number,
  emit: (part: AnswerPart) => void,
  onWhole: () => void,
) => CallReader;

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
  /** The parser of calls (call_parser.ts). Without it, a call is text. */
  readCalls?: ReadCalls;
  /** `text`: thinking stays in the text, with its markers. Default: split. */
  reasoning?: 'split' | 'text';
}
