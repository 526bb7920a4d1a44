// The input of a response, as messages and options of the engine.

import type { ApiEngine, ChatMessage, EngineChatOptions } from '../../api_engine';
import type { ResponseRequest, WireItem } from '../http/wire_types';
import { flatFormat } from './constraint';
import { content, textOf } from './content';
import { effort, readChatOptions, SHARED, verbosity } from './options';
import { type Check, either, list, object, only, refuse, text, word } from './schema';
import { FUNCTION, toolChoice, toolList } from './tools';

const CONTENT = content('input_text', 'output_text', 'text', 'refusal');
const THOUGHTS = list(object({ 'text!': text }));

/** Checks of an input's items by their type. */
const ITEMS: Readonly<Record<string, Check>> = {
  message: object({ 'role!': word('system', 'developer', 'user', 'assistant'), 'content!': CONTENT }),
  reasoning: object({ content: THOUGHTS, summary: THOUGHTS }),
  function_call: object({ 'call_id!': text, 'name!': text, 'arguments!': text }),
  function_call_output: object({ 'call_id!': text, 'output!': CONTENT }),
};

const item: Check = (value, param) => {
  object({ type: word(...Object.keys(ITEMS)) })(value, param);
  ITEMS[(value as WireItem).type ?? 'message'](value, param);
};

/** A tool, without what OpenAI's own tools do with it. */
const TOOL = {
  ...FUNCTION,
  ...refuse('defer_loading'),
  allowed_callers: list(only('direct', 'the model calls it')),
};

const REASONING = {
  effort,
  context: only('auto', 'the chat template chooses'),
  mode: only('standard', 'the model has one'),
};

const RESPONSE_REQUEST = object({
  ...SHARED,
  'input!': either(text, list(item, 1)),
  instructions: text,
  tools: toolList(TOOL),
  tool_choice: toolChoice({ 'name!': text }),
  include: list(text),
  reasoning: object(REASONING),
  text: object({ format: flatFormat, verbosity }),
  truncation: only('disabled', 'send a shorter input'),
  n: only(1, 'send several requests'),
  ...refuse('background context_management moderation prompt return_progress store timings_per_token'),
  // Fields of chat completions that have another name here.
  ...refuse('response_format', 'send text.format'),
  ...refuse('reasoning_effort', 'send reasoning.effort'),
  ...refuse('verbosity', 'send text.verbosity'),
  ...refuse('logprobs', 'send include'),
  ...refuse('conversation previous_response_id', 'send the whole input'),
});

/** The messages and options of a request. @throws ApiError */
export function readResponse(
  json: unknown,
  engine: ApiEngine,
): { body: ResponseRequest; messages: ChatMessage[]; options: EngineChatOptions } {
  RESPONSE_REQUEST(json, '');
  const body = json as ResponseRequest;
  const { include, reasoning, tools, top_logprobs } = body;
  const isLogged = top_logprobs || include?.includes('message.output_text.logprobs');
  const effort = { param: 'reasoning.effort', value: reasoning?.effort };
  const format = { param: 'text.format', value: body.text?.format };
  const options = readChatOptions(body, engine, tools ?? undefined, effort, format, isLogged);
  return { body, messages: readInput(body), options };
}

type ToolCall = NonNullable<ChatMessage['toolCalls']>[number];
type Message = { -readonly [K in keyof ChatMessage]: ChatMessage[K] };

function readInput({ instructions, input }: ResponseRequest): ChatMessage[] {
  const messages: Message[] = instructions ? [{ role: 'system', content: instructions }] : [];
  const items = typeof input === 'string' ? [{ role: 'user', content: input } as const] : input;
  for (const item of items) addItem(item, messages);
  return messages;
}

/** Thinking, text and calls of an answer are items in this order, and one message. */
function addItem(item: WireItem, messages: Message[]): void {
  const { type, role, call_id: id = '' } = item as WireItem & { call_id?: string };
  if (type === 'function_call_output') messages.push({ role: 'tool', content: textOf(item.output), toolCallId: id });
  else if (type === 'function_call') {
    const { name, arguments: text } = item as ToolCall;
    const answer = openAnswer(messages, true);
    answer.toolCalls = [...(answer.toolCalls ?? []), { id, name, arguments: text }];
  } else if (type === 'reasoning') {
    const parts = item.content?.length ? item.content : item.summary;
    const reasoning = textOf(parts as WireItem['content']);
    if (reasoning) openAnswer(messages, false).reasoning = reasoning;
  } else if (role === 'assistant') openAnswer(messages, false).content = textOf(item.content);
  else messages.push({ role: role === 'user' ? role : 'system', content: textOf(item.content) });
}

/** The answer that an item belongs to: the last message if that is an answer without text and calls, else a new one. */
function openAnswer(messages: Message[], isCall: boolean): Message {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && (isCall || (last.content === '' && !last.toolCalls))) return last;
  const answer: Message = { role: 'assistant', content: '' };
  messages.push(answer);
  return answer;
}
