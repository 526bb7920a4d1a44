// The fields of a request that set how an answer is made: their checks, and the engine's options.

import { isJsonObject } from '../../shared/json_object';
import type { ApiEngine, EngineChatOptions, EngineGenerateOptions } from '../api_engine';
import { CONSTRAINTS, readConstraint } from './constraint';
import { invalid, unsupported } from './errors';
import { type Check, either, flag, form, integer, list, number, object, only, text, word } from './schema';
import type { SharedRequest, WireContent, WireFormat, WireFunction } from './wire_types';

type Tool = NonNullable<EngineChatOptions['tools']>[number];
type Range = readonly [min: number, max: number];

/** Fields for a number option of the engine, which has the same name and range. */
export const NUMBERS: Readonly<Record<string, Range>> = {
  temperature: [0, 100],
  top_p: [0, 1],
  min_p: [0, 1],
  repetition_penalty: [0.01, 100],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
};

const MAX_U32 = 2 ** 32 - 1;
const MAX_STOPS = 64;
const MAX_BIASES = 1024;
const MAX_BIAS = 100;
export const MAX_LOGPROBS = 20;
export const MAX_TOOLS = 128;

/** A text that is not empty. */
const someText = /* @__PURE__ */ form(
  'a string that is not empty',
  (value) => value !== '' && typeof value === 'string',
);

/** The name of a tool, as the engine takes it: OpenAI's form, and dots. */
const toolName = /* @__PURE__ */ form(
  'a string of 1 to 64 letters, digits, _, - and .',
  (value) => typeof value === 'string' && /^[\w.-]{1,64}$/.test(value),
);

const biases: Check = (value, param) => {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const isBias = ([id, bias]: [string, unknown]) =>
    /^\d{1,9}$/.test(id) && typeof bias === 'number' && Math.abs(bias) <= MAX_BIAS;
  if (!isJsonObject(value) || entries.length > MAX_BIASES || !entries.every(isBias))
    throw invalid(param, `must map up to ${MAX_BIASES} token ids to numbers up to ${MAX_BIAS}`);
};

/** Checks of the fields that all routes of generated text share. */
export const SHARED: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(Object.entries(NUMBERS).map(([key, [min, max]]) => [key, number(min, max)])),
  max_tokens: integer(1),
  max_completion_tokens: integer(1),
  max_output_tokens: integer(1),
  min_tokens: integer(0),
  top_k: integer(-1, MAX_U32),
  top_logprobs: integer(0, MAX_LOGPROBS),
  n: integer(1, 128),
  seed: integer(Number.MIN_SAFE_INTEGER),
  stop: either(someText, list(someText, 0, MAX_STOPS)),
  ignore_eos: flag,
  ...CONSTRAINTS,
  logit_bias: biases,
  chat_template_kwargs: object(),
  stream: flag,
  stream_options: object({ include_usage: flag }),
  return_progress: flag,
  timings_per_token: flag,
  parallel_tool_calls: flag,
};

/** The options of the shared fields. */
export function readOptions(body: SharedRequest): EngineGenerateOptions {
  const options: Record<string, unknown> = {};
  const numbers = body as Readonly<Record<string, number | undefined>>;
  for (const key of [...Object.keys(NUMBERS), 'n', 'min_tokens'])
    options[key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())] = numbers[key] ?? undefined;
  const { top_k, seed, stop } = body;
  return {
    ...options,
    maxTokens: body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens ?? undefined,
    topK: top_k == null ? undefined : Math.max(top_k, 0), // vLLM's -1 turns it off, as 0 does
    seed: seed == null ? undefined : seed >>> 0,
    stop: typeof stop === 'string' ? [stop] : (stop ?? undefined),
    logitBias: body.logit_bias ?? undefined,
    ignoreEos: body.ignore_eos ?? undefined,
  };
}

export const effort = word('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');

export const verbosity = only('medium', 'ask for it in a message');

/** `none` turns thinking off, any other effort turns it on: there are no degrees of it. */
function readEffort(effort: string | null | undefined, param: string, { info }: ApiEngine): EngineChatOptions {
  if (!effort) return {};
  const isOn = effort !== 'none';
  if (info.thinking === (isOn ? 'none' : 'always'))
    throw unsupported(param, `the model ${isOn ? 'does not think' : 'always thinks'}`);
  return info.thinking === 'optional' ? { thinking: isOn ? 'on' : 'off' } : {};
}

/** The name, description and parameters of a tool. Arguments fit them, unless all tools say `strict: false`. */
export const FUNCTION: Readonly<Record<string, Check>> = {
  'name!': toolName,
  description: text,
  parameters: object(),
};

export const isFunction = only('function', 'tools are functions');

/** @param named the checks of an object that names a tool, beside its type */
export function toolChoice(named: Readonly<Record<string, Check>>): Check {
  return either(word('none', 'auto', 'required'), object({ 'type!': isFunction, ...named }));
}

export function readFunction({ name, description, parameters }: WireFunction): Tool {
  return { name, description: description ?? undefined, parameters: parameters ?? undefined };
}

/** The tools and the choice of one. `required` and names need tools. */
function readTools(
  { info }: ApiEngine,
  functions: readonly WireFunction[] = [],
  choice: SharedRequest['tool_choice'],
): Pick<EngineChatOptions, 'tools' | 'toolChoice' | 'toolArguments'> {
  const name = typeof choice === 'object' ? (choice?.function?.name ?? choice?.name) : undefined;
  const tools = functions.map(readFunction);
  const names = new Set(tools.map((tool) => tool.name));
  if (names.size < tools.length) throw invalid('tools', 'must have different names');
  if (name !== undefined ? !names.has(name) : choice === 'required' && tools.length === 0)
    throw invalid('tool_choice', 'must be one of the tools');
  if (tools.length === 0 || choice === 'none') return {};
  if (!info.tools) throw unsupported('tools', 'the chat template takes none');
  const isFree = functions.every(({ strict }) => strict === false);
  const toolArguments = isFree ? 'free' : undefined;
  return {
    tools,
    toolArguments,
    toolChoice: name === undefined ? (choice as 'auto' | 'required' | undefined) : { name },
  };
}

/** The options of a conversation, of the fields that chat completions and responses name or nest differently. */
export function readChatOptions(
  body: SharedRequest,
  engine: ApiEngine,
  functions: readonly WireFunction[] | undefined,
  effort: { param: string; value: string | null | undefined },
  format: { param: string; value: WireFormat | null | undefined },
  isLogged: unknown,
): EngineChatOptions {
  const tools = readTools(engine, functions, body.tool_choice);
  return {
    ...readOptions(body),
    ...tools,
    ...readConstraint(body, format.value, format.param),
    ...readEffort(effort.value, effort.param, engine),
    templateArguments: body.chat_template_kwargs ?? undefined,
    logprobs: isLogged ? (body.top_logprobs ?? 0) : undefined,
  };
}

/** A content: a text, or parts that each hold a text. */
export function content(...types: readonly string[]): Check {
  const part: Check = (value, param) => {
    object({ 'type!': text })(value, param);
    const { type } = value as { type: string };
    if (!types.includes(type)) throw unsupported(`${param}.type`, 'the model reads text');
    object({ [type === 'refusal' ? 'refusal!' : 'text!']: text })(value, param);
  };
  return either(text, list(part));
}

export function textOf(content: WireContent | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? part.refusal).join('');
}
