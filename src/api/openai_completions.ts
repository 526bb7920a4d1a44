// POST /v1/completions.

import type { ApiEngine, EngineEvent, EngineGenerateOptions } from './api_engine';
import { answer, type Form, readSending } from './completion';
import type { Fields } from './fields';
import { Inbox } from './inbox';
import type { ApiCall } from './openai_chat';
import { MAX_LOGPROBS, readOptions, refuseFields } from './openai_request';
import type { Logprobs } from './pieces';

type Prompt = string | readonly number[];

/** Most prompts of a request. */
const MAX_PROMPTS = 128;

export async function complete({ engine, body, model, signal }: ApiCall): Promise<Response> {
  const prompts = readPrompts(body);
  const options = readCompletionOptions(body);
  const sending = readSending(body);
  const n = options.n ?? 1;
  const echoes = body.flag('echo') ? readEchoes(body, prompts, options) : null;
  const start = (stop: AbortSignal) => completeAll(engine, prompts, { ...options, signal: stop }, n);
  return answer(new Inbox(start, signal), {
    model,
    form: createForm((choice) => echoes?.[Math.floor(choice / n)] ?? ''),
    ...sending,
    withLogprobs: options.logprobs !== undefined,
    maxCalls: 0,
    answersPerPrompt: n,
    prompts: prompts.length,
    signal,
  });
}

/** Answers prompts one after another. Choices of the second follow those of the first. */
async function* completeAll(
  engine: ApiEngine,
  prompts: readonly Prompt[],
  options: EngineGenerateOptions,
  n: number,
): AsyncGenerator<EngineEvent> {
  for (const [i, prompt] of prompts.entries())
    for await (const event of engine.complete(prompt, options))
      yield event.type === 'start' ? { ...event, choice: i * n + event.choice } : event;
}

function readPrompts(body: Fields): readonly Prompt[] {
  const { prompt } = body.json;
  const prompts = typeof prompt === 'string' || isIds(prompt) ? [prompt] : body.need('prompt', body.list('prompt'));
  const areTexts = prompts.every((item) => typeof item === 'string');
  if (prompts.length > 0 && prompts.length <= MAX_PROMPTS && (areTexts || prompts.every(isIds)))
    return prompts as Prompt[];
  throw body.wrong('prompt', `must be a text or a list of token ids, or up to ${MAX_PROMPTS} of them`);
}

function isIds(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0);
}

function readCompletionOptions(body: Fields): EngineGenerateOptions {
  const options: EngineGenerateOptions = { ...readOptions(body), reasoning: 'text' };
  refuseFields(body, { suffix: 'text is only continued' });
  const bestOf = body.integer('best_of', 1);
  if (bestOf !== undefined && bestOf !== (options.n ?? 1))
    throw body.unsupported('best_of', 'ask for n answers instead');
  const logprobs = body.integer('logprobs', 0, MAX_LOGPROBS);
  if (logprobs !== undefined) options.logprobs = logprobs;
  return options;
}

function readEchoes(body: Fields, prompts: readonly Prompt[], { logprobs }: EngineGenerateOptions): readonly string[] {
  if (logprobs !== undefined) throw body.unsupported('echo', 'the tokens of a prompt have no logprobs here');
  if (prompts.every((prompt) => typeof prompt === 'string')) return prompts;
  throw body.unsupported('echo', 'a prompt of token ids has no text here');
}

function createForm(echoOf: (choice: number) => string): Form {
  const lengths: number[] = [];
  return {
    id: 'cmpl-',
    object: 'text_completion',
    chunkObject: 'text_completion',
    part: ({ choice, text }, isFirst) => ({ text: isFirst ? echoOf(choice) + text : text }),
    whole: ({ choice, text }) => ({ text: echoOf(choice) + text }),
    logprobs: ({ choice, logprobs }) => {
      const { offsets, length } = offsetsOf(logprobs, lengths[choice] ?? 0);
      lengths[choice] = length;
      return {
        tokens: logprobs.map(({ chosen }) => chosen.token),
        token_logprobs: logprobs.map(({ chosen }) => chosen.logprob),
        top_logprobs: logprobs.map(({ top }) => Object.fromEntries(top.map(({ token, logprob }) => [token, logprob]))),
        text_offset: offsets,
      };
    },
  };
}

/** Where each token begins in the text. */
function offsetsOf(logprobs: readonly Logprobs[], begin: number): { offsets: number[]; length: number } {
  let length = begin;
  const offsets = logprobs.map(({ chosen }) => {
    const offset = length;
    length += chosen.token.length;
    return offset;
  });
  return { offsets, length };
}
