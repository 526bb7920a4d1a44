// The fields of a request, by the kind of server.

import { expect, test } from 'vitest';
import type { ServerKind } from '../../../src/remote/options';
import { requestBody } from '../../../src/remote/request/request_body';

const MESSAGES = [{ role: 'user', content: 'Hi' }] as const;
const KINDS: readonly ServerKind[] = ['vllm', 'sglang', 'llama.cpp', 'vivace', 'openai'];

/** A body as it travels: JSON has no undefined. */
function bodyOf(kind: ServerKind, options: object, input: object = { messages: MESSAGES }) {
  const { body, warnings } = requestBody({ ...(input as { prompt: string }) }, { seed: 1, ...options }, 'm', kind);
  return { warnings, body: JSON.parse(JSON.stringify(body)) };
}

test.each(KINDS)('a plain request to %s has nothing that it must refuse', (kind) => {
  const { body, warnings } = bodyOf(kind, {});
  const { return_progress, timings_per_token, stream_options, ...rest } = body;
  expect(rest).toEqual({ model: 'm', messages: MESSAGES, seed: 1, stream: true });
  expect(stream_options).toMatchObject({ include_usage: true });
  expect(warnings).toEqual([]);
  if (kind === 'openai') expect(Object.keys(body)).not.toContain('timings_per_token');
});

test.each([
  ['vllm', { top_k: -1, min_p: 0.1, repetition_penalty: 1.2, min_tokens: 3, ignore_eos: true }, []],
  ['sglang', { top_k: -1, min_p: 0.1, repetition_penalty: 1.2, min_tokens: 3, ignore_eos: true }, []],
  ['llama.cpp', { top_k: -1, min_p: 0.1, repeat_penalty: 1.2, ignore_eos: true }, ['minTokens']],
  ['openai', {}, ['topK', 'minP', 'repetitionPenalty', 'minTokens', 'ignoreEos']],
] as const)('options beyond OpenAI, to %s', (kind, fields, left) => {
  const options = { topK: 0, minP: 0.1, repetitionPenalty: 1.2, minTokens: 3, ignoreEos: true };
  const { body, warnings } = bodyOf(kind, options);
  expect(body).toMatchObject(fields);
  expect(Object.keys(body).filter((key) => /top_k|min_|repe|ignore/.test(key))).toEqual(Object.keys(fields));
  expect(warnings.map((text) => / option (\w+),/.exec(text)?.[1])).toEqual(left);
});

test('a schema goes to every server in the same field', () => {
  const schema = { type: 'object' };
  for (const kind of KINDS)
    expect(bodyOf(kind, { constraint: { kind: 'json_schema', schema } }).body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    });
});

test.each([
  ['vllm', 'regex', { structured_outputs: { regex: 'a+' }, guided_regex: 'a+' }],
  ['sglang', 'regex', { regex: 'a+' }],
  ['vllm', 'grammar', { structured_outputs: { grammar: 'a+' }, guided_grammar: 'a+' }],
  ['sglang', 'grammar', { ebnf: 'a+' }],
  ['llama.cpp', 'grammar', { grammar: 'a+' }],
] as const)('to %s, a %s', (kind, constraint, fields) => {
  expect(bodyOf(kind, { constraint: { kind: constraint, source: 'a+' } }).body).toMatchObject(fields);
});

test('a choice is a grammar or an expression where there is no field for it', () => {
  const constraint = { kind: 'choice', texts: ['a.b', 'c"\\'] };
  expect(bodyOf('vllm', { constraint }).body.structured_outputs).toEqual({ choice: ['a.b', 'c"\\'] });
  expect(bodyOf('sglang', { constraint }).body.regex).toBe('a\\.b|c"\\\\');
  expect(bodyOf('llama.cpp', { constraint }).body.grammar).toBe('root ::= "a.b" | "c\\"\\\\"');
});

test.each([
  ['llama.cpp', { constraint: { kind: 'regex', source: 'a' } }],
  ['openai', { constraint: { kind: 'grammar', source: 'a' } }],
  ['openai', { constraint: { kind: 'choice', texts: ['a'] } }],
] as const)('%s refuses %j rather than answering without it', (kind, options) => {
  const refused = { code: 'invalid-request', option: 'constraint' };
  expect(() => bodyOf(kind, options)).toThrow(expect.objectContaining(refused));
});

test('thinking, and what a template takes', () => {
  const input = { messages: MESSAGES, templateArguments: { level: 2 } };
  for (const kind of ['vllm', 'sglang', 'llama.cpp', 'vivace'] as const) {
    const { body } = bodyOf(kind, { thinking: 'off' }, input);
    expect(body.chat_template_kwargs).toEqual({ enable_thinking: false, level: 2 });
  }
  const { body, warnings } = bodyOf('openai', { thinking: 'on' });
  expect([Object.keys(body).includes('chat_template_kwargs'), warnings.length]).toEqual([false, 1]);
  expect(bodyOf('llama.cpp', { reasoning: 'text' }).body.reasoning_format).toBe('none');
  expect(bodyOf('sglang', { reasoning: 'text' }).body.separate_reasoning).toBe(false);
});

test('a message continued', () => {
  const input = { messages: [...MESSAGES, { role: 'assistant', content: 'We' }], continueLast: true };
  const fields = { continue_final_message: true, add_generation_prompt: false };
  expect(bodyOf('vllm', {}, input).body).toMatchObject(fields);
  expect(bodyOf('llama.cpp', {}, input).body).not.toHaveProperty('continue_final_message');
  const refused = { option: 'continueLast', message: expect.stringMatching('cannot continue') };
  expect(() => bodyOf('openai', {}, input)).toThrow(expect.objectContaining(refused));
});

test('tools, a choice of one, and free arguments', () => {
  const input = { messages: MESSAGES, tools: [{ name: 'f', parameters: {} }], toolChoice: { name: 'f' } };
  const { body } = bodyOf('vllm', { toolArguments: 'free' }, input);
  expect(body.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: {}, strict: false } }]);
  expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'f' } });
  const two = { ...input, tools: [...input.tools, { name: 'g', parameters: {} }] };
  const alone = bodyOf('llama.cpp', {}, two).body; // which reads a named choice as auto
  expect(alone.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: {} } }]);
  expect(alone.tool_choice).toBe('required');
});
