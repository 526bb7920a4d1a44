// A request of the engine as the body of one to a server of a kind.

import type { EngineChatOptions } from '../../engine/engine';
import type { ChatMessage, GenerateInput, Tool, ToolChoice } from '../../engine/protocol';
import { InvalidRequestError } from '../../errors';
import type { ServerKind } from '../options';
import { constraintFields } from './constraint_fields';

/** The options of an answer without those that stay here. A server may refuse a field that it does not know. */
export type AskedOptions = Omit<EngineChatOptions, 'signal' | 'n'>;

export interface RequestBody {
  path: '/chat/completions' | '/completions';
  body: { max_tokens?: number };
  /** Options that the server has no field for. */
  warnings: string[];
}

type Extra = 'topK' | 'minP' | 'repetitionPenalty' | 'minTokens' | 'ignoreEos';

const FIELDS: Readonly<Record<Extra, string>> = {
  topK: 'top_k',
  minP: 'min_p',
  repetitionPenalty: 'repetition_penalty',
  minTokens: 'min_tokens',
  ignoreEos: 'ignore_eos',
};

/** The names of options that differ by the kind of server. */
const RENAMED: Readonly<Record<ServerKind, Partial<Record<Extra, string | null>>>> = {
  vllm: {},
  sglang: {},
  vivace: {},
  'llama.cpp': { repetitionPenalty: 'repeat_penalty', minTokens: null },
  openai: { topK: null, minP: null, repetitionPenalty: null, minTokens: null, ignoreEos: null },
};

/** @throws InvalidRequestError for what this kind of server cannot do and what would change the answer's meaning */
export function requestBody(input: GenerateInput, options: AskedOptions, model: string, kind: ServerKind): RequestBody {
  const warnings: string[] = [];
  const isChat = 'messages' in input;
  const body = {
    model,
    ...(isChat ? chatFields(input, options, kind, warnings) : { prompt: 'ids' in input ? input.ids : input.prompt }),
    ...samplingFields(options),
    ...extraFields(options, kind, warnings),
    ...(options.logprobs !== undefined && logprobFields(options.logprobs, isChat)),
    ...(options.constraint && constraintFields(options.constraint, kind)),
    stream: true,
    stream_options: { include_usage: true, ...(kind === 'vllm' && { continuous_usage_stats: true }) },
    ...((kind === 'llama.cpp' || kind === 'vivace') && { return_progress: true, timings_per_token: true }),
  };
  return { path: isChat ? '/chat/completions' : '/completions', body, warnings };
}

function samplingFields(options: AskedOptions) {
  const { temperature, topP, presencePenalty, frequencyPenalty, maxTokens, seed, stop, logitBias } = options;
  return {
    temperature,
    top_p: topP,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    max_tokens: maxTokens,
    seed,
    stop: stop?.length ? stop : undefined,
    logit_bias: logitBias,
  };
}

function extraFields(options: AskedOptions, kind: ServerKind, warnings: string[]): object {
  const fields: Record<string, unknown> = {};
  for (const option of Object.keys(FIELDS) as Extra[]) {
    const value = options[option];
    const isGiven = value !== undefined && value !== false && !(option === 'minTokens' && value === 0);
    const field = option in RENAMED[kind] ? RENAMED[kind][option] : FIELDS[option];
    if (isGiven && field)
      fields[field] = option === 'topK' && value === 0 ? -1 : value; // vLLM's word for off
    else if (isGiven) warnings.push(notSent(option, kind));
  }
  if (options.reuseCache === false) {
    if (kind === 'llama.cpp') fields.cache_prompt = false;
    else warnings.push(notSent('reuseCache', kind));
  }
  return fields;
}

function notSent(option: string, kind: ServerKind): string {
  return `This server (${kind}) has no field for the option ${option}, which was left out.`;
}

function logprobFields(logprobs: number, isChat: boolean): object {
  return isChat ? { logprobs: true, top_logprobs: logprobs } : { logprobs };
}

type Conversation = Extract<GenerateInput, { messages: readonly ChatMessage[] }>;

function chatFields(input: Conversation, options: AskedOptions, kind: ServerKind, warnings: string[]): object {
  const { messages, tools = [], toolChoice, continueLast } = input;
  const isFree = options.toolArguments === 'free';
  return {
    messages: messages.map((message) => wireMessage(message, kind)),
    ...(tools.length > 0 && toolFields(tools, toolChoice, isFree, kind)),
    ...templateFields(input, options, kind, warnings),
    ...reasoningFields(options, kind, warnings),
    ...(continueLast && continueFields(kind)),
  };
}

function wireMessage({ role, content, reasoning, toolCalls, toolCallId }: ChatMessage, kind: ServerKind): object {
  const calls = toolCalls?.map(({ id, name, arguments: text }) => {
    return { id, type: 'function', function: { name, arguments: text } };
  });
  const isCalling = calls !== undefined && calls.length > 0;
  return {
    role,
    content: isCalling && content === '' ? null : content,
    ...(reasoning && kind !== 'openai' && { reasoning_content: reasoning }),
    ...(isCalling && { tool_calls: calls }),
    ...(role === 'tool' && { tool_call_id: toolCallId ?? '' }),
  };
}

/** llama.cpp reads a tool that is chosen by name as `auto`: it is sent as the only tool, and one is required. */
function toolFields(tools: readonly Tool[], choice: ToolChoice = 'auto', isFree: boolean, kind: ServerKind): object {
  const name = typeof choice === 'string' ? null : choice.name;
  const isAlone = name !== null && kind === 'llama.cpp';
  const offered = isAlone ? tools.filter((tool) => tool.name === name) : tools;
  const named = isAlone ? 'required' : { type: 'function', function: { name } };
  return {
    tools: offered.map((tool) => wireTool(tool, isFree)),
    tool_choice: name === null ? choice : named,
  };
}

function wireTool({ name, description, parameters }: Tool, isFree: boolean): object {
  return { type: 'function', function: { name, description, parameters, ...(isFree && { strict: false }) } };
}

/** The switch for thinking that most chat templates have, and the caller's variables. */
function templateFields(
  { templateArguments }: Conversation,
  { thinking = 'auto' }: AskedOptions,
  kind: ServerKind,
  warnings: string[],
): object {
  const switches = thinking === 'auto' ? {} : { enable_thinking: thinking === 'on' };
  const variables = { ...switches, ...templateArguments };
  if (Object.keys(variables).length === 0) return {};
  if (kind !== 'openai') return { chat_template_kwargs: variables };
  warnings.push(notSent(thinking === 'auto' ? 'templateArguments' : 'thinking', kind));
  return {};
}

/** `text`: the server does not part thinking from the answer. */
function reasoningFields({ reasoning }: AskedOptions, kind: ServerKind, warnings: string[]): object {
  if (reasoning !== 'text') return {};
  if (kind === 'llama.cpp') return { reasoning_format: 'none' };
  if (kind === 'sglang') return { separate_reasoning: false };
  warnings.push(notSent('reasoning', kind));
  return {};
}

function continueFields(kind: ServerKind): object {
  if (kind === 'llama.cpp') return {}; // it continues whatever ends with the assistant's message
  if (kind === 'openai')
    throw new InvalidRequestError('This server (openai) cannot continue a message: ask anew.', 'continueLast');
  return { continue_final_message: true, add_generation_prompt: false };
}
