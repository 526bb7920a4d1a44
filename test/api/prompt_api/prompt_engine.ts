// An engine of the Prompt API that answers with a script and counts words as tokens.

import type { PromptEngine } from '../../../src/api/prompt_api/language_model';
import type { EngineChatOptions } from '../../../src/engine/engine';
import type { ChatMessage, ChatSettings, EngineEvent, FinishReason } from '../../../src/engine/protocol';

interface Asked {
  messages: readonly ChatMessage[];
  options: EngineChatOptions;
}

/** Events of an answer, or its words. */
export type Line = string | readonly EngineEvent[];

export interface Script {
  contextLength?: number;
  info?: Partial<PromptEngine['info']>;
  /** The answers in order, or a function of the request. Default: an echo of the last message. */
  answers?: Line[] | ((asked: Asked) => Line | Promise<Line>);
  /** Refuses conversations without a question by the user, as some chat templates do. */
  needsQuestion?: boolean;
}

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;

/** Two tokens for each message, one for each word, ten for each tool. */
function tokensOf(messages: readonly ChatMessage[], { tools = [] }: ChatSettings = {}): number {
  return messages.reduce((sum, { content }) => sum + 2 + words(content), 0) + 10 * tools.length;
}

export const token = (text: string) => ({ type: 'token', text }) as EngineEvent;

export function done(asked: Asked, completionTokens = 0, finishReason: FinishReason = 'eos', text = ''): EngineEvent {
  const usage = {
    promptTokens: tokensOf(asked.messages, asked.options),
    cachedTokens: 0,
    completionTokens,
    reasoningTokens: 0,
  };
  return { type: 'done', text, finishReason, seed: 1, usage } as EngineEvent;
}

export function codeError(code: string, fields: object = {}): Error {
  return Object.assign(new Error(`Failed: ${code}.`), { code }, fields);
}

export function scriptedEngine({ contextLength = 100, info, answers, needsQuestion }: Script = {}) {
  const asked: Asked[] = [];
  const counted: Asked[] = [];
  const refuse = (messages: readonly ChatMessage[]) => {
    if (needsQuestion && !messages.some(({ role }) => role === 'user')) throw codeError('chat-template');
  };
  const lineOf = (request: Asked): Line | Promise<Line> => {
    if (typeof answers === 'function') return answers(request);
    return answers ? (answers.shift() ?? 'out of lines') : `Echo: ${request.messages.at(-1)?.content}`;
  };
  const engine = {
    info: { contextLength, hasChatTemplate: true, tools: true, thinking: 'none', ...info } as PromptEngine['info'],
    lost: null as Error | null,
    async *chat(messages: readonly ChatMessage[], options: EngineChatOptions = {}): AsyncGenerator<EngineEvent> {
      const request = { messages, options };
      asked.push(request);
      if (messages.at(-1)?.content.trim() === '') throw codeError('invalid-request');
      refuse(messages);
      const line = await lineOf(request);
      const parts = typeof line === 'string' ? line.split(/(?= )/).map(token) : line;
      for (const part of parts) {
        await null;
        if (options.signal?.aborted) {
          yield done(request, 0, 'abort');
          return;
        }
        yield part;
      }
      if (parts.at(-1)?.type !== 'done') yield done(request, typeof line === 'string' ? words(line) : parts.length);
    },
    async countTokens(messages: readonly ChatMessage[], options: ChatSettings = {}): Promise<number> {
      counted.push({ messages, options });
      refuse(messages);
      return tokensOf(messages, options);
    },
  } satisfies PromptEngine;
  return { engine, asked, counted };
}

/** The error of a promise that must reject. */
export async function errorOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('It did not reject.');
}
