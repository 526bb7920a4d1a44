// The input of a response, as messages and options of the engine.

import type { ApiEngine, ChatMessage, EngineChatOptions } from './api_engine';
import { Fields } from './fields';
import { readContent, readTools } from './openai_messages';
import { MAX_LOGPROBS, readEffort, readOptions, refuseFields, refuseFormats } from './openai_request';

/** The items of earlier responses by id, for inputs that only name them. */
export type KeptItems = ReadonlyMap<string, object>;

const REFUSED = {
  background: 'answers come while the page is open',
  context_management: 'nothing is compacted here',
  conversation: 'nothing is kept here, send the whole input',
  moderation: 'answers are not moderated',
  previous_response_id: 'nothing is kept here, send the whole input',
  prompt: 'there are no stored prompts here, send instructions and input',
  store: 'answers are not kept',
};

const ROLES = ['system', 'developer', 'user', 'assistant'] as const;
const PARTS = ['input_text', 'output_text', 'text', 'refusal'];

export function readInput(body: Fields, kept: KeptItems): ChatMessage[] {
  const messages: Writable[] = [];
  const instructions = body.text('instructions');
  if (instructions) messages.push({ role: 'system', content: instructions });
  if (typeof body.json.input === 'string') return [...messages, { role: 'user', content: body.json.input }];
  const items = body.need('input', body.objects('input'));
  if (items.length === 0) throw body.wrong('input', 'must hold at least one item');
  for (const item of items) readItem(item, messages, kept);
  return messages;
}

type Writable = { -readonly [K in keyof ChatMessage]: ChatMessage[K] };

function readItem(item: Fields, messages: Writable[], kept: KeptItems): void {
  const type = item.text('type') ?? 'message';
  if (type === 'message') readMessage(item, messages);
  else if (type === 'reasoning') readReasoning(item, messages);
  else if (type === 'function_call') {
    const answer = openAnswer(messages, () => true);
    answer.toolCalls = [...(answer.toolCalls ?? []), readCall(item)];
  } else if (type === 'function_call_output') {
    const content = item.need('output', readContent(item, 'output', PARTS));
    messages.push({ role: 'tool', content, toolCallId: item.need('call_id', item.text('call_id')) });
  } else if (type === 'item_reference') {
    const found = kept.get(item.need('id', item.text('id')));
    if (!found) throw item.wrong('id', 'names no item that is kept here, send the item itself');
    readItem(Fields.of(found, item.param('id')), messages, kept);
  } else throw item.unsupported('type', 'items are messages, reasoning, function_call and function_call_output');
}

function readReasoning(item: Fields, messages: Writable[]): void {
  const reasoning = readThoughts(item, 'content') || readThoughts(item, 'summary');
  if (reasoning) openAnswer(messages, isEmpty).reasoning = reasoning;
}

function readMessage(item: Fields, messages: Writable[]): void {
  const role = item.need('role', item.word('role', ROLES));
  const content = item.need('content', readContent(item, 'content', PARTS));
  if (role === 'assistant') openAnswer(messages, isEmpty).content = content;
  else messages.push({ role: role === 'user' ? role : 'system', content });
}

function isEmpty({ content, toolCalls }: ChatMessage): boolean {
  return content === '' && !toolCalls;
}

/** The answer that an item belongs to: the last message if it is one and `fits`, else a new one. */
function openAnswer(messages: Writable[], fits: (answer: ChatMessage) => boolean): Writable {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && fits(last)) return last;
  const answer: Writable = { role: 'assistant', content: '' };
  messages.push(answer);
  return answer;
}

function readThoughts(item: Fields, key: string): string {
  const parts = item.objects(key) ?? [];
  return parts.map((part) => part.need('text', part.text('text'))).join('');
}

function readCall(item: Fields): NonNullable<ChatMessage['toolCalls']>[number] {
  return {
    id: item.need('call_id', item.text('call_id')),
    name: item.need('name', item.text('name')),
    arguments: item.need('arguments', item.text('arguments')),
  };
}

export function readResponseOptions(body: Fields, engine: ApiEngine): EngineChatOptions {
  refuseFields(body, REFUSED);
  const text = body.object('text');
  refuseFormats(text?.object('format'));
  if ((text?.word('verbosity', ['low', 'medium', 'high']) ?? 'medium') !== 'medium')
    throw text?.unsupported('verbosity', 'ask for it in a message');
  if ((body.word('truncation', ['auto', 'disabled']) ?? 'disabled') !== 'disabled')
    throw body.unsupported('truncation', 'inputs are not cut, send a shorter one');
  const options: EngineChatOptions = { ...readOptions(body), ...readTools(body, false, engine.info.tools) };
  if (options.n !== undefined && options.n > 1) throw body.unsupported('n', 'a response is one answer');
  const top = body.integer('top_logprobs', 0, MAX_LOGPROBS);
  const includes = body.list('include')?.includes('message.output_text.logprobs');
  if (includes || top) options.logprobs = top ?? 0;
  const reasoning = body.object('reasoning');
  const thinking = reasoning && readEffort(reasoning, 'effort', engine);
  if (thinking) options.thinking = thinking;
  const variables = body.object('chat_template_kwargs');
  if (variables) options.templateArguments = variables.json;
  return options;
}
