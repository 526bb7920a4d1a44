// The AI SDK, `ai` and `@ai-sdk/openai-compatible`, over a scripted engine.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  type ChatTransport,
  convertToModelMessages,
  embedMany,
  generateText,
  Output,
  readUIMessageStream,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
} from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compileConstraint } from '../../../src/grammar/constraint';
import { createAssistant } from './assistant';

const { engine, fetch } = createAssistant();
const provider = createOpenAICompatible({ name: 'vivace', baseURL: 'http://vivace/v1', fetch, includeUsage: true });
const model = provider('storyteller');
const weather = tool({
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
});

test('ai: generateText, with cached tokens', async () => {
  const { text, finishReason, usage } = await generateText({ model, prompt: 'hello' });
  expect([text, finishReason]).toEqual(['You said: hello', 'stop']);
  expect(usage).toMatchObject({ inputTokens: 5, outputTokens: 3, inputTokenDetails: { cacheReadTokens: 2 } });
});

test('ai: an object by its schema, with the provider of docs/openai.md', async () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/openai.md'), 'utf8');
  const [, given] = /createOpenAICompatible\((\{[^}]*\})\)/.exec(page) ?? [];
  const structured = createOpenAICompatible(new Function('fetch', `return ${given}`)(fetch));
  const output = Output.object({ schema: z.object({ city: z.string() }) });
  const { output: place } = await generateText({ model: structured('storyteller'), prompt: 'where?', output });
  expect(place).toEqual({ city: 'Bern' });
  const { constraint } = engine.asked.at(-1)!.options;
  expect(constraint?.kind).toBe('json_schema');
  if (constraint) compileConstraint(constraint);
});

test('ai: streamText', async () => {
  const { textStream, usage } = streamText({ model, prompt: 'hello' });
  let text = '';
  for await (const delta of textStream) text += delta;
  expect([text, (await usage).outputTokens]).toEqual(['You said: hello', 3]);
});

test('ai: thinking is reasoning, and goes back as reasoning', async () => {
  const { reasoningText, text, response } = await generateText({ model, prompt: 'think' });
  expect([reasoningText, text]).toEqual(['Let me see.', 'It is 4.']);
  await generateText({ model, messages: [...response.messages, { role: 'user', content: 'why?' }] });
  expect(engine.asked.at(-1)?.messages[0]).toEqual({
    role: 'assistant',
    content: 'It is 4.',
    reasoning: 'Let me see.',
  });
});

test('ai: a tool loop, whole', async () => {
  const { text, steps } = await generateText({
    model,
    prompt: 'weather?',
    stopWhen: stepCountIs(3),
    tools: { weather },
  });
  expect([text, steps.length]).toEqual(['It is 21 degrees.', 2]);
});

test('ai: a tool loop, streamed', async () => {
  const { textStream, toolCalls } = streamText({
    model,
    prompt: 'weather?',
    stopWhen: stepCountIs(3),
    tools: { weather },
  });
  let text = '';
  for await (const delta of textStream) text += delta;
  expect(text).toBe('It is 21 degrees.');
  expect(await toolCalls).toEqual([]);
  expect(engine.asked.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'call_1' });
});

test('ai: a call that broke off is invalid and is not made, whole and streamed', async () => {
  const asked = { model, prompt: 'cut weather', stopWhen: stepCountIs(1), tools: { weather } };
  const { finishReason, toolCalls, toolResults } = await generateText(asked);
  expect([finishReason, toolResults]).toEqual(['length', []]);
  expect(toolCalls).toMatchObject([{ toolName: 'weather', input: '{"city":"Be', invalid: true }]);
  const streamed = streamText(asked);
  await streamed.consumeStream();
  expect([await streamed.finishReason, await streamed.toolResults]).toEqual(['length', []]);
  expect((await streamed.toolCalls).every((call) => 'invalid' in call)).toBe(true);
});

test('ai: completions', async () => {
  expect((await generateText({ model: provider.completionModel('m'), prompt: 'Once' })).text).toContain('After');
});

test('ai: embedMany', async () => {
  const { embeddings } = await embedMany({ model: provider.embeddingModel('e'), values: ['ab', 'abc'] });
  expect(embeddings).toEqual([
    [2, 0.5, -2],
    [3, 0.5, -2],
  ]);
});

test('ai: an error has its status', async () => {
  const asked = generateText({ model, prompt: 'boom', maxRetries: 0 });
  await expect(asked).rejects.toMatchObject({ name: 'AI_APICallError', statusCode: 400, isRetryable: false });
});

test('ai: an error inside a stream reaches onError', async () => {
  const errors: unknown[] = [];
  const { textStream } = streamText({ model, prompt: 'late boom', onError: ({ error }) => void errors.push(error) });
  let text = '';
  for await (const delta of textStream) text += delta;
  expect(text).toBe('a few words ');
  expect(errors).toHaveLength(1);
});

test('ai: an abort stops the engine, and the next request is answered', async () => {
  const abort = new AbortController();
  const { textStream } = streamText({ model, prompt: 'slow', abortSignal: abort.signal });
  let text = '';
  for await (const delta of textStream) {
    text += delta;
    abort.abort();
  }
  expect([text, engine.stopped]).toEqual(['one two ', true]);
  expect((await generateText({ model, prompt: 'on' })).text).toBe('You said: on');
});

test('ai: a transport for useChat, without a server', async () => {
  const transport: ChatTransport<UIMessage> = {
    async sendMessages({ messages, abortSignal }) {
      return streamText({ model, messages: await convertToModelMessages(messages), abortSignal }).toUIMessageStream();
    },
    reconnectToStream: async () => null,
  };
  const hi: UIMessage = { id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
  const chat = { trigger: 'submit-message', chatId: 'c', messageId: undefined } as const;
  const stream = await transport.sendMessages({ ...chat, messages: [hi], abortSignal: undefined });
  let answer: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) answer = message;
  expect(answer?.parts).toContainEqual(expect.objectContaining({ type: 'text', text: 'You said: hi' }));
});
