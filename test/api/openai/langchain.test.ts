// LangChain.js over a scripted engine.

import { ContextOverflowError } from '@langchain/core/errors';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compileConstraint } from '../../../src/grammar/constraint';
import { createAssistant } from './assistant';

const { engine, fetch } = createAssistant();
const configuration = { baseURL: 'http://vivace/v1', fetch };
const model = new ChatOpenAI({ model: 'storyteller', apiKey: 'local', maxRetries: 0, configuration });

test('langchain: invoke and stream', async () => {
  expect((await model.invoke('hello')).content).toBe('You said: hello');
  let text = '';
  for await (const chunk of await model.stream('hello')) text += chunk.content;
  expect(text).toBe('You said: hello');
});

test('langchain: a prompt that is too long is its ContextOverflowError, whole and streamed', async () => {
  await expect(model.invoke('boom')).rejects.toBeInstanceOf(ContextOverflowError);
  await expect(model.stream('boom')).rejects.toBeInstanceOf(ContextOverflowError);
});

test('langchain: bindTools', async () => {
  const weather = tool(async () => 21, { name: 'weather', description: 'w', schema: z.object({ city: z.string() }) });
  const answer = await model.bindTools([weather]).invoke('weather?');
  expect(answer.tool_calls).toMatchObject([{ id: 'call_1', name: 'weather', args: { city: 'Bern' } }]);
  expect(engine.asked.at(-1)?.options.tools).toMatchObject([{ name: 'weather' }]);
});

test('langchain: a call that broke off is among the invalid ones', async () => {
  const weather = tool(async () => 21, { name: 'weather', description: 'w', schema: z.object({ city: z.string() }) });
  const answer = await model.bindTools([weather]).invoke('cut weather');
  expect(answer.tool_calls).toEqual([]);
  expect(answer.invalid_tool_calls).toMatchObject([{ name: 'weather', args: '{"city":"Be' }]);
  expect(answer.response_metadata).toMatchObject({ finish_reason: 'length' });
});

test('langchain: withStructuredOutput', async () => {
  const schema = z.object({ city: z.string() });
  expect(await model.withStructuredOutput(schema, { method: 'jsonSchema' }).invoke('where?')).toEqual({ city: 'Bern' });
  const { constraint } = engine.asked.at(-1)!.options;
  expect(constraint?.kind).toBe('json_schema');
  if (constraint) compileConstraint(constraint);
});

test('langchain: embeddings', async () => {
  const embeddings = new OpenAIEmbeddings({ model: 'e', apiKey: 'local', configuration });
  expect(await embeddings.embedDocuments(['ab', 'abc'])).toEqual([
    [2, 0.5, -2],
    [3, 0.5, -2],
  ]);
});
