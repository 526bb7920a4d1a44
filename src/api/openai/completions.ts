// POST /v1/completions.

import type { EngineEvent, EngineGenerateOptions } from '../api_engine';
import { answer, type Form } from './answer/completion';
import type { Logprobs } from './answer/pieces';
import { unsupported } from './http/errors';
import type { ApiCall } from './http/http_request';
import type { CompletionRequest } from './http/wire_types';
import { format, readConstraint } from './request/constraint';
import { MAX_LOGPROBS, readOptions, SHARED } from './request/options';
import { either, flag, integer, list, object, refuse, text } from './request/schema';

type Prompt = string | readonly number[];

/** Most prompts of a request. */
const MAX_PROMPTS = 128;

const id = integer(0);
const ids = list(id, 1);

const COMPLETION_REQUEST = object({
  ...SHARED,
  'prompt!': either(text, (value, param) => {
    if (Array.isArray(value) && typeof value[0] === 'number') ids(value, param);
    else list(either(text, ids), 1, MAX_PROMPTS)(value, param);
  }),
  echo: flag,
  best_of: integer(1),
  response_format: format,
  logprobs: integer(0, MAX_LOGPROBS),
  ...refuse('suffix top_logprobs'),
});

export async function complete(call: ApiCall): Promise<Response> {
  COMPLETION_REQUEST(call.json, '');
  const body = call.json as unknown as CompletionRequest;
  const { prompt, logprobs, echo } = body;
  const prompts = (Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt]) as readonly Prompt[];
  const n = body.n ?? 1;
  if ((body.best_of ?? n) !== n) throw unsupported('best_of', 'ask for n answers');
  if (echo && (logprobs != null || prompts.some((prompt) => typeof prompt !== 'string')))
    throw unsupported('echo', 'only texts are repeated, without logprobs');
  const options: EngineGenerateOptions = {
    ...readOptions(body),
    ...readConstraint(body, body.response_format, 'response_format'),
    reasoning: 'text',
    logprobs: logprobs ?? undefined,
  };
  const form = createForm((choice) => (echo ? String(prompts[Math.floor(choice / n)]) : ''));
  return answer(call, form, prompts.length, (signal) => completeAll(call, prompts, { ...options, signal }, n));
}

/** Answers prompts one after another, until one is stopped. Choices of the second follow those of the first. */
async function* completeAll(
  { engine }: ApiCall,
  prompts: readonly Prompt[],
  options: EngineGenerateOptions,
  n: number,
): AsyncGenerator<EngineEvent> {
  for (const [i, prompt] of prompts.entries())
    for await (const event of engine.complete(prompt, options)) {
      yield event.type === 'start' ? { ...event, choice: i * n + event.choice } : event;
      if (event.type === 'done' && event.finishReason === 'abort') return;
    }
}

function createForm(echoOf: (choice: number) => string): Form {
  return {
    id: 'cmpl-',
    object: 'text_completion',
    chunk: 'text_completion',
    write: ({ choice, text, logprobs }, isFirst) => ({
      text: isFirst ? echoOf(choice) + text : text,
      logprobs: logprobs.length > 0 ? wireLists(logprobs) : null,
    }),
  };
}

/** Log probabilities in the form of this route: lists, one for each field. */
function wireLists(logprobs: readonly Logprobs[]): object {
  return {
    tokens: logprobs.map(({ chosen }) => nameOf(chosen)),
    token_logprobs: logprobs.map(({ chosen }) => chosen.logprob),
    top_logprobs: logprobs.map(({ top }) => {
      const byName = new Map<string, number>();
      for (const one of top) byName.set(byName.has(nameOf(one)) ? `token_id:${one.id}` : nameOf(one), one.logprob);
      return Object.fromEntries(byName);
    }),
  };
}

/** As OpenAI names a token that ends within a character: `bytes:\xe2\x82`. */
function nameOf({ token, bytes }: Logprobs['chosen']): string {
  if (!token.includes('\ufffd')) return token;
  return `bytes:${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}`;
}
