// Each field of a request that the OpenAI SDK declares is in docs/openai.md, so that none is ignored in silence. The
// compiler wants a new field of the SDK in these lists.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';

type Fields<T> = Record<keyof T, true>;

const CHAT: Fields<OpenAI.Chat.ChatCompletionCreateParams> = {
  messages: true,
  model: true,
  audio: true,
  frequency_penalty: true,
  function_call: true,
  functions: true,
  logit_bias: true,
  logprobs: true,
  max_completion_tokens: true,
  max_tokens: true,
  metadata: true,
  modalities: true,
  moderation: true,
  n: true,
  parallel_tool_calls: true,
  prediction: true,
  presence_penalty: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning_effort: true,
  response_format: true,
  safety_identifier: true,
  seed: true,
  service_tier: true,
  stop: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  user: true,
  verbosity: true,
  web_search_options: true,
};

const COMPLETION: Fields<OpenAI.CompletionCreateParams> = {
  model: true,
  prompt: true,
  best_of: true,
  echo: true,
  frequency_penalty: true,
  logit_bias: true,
  logprobs: true,
  max_tokens: true,
  n: true,
  presence_penalty: true,
  seed: true,
  stop: true,
  stream: true,
  stream_options: true,
  suffix: true,
  temperature: true,
  top_p: true,
  user: true,
};

const RESPONSE: Fields<OpenAI.Responses.ResponseCreateParams> = {
  background: true,
  context_management: true,
  conversation: true,
  include: true,
  input: true,
  instructions: true,
  max_output_tokens: true,
  metadata: true,
  model: true,
  moderation: true,
  parallel_tool_calls: true,
  previous_response_id: true,
  prompt: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning: true,
  safety_identifier: true,
  service_tier: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  text: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  truncation: true,
  user: true,
};

/** Fields with fields of their own. */
const REASONING: Fields<OpenAI.Reasoning> = {
  context: true,
  effort: true,
  generate_summary: true,
  mode: true,
  summary: true,
};
const STREAM_OPTIONS: Fields<OpenAI.Chat.ChatCompletionStreamOptions> = {
  include_obfuscation: true,
  include_usage: true,
};

const EMBEDDING: Fields<OpenAI.EmbeddingCreateParams> = {
  input: true,
  model: true,
  dimensions: true,
  encoding_format: true,
  user: true,
};

const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/openai.md'), 'utf8');
const table = page.slice(page.indexOf('\n## Fields'), page.indexOf('\n### Fields beyond'));
/** The names in backticks, without what follows a dot, a bracket or a colon. */
const names = [...table.matchAll(/`([\w.[\]*]+)[^`\n]*`/g)].map(([, name]) => name);

function isNamed(field: string): boolean {
  return names.some((name) => name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`));
}

for (const [what, fields, parent] of [
  ['a chat completion', CHAT, ''],
  ['a completion', COMPLETION, ''],
  ['a response', RESPONSE, ''],
  ['reasoning', REASONING, 'reasoning.'],
  ['stream_options', STREAM_OPTIONS, 'stream_options.'],
  ['embeddings', EMBEDDING, ''],
] as const) {
  test(`docs/openai.md names each field of ${what}`, () => {
    const known = Object.keys(fields).map((field) => parent + field);
    const missing = known.filter((field) => !isNamed(field) && !field.startsWith('prompt_cache_'));
    expect(missing).toEqual([]);
  });
}

test('a field that the page does not name is missed', () => {
  expect(names.length).toBeGreaterThan(40);
  expect(['not_a_field', 'reasoning.not_a_field', 'modal'].filter(isNamed)).toEqual([]);
});
