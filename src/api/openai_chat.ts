// POST /v1/chat/completions.

import type { ApiEngine, EngineChatOptions } from './api_engine';
import { answer, type Form, readSending, wireLogprobs } from './completion';
import type { Fields } from './fields';
import { Inbox } from './inbox';
import { readMessages, readTools } from './openai_messages';
import { MAX_LOGPROBS, readEffort, readOptions, refuseFields, refuseFormats } from './openai_request';
import type { CallPart, Piece } from './pieces';

/** A request for an engine. */
export interface ApiCall {
  engine: ApiEngine;
  body: Fields;
  /** The name of the model, as the answer gives it. */
  model: string;
  signal: AbortSignal | undefined;
}

const REFUSED = {
  audio: 'answers are text',
  functions: 'use tools',
  function_call: 'use tool_choice',
  web_search_options: 'nothing here searches the web',
  moderation: 'answers are not moderated',
  store: 'answers are not kept',
};

export async function chat({ engine, body, model, signal }: ApiCall): Promise<Response> {
  const messages = readMessages(body);
  const options = readChatOptions(body, engine);
  const sending = readSending(body);
  const inbox = new Inbox((stop) => engine.chat(messages, { ...options, signal: stop }), signal);
  return answer(inbox, {
    model,
    form: CHAT,
    ...sending,
    withLogprobs: options.logprobs !== undefined,
    maxCalls: body.flag('parallel_tool_calls') === false ? 1 : Number.POSITIVE_INFINITY,
    answersPerPrompt: options.n ?? 1,
    prompts: 1,
    signal,
  });
}

function readChatOptions(body: Fields, engine: ApiEngine): EngineChatOptions {
  refuseFields(body, REFUSED);
  refuseFormats(body.object('response_format'));
  if (body.list('modalities')?.some((modality) => modality !== 'text'))
    throw body.unsupported('modalities', 'answers are text');
  if ((body.word('verbosity', ['low', 'medium', 'high']) ?? 'medium') !== 'medium')
    throw body.unsupported('verbosity', 'ask for it in a message');
  const options: EngineChatOptions = { ...readOptions(body), ...readTools(body, true, engine.info.tools) };
  const top = body.integer('top_logprobs', 0, MAX_LOGPROBS);
  if (body.flag('logprobs')) options.logprobs = top ?? 0;
  else if (top !== undefined) throw body.wrong('top_logprobs', 'needs logprobs: true');
  const thinking = readEffort(body, 'reasoning_effort', engine);
  if (thinking) options.thinking = thinking;
  const variables = body.object('chat_template_kwargs');
  if (variables) options.templateArguments = variables.json;
  if (continuesLast(body)) options.continueLast = true;
  return options;
}

/** vLLM's pair of fields: an answer begins a message, or continues the last one. */
function continuesLast(body: Fields): boolean {
  const continues = body.flag('continue_final_message') ?? false;
  const begins = body.flag('add_generation_prompt') ?? !continues;
  if (continues === begins)
    throw body.wrong('add_generation_prompt', 'and continue_final_message: one of them must be true, and one false');
  return continues;
}

function wireCall({ index, id, name, arguments: text }: CallPart): object {
  if (name === undefined) return { index, function: { arguments: text } };
  return { index, id, type: 'function', function: { name, arguments: text } };
}

const CHAT: Form = {
  id: 'chatcmpl-',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  part: ({ reasoning, text, calls }, isFirst) => ({
    delta: {
      ...(isFirst && { role: 'assistant' }),
      ...(reasoning && { reasoning_content: reasoning }),
      ...((text || (isFirst && calls.length === 0)) && { content: text }),
      ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
    },
  }),
  whole: ({ reasoning, text, calls }) => ({
    message: {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      refusal: null,
      ...(reasoning && { reasoning_content: reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: text }) => ({
          id,
          type: 'function',
          function: { name, arguments: text },
        })),
      }),
    },
  }),
  logprobs: ({ logprobs }: Piece) => ({ content: logprobs.map(wireLogprobs), refusal: null }),
};
