// Requests to ids.

import { ContextOverflowError, InvalidRequestError, TokenizerError } from '../../../errors';
import type { ChatTemplate } from '../../../text/template/chat_template';
import { withProvenance } from '../../../text/template/late_provenance';
import type { ChatRequest } from '../../../text/template/message';
import type { Tokenizer } from '../../../text/tokenizer';
import type { ChatMessage, GenerateInput, GenerateOptions, ResumedAnswer } from '../../protocol';
import { sharedPrefix } from '../prefix_cache/shared_prefix';
import { checkChat } from './chat_checks';
import { patiently } from './patience';
import type { Session } from './session';

export interface Prompt {
  ids: Uint32Array<ArrayBuffer>;
  /** The beginning of the answer that the ids hold already. */
  begun: string;
  /** The answer continues a text. */
  goesOn: boolean;
  /** The conversation, checked. Null for text and ids. */
  chat: ChatRequest | null;
}

type Thinking = GenerateOptions['thinking'];

/**
 * The ids of an input, however many.
 * @throws InvalidRequestError for malformed or empty input, MissingPartError
 */
export async function encodeInput(input: GenerateInput, thinking: Thinking, session: Session): Promise<Prompt> {
  const { ids, ...prompt } = await withProvenance(() => promptOf(input, thinking, session));
  const { vocabSize } = session;
  const stray = ids.find((id) => id >= vocabSize);
  if (stray !== undefined) {
    throw new TokenizerError(
      `The tokenizer gave token ${stray}, but the model has ${vocabSize} rows: the two files do not belong together.`,
    );
  }
  return { ids: Uint32Array.from(ids), ...prompt };
}

/**
 * The ids of an input that leaves room for an answer, and the ids of the answer that have been told. A resumed answer
 * keeps its own prompt, and the input says how the answer began: a template may name the date.
 * @throws ContextOverflowError, and as `encodeInput`
 */
export async function fittingPrompt(
  input: GenerateInput,
  thinking: Thinking,
  session: Session,
  resumed?: ResumedAnswer,
): Promise<Prompt & { told: readonly number[] }> {
  const { vocabSize } = session;
  const { contextLength } = session.backend;
  const checkRoom = (length: number) => {
    if (length >= contextLength) throw new ContextOverflowError(length, contextLength);
  };
  const given: unknown = resumed ? resumed.promptIds : 'ids' in input && input.ids;
  if (Array.isArray(given)) checkRoom(given.length); // before a look at each
  const prompt = await encodeInput(input, thinking, session);
  if (!resumed) {
    checkRoom(prompt.ids.length);
    return { ...prompt, told: [] };
  }
  const ids = checkIds(resumed.promptIds, vocabSize);
  const isBefore = Array.isArray(resumed.ids) && resumed.ids.length === 0; // nothing has been told yet
  return { ...prompt, ids, told: isBefore ? [] : Array.from(checkIds(resumed.ids, vocabSize)) };
}

/** A question that no conversation begins with. */
const OTHER_QUESTION = '\u00a7';

/** Leading ids that a conversation with another first question has, too: those of the system prompt and tools. */
export function systemTokens(ids: Uint32Array, chat: ChatRequest | null, session: Session): number {
  const [first] = chat?.messages ?? [];
  const isSystem = first?.role === 'system';
  if (!chat || !(isSystem || chat.tools?.length)) return 0;
  const messages = [...(isSystem ? [first] : []), { role: 'user', content: OTHER_QUESTION }] as ChatMessage[];
  try {
    const other = withTemplate(session.template).encode({ ...chat, messages, continueLast: false }, session.tokenizer);
    return sharedPrefix(other.ids, ids);
  } catch {
    return 0; // a template may refuse what nobody asked
  }
}

/** Thinking that no model thinks. */
const THOUGHT = 'xTHOUGHTx';
const dropping = new WeakMap<ChatTemplate, boolean>();

/** True if the template leaves the thinking of earlier answers out of a prompt. */
export function dropsThinking({ template }: Session): boolean {
  if (!template) return false;
  const known = dropping.get(template);
  if (known !== undefined) return known;
  const user = { role: 'user', content: OTHER_QUESTION } as const;
  const messages = [user, { role: 'assistant', content: OTHER_QUESTION, reasoning: THOUGHT } as const, user];
  let drops = false;
  try {
    drops = !template.render({ messages }, { addGenerationPrompt: true }).includes(THOUGHT);
  } catch {
    // a template may refuse what nobody asked
  }
  dropping.set(template, drops);
  return drops;
}

function promptOf(
  input: GenerateInput,
  thinking: Thinking,
  session: Session,
): Omit<Prompt, 'ids'> & { ids: Uint32Array } {
  const { tokenizer, template } = session;
  if ('messages' in input) {
    const chat = { ...checkChat(input), thinking };
    const encode = () => withTemplate(template).encode(chat, tokenizer);
    return { ...patiently(sizeOf(chat), encode), chat };
  }
  if (thinking !== undefined && thinking !== 'auto') {
    throw new InvalidRequestError(
      `thinking ${thinking} needs a conversation: a chat template switches it. Use chat().`,
      'thinking',
    );
  }
  const ids = 'ids' in input ? checkIds(input.ids, session.vocabSize) : textIds(input.prompt, tokenizer);
  const goesOn = ids.some((id) => tokenizer.tokenBytes(id).length > 0);
  return { ids, begun: '', goesOn, chat: null };
}

/** Characters of a message that take as long as the rendering of an empty one. */
const MESSAGE_SIZE = 100;

/** Characters of a checked conversation. */
function sizeOf({ messages, tools, templateArguments }: ChatRequest): number {
  const sizes = messages.map(({ content, reasoning = '', toolCalls = [] }) =>
    toolCalls.reduce((sum, call) => sum + call.arguments.length, MESSAGE_SIZE + content.length + reasoning.length),
  );
  return sizes.reduce((sum, size) => sum + size, JSON.stringify([tools, templateArguments]).length);
}

function withTemplate(template: ChatTemplate | null): ChatTemplate {
  if (template) return template;
  throw new InvalidRequestError('This model has no chat template. Use complete() with a prompt, or --raw.', 'messages');
}

function checkIds(ids: unknown, vocabSize: number): Uint32Array<ArrayBuffer> {
  if (!Array.isArray(ids) || ids.length === 0) {
    throw new InvalidRequestError('The prompt must be text or an array of at least one token id.', 'prompt');
  }
  const stray = ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < vocabSize));
  if (stray >= 0) {
    throw new InvalidRequestError(
      `ids must be whole numbers from 0 to ${vocabSize - 1}, got ${String(ids[stray]).slice(0, 80)} at ${stray}.`,
      'prompt',
    );
  }
  return Uint32Array.from(ids);
}

/** The ids of a prompt. For an empty one the model begins a text. */
function textIds(prompt: unknown, tokenizer: Tokenizer): Uint32Array {
  if (typeof prompt !== 'string')
    throw new InvalidRequestError(`The prompt must be text, got ${typeof prompt}.`, 'prompt');
  const ids = patiently(prompt.length, () => tokenizer.encode(prompt, { addSpecialTokens: true }));
  if (ids.length > 0) return ids;
  const { bosToken } = tokenizer;
  if (bosToken) return tokenizer.encode(bosToken, { addSpecialTokens: false });
  throw new InvalidRequestError(
    'The prompt is empty, and this vocabulary has no token that begins a text. Write at least one character.',
    'prompt',
  );
}
