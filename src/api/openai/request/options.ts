// The fields of a request that set how an answer is made: their checks, and the engine's options.

import { isJsonObject } from '../../../shared/json_object';
import type { ApiEngine, EngineChatOptions, EngineGenerateOptions } from '../../api_engine';
import { invalid, unsupported } from '../http/errors';
import type { SharedRequest, WireFormat, WireFunction } from '../http/wire_types';
import { CONSTRAINTS, readConstraint } from './constraint';
import { type Check, either, flag, form, integer, list, number, object, only, word } from './schema';
import { readTools } from './tools';

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

/** A text that is not empty. */
const someText = /* @__PURE__ */ form(
  'a string that is not empty',
  (value) => value !== '' && typeof value === 'string',
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
