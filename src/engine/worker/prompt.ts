// Requests to ids.

import { ContextOverflowError, InvalidRequestError, TokenizerError } from '../../errors';
import type { ChatTemplate } from '../../text/template/chat_template';
import type { Tokenizer } from '../../text/tokenizer';
import type { GenerateInput } from '../protocol';
import type { Session } from './session';

const ROLES = new Set(['system', 'user', 'assistant']);

/**
 * The ids of a prompt or of messages. Refuses empty input, malformed messages, and more tokens than the context holds.
 */
export function promptIds(
  input: GenerateInput,
  { tokenizer, template, vocabSize, backend: { contextLength } }: Session,
): Uint32Array<ArrayBuffer> {
  const ids = idsOf(input, tokenizer, template);
  if (ids.length >= contextLength) throw new ContextOverflowError(ids.length, contextLength);
  const stray = ids.find((id) => id >= vocabSize);
  if (stray !== undefined) {
    throw new TokenizerError(
      `The tokenizer gave token ${stray}, but the model has ${vocabSize} rows: the two files do not belong together.`,
    );
  }
  return Uint32Array.from(ids);
}

function idsOf(input: GenerateInput, tokenizer: Tokenizer, template: ChatTemplate | null): Uint32Array {
  if ('messages' in input) return chatIds(input.messages, tokenizer, template);
  return 'ids' in input ? Uint32Array.from(input.ids) : textIds(input.prompt, tokenizer);
}

/** True if the answer continues the text of a prompt. */
export function goesOn(input: GenerateInput, prompt: Uint32Array, tokenizer: Tokenizer): boolean {
  return !('messages' in input) && prompt.some((id) => tokenizer.tokenBytes(id).length > 0);
}

/** The ids of a prompt. For an empty one the model begins a text. */
function textIds(prompt: unknown, tokenizer: Tokenizer): Uint32Array {
  if (typeof prompt !== 'string') throw new InvalidRequestError(`The prompt must be text, got ${typeof prompt}.`);
  const ids = tokenizer.encode(prompt, { addSpecialTokens: true });
  if (ids.length > 0) return ids;
  const { bosToken } = tokenizer;
  if (bosToken) return tokenizer.encode(bosToken, { addSpecialTokens: false });
  throw new InvalidRequestError(
    'The prompt is empty, and this vocabulary has no token that begins a text. Write at least one character.',
  );
}

function chatIds(messages: unknown, tokenizer: Tokenizer, template: ChatTemplate | null): Uint32Array {
  if (!template) {
    throw new InvalidRequestError('This model has no chat template. Use complete() with a prompt, or --raw.');
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new InvalidRequestError('A chat needs at least one message, got none.');
  }
  for (const [i, message] of messages.entries()) {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    if (!ROLES.has(role as string) || typeof content !== 'string') {
      throw new InvalidRequestError(`Message ${i} needs a role (system, user or assistant) and text as its content.`);
    }
  }
  if (messages[messages.length - 1].content.trim() === '') {
    throw new InvalidRequestError('The message is empty. Write at least one character.');
  }
  return template.encode({ messages }, tokenizer).ids;
}
