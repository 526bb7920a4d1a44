// The `openai` package over a scripted engine.

import OpenAI from 'openai';
import { zodFunction, zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createFetch } from '../../../src/api/openai/fetch';
import { compileConstraint } from '../../../src/grammar/constraint';
import { nextTask } from '../scripted_engine';
import { createAssistant } from './assistant';

const { engine, fetch } = createAssistant();
const client = new OpenAI({ apiKey: 'local', baseURL: 'http://vivace/v1', fetch, maxRetries: 0 });
const user = (content: string) => [{ role: 'user' as const, content }];
const ask = (content: string) => ({ model: 'm', messages: user(content) });

/** The kind of the constraint that the engine was asked for. */
function compiled(): string | undefined {
  const { constraint } = engine.asked.at(-1)!.options;
  if (constraint) compileConstraint(constraint);
  return constraint?.kind;
}

const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parse: JSON.parse,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    function: ({ city }: { city: string }) => JSON.stringify({ city, degrees: 21 }),
  },
};

test('openai: models.list and retrieve', async () => {
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['storyteller']);
  expect((await client.models.retrieve('storyteller')).id).toBe('storyteller');
  const names = ['hf:Qwen/Qwen3-0.6B-GGUF:Q8_0', 'a b', 'ä@1+2 (100 %)'];
  const models = Object.fromEntries(names.map((name) => [name, engine]));
  const several = new OpenAI({ apiKey: 'local', baseURL: 'http://vivace/v1', fetch: createFetch(engine, { models }) });
  for (const name of names) expect((await several.models.retrieve(name)).id).toBe(name);
});

test('openai: chat.completions.create', async () => {
  const answer = await client.chat.completions.create({
    model: 'm',
    messages: [{ role: 'developer', content: 'Be kind.' }, ...user('hello there')],
    max_completion_tokens: 9,
    seed: -1,
  });
  expect(answer.choices[0]?.message.content).toBe('You said: hello there');
  expect(answer.choices[0]?.finish_reason).toBe('stop');
  expect(answer.usage?.prompt_tokens_details?.cached_tokens).toBe(2);
  const { messages, options } = engine.asked.at(-1)!;
  expect(messages[0]).toEqual({ role: 'system', content: 'Be kind.' });
  expect(options).toMatchObject({ maxTokens: 9, seed: 2 ** 32 - 1 });
});

test('openai: a stream with usage', async () => {
  const stream = await client.chat.completions.create({
    ...ask('hi'),
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let total = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    total = chunk.usage?.total_tokens ?? total;
  }
  expect([text, total]).toEqual(['You said: hi', 8]);
});

test('openai: the stream helper, finalChatCompletion', async () => {
  const stream = client.chat.completions.stream(ask('hi'));
  const events: string[] = [];
  stream.on('content', (delta) => events.push(delta));
  expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('You said: hi');
  expect(events.join('')).toBe('You said: hi');
});

test('openai: runTools calls the tool and sends its result', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the helper's type wants the tool's own arguments
  const runner = client.chat.completions.runTools({ ...ask('weather?'), tools: [WEATHER as any] });
  expect(await runner.finalContent()).toBe('It is 21 degrees.');
  expect(engine.asked.at(-1)?.messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' }],
    },
    { role: 'tool', content: '{"city":"Bern","degrees":21}', toolCallId: 'call_1' },
  ]);
});

test('openai: runTools, streamed, with a tool of zod, whose strict is not read', async () => {
  const tool = zodFunction({
    name: 'weather',
    parameters: z.object({ city: z.string() }),
    function: ({ city }) => ({ city, degrees: 21 }),
  });
  const runner = client.chat.completions.runTools({ ...ask('weather?'), stream: true, tools: [tool] });
  expect(await runner.finalContent()).toBe('It is 21 degrees.');
});

test('openai: a call that broke off has its arguments so far, and the helpers do not make it', async () => {
  let calls = 0;
  const weather = zodFunction({
    name: 'weather',
    parameters: z.object({ city: z.string() }),
    function: ({ city }) => {
      calls++;
      return city;
    },
  });
  const cut = { ...ask('cut weather'), tools: [weather] };
  const [choice] = (await client.chat.completions.create(cut)).choices;
  expect(choice?.finish_reason).toBe('length');
  expect(choice?.message.tool_calls).toMatchObject([{ function: { name: 'weather', arguments: '{"city":"Be' } }]);
  await expect(client.chat.completions.parse(cut)).rejects.toThrow('length limit was reached');
  const stream = client.chat.completions.stream(cut);
  await expect(stream.finalChatCompletion()).rejects.toThrow('length limit was reached');
  const runner = client.chat.completions.runTools(cut, { maxChatCompletions: 1 });
  await runner.done().catch(() => {});
  expect(calls).toBe(0);
});

test('openai: thinking is reasoning_content', async () => {
  const { message } = (await client.chat.completions.create(ask('think'))).choices[0]!;
  expect(message).toMatchObject({ reasoning_content: 'Let me see.', content: 'It is 4.' });
});

test('openai: completions, whole and streamed', async () => {
  expect((await client.completions.create({ model: 'm', prompt: 'Once' })).choices[0]?.text).toBe('After Once');
  let text = '';
  for await (const chunk of await client.completions.create({ model: 'm', prompt: 'Once', stream: true }))
    text += chunk.choices[0]?.text ?? '';
  expect(text).toBe('After Once');
});

test('openai: embeddings, base64 by default', async () => {
  const { data, usage } = await client.embeddings.create({ model: 'm', input: ['ab', 'abc'] });
  expect(data.map(({ embedding }) => Array.from(embedding))).toEqual([
    [2, 0.5, -2],
    [3, 0.5, -2],
  ]);
  expect(usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
});

test('openai: an error has its status, code and type, whole and streamed', async () => {
  for (const stream of [false, true])
    await expect(client.chat.completions.create({ ...ask('boom'), stream })).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      status: 400,
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
    });
});

test('openai: an error inside a stream is thrown after what came before it', async () => {
  const stream = await client.chat.completions.create({ ...ask('late boom'), stream: true });
  let text = '';
  const read = async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  };
  await expect(read()).rejects.toMatchObject({ code: 'device-lost' });
  expect(text).toBe('a few words ');
});

test('openai: an answer goes on after a loss, whole, streamed and as a response', async () => {
  const { choices } = await client.chat.completions.create(ask('lost'));
  expect(choices[0].message.content).toBe('a few words');
  let text = '';
  for await (const chunk of await client.chat.completions.create({ ...ask('lost'), stream: true }))
    text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toBe('a few words');
  let response = '';
  for await (const event of await client.responses.create({ model: 'm', input: 'lost', stream: true }))
    if (event.type === 'response.output_text.delta') response += event.delta;
  expect(response).toBe('a few words');
});

test('openai: an engine that is lost for good before its answer begins is a 503, streamed too', async () => {
  const once = new OpenAI({ apiKey: 'local', baseURL: 'http://vivace/v1', fetch, maxRetries: 0 });
  for (const stream of [false, true])
    await expect(once.chat.completions.create({ ...ask('lost for good'), stream })).rejects.toMatchObject({
      status: 503,
      code: 'device-lost',
    });
});

test('openai: a lost engine is asked once, not again and again', async () => {
  const before = engine.asked.length;
  const patient = new OpenAI({ apiKey: 'local', baseURL: 'http://vivace/v1', fetch, maxRetries: 5 });
  await expect(patient.chat.completions.create(ask('late boom'))).rejects.toMatchObject({ status: 503 });
  expect(engine.asked.length - before).toBe(1);
});

test('openai: an abort of a stream stops the engine, and the next request is answered', async () => {
  const stream = await client.chat.completions.create({ ...ask('slow'), stream: true });
  let text = '';
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    stream.controller.abort();
  }
  expect([text, engine.stopped]).toEqual(['one two ', true]);
  expect((await client.chat.completions.create(ask('on'))).choices[0]?.message.content).toBe('You said: on');
});

test('openai: leaving the loop of a stream stops the engine', async () => {
  for await (const _ of await client.chat.completions.create({ ...ask('slow'), stream: true })) break;
  expect(engine.stopped).toBe(true);
});

test('openai: an abort of a whole answer', async () => {
  const abort = new AbortController();
  const before = engine.asked.length;
  const asked = client.chat.completions.create(ask('slow'), { signal: abort.signal });
  asked.catch(() => {}); // awaited below
  while (engine.asked.length === before) await nextTask();
  abort.abort();
  await expect(asked).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
  expect(engine.stopped).toBe(true);
});

test('openai: a field that cannot be done is refused by name', async () => {
  await expect(client.chat.completions.create({ ...ask('a'), modalities: ['text', 'audio'] })).rejects.toMatchObject({
    status: 400,
    param: 'modalities[1]',
    code: 'unsupported_parameter',
  });
});

test('openai: structured outputs are constraints that compile', async () => {
  const place = z.object({ city: z.string(), near: z.array(z.string()).nullable() });
  const format = { response_format: zodResponseFormat(place, 'place') };
  const answer = await client.chat.completions.parse({ ...ask('where?'), ...format });
  expect(answer.choices[0]?.message.parsed).toEqual({ city: 'Bern', near: null });
  expect(compiled()).toBe('json_schema');
  const response = await client.responses.parse({
    model: 'm',
    input: 'where?',
    text: { format: zodTextFormat(place, 'place') },
  });
  expect(response.output_parsed).toEqual({ city: 'Bern', near: null });
  expect(compiled()).toBe('json_schema');
  await client.chat.completions.create({ ...ask('a'), response_format: { type: 'json_object' } });
  expect(compiled()).toBe('json_object');
});

test('openai: the formats of zod, which writes a pattern beside each', async () => {
  const person = z.object({ id: z.uuid(), email: z.email(), born: z.iso.date(), seen: z.iso.datetime(), ip: z.ipv4() });
  await client.chat.completions.create({ ...ask('who?'), response_format: zodResponseFormat(person, 'person') });
  expect(compiled()).toBe('json_schema');
});

test('openai: responses.create', async () => {
  const response = await client.responses.create({ model: 'm', instructions: 'Be kind.', input: 'hi' });
  expect([response.output_text, response.status, response.usage?.total_tokens]).toEqual([
    'You said: hi',
    'completed',
    8,
  ]);
  expect(engine.asked.at(-1)?.messages).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'hi' },
  ]);
});

test('openai: the usage of a response has each number that the SDK declares', async () => {
  const { usage } = await client.responses.create({ model: 'm', input: 'hi' });
  expect(usage).toEqual({
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 8,
  } satisfies typeof usage);
});

test('openai: responses.stream builds what create gives', async () => {
  for (const input of ['hi', 'think', 'cut']) {
    const stream = client.responses.stream({ model: 'm', input });
    const numbers: number[] = [];
    let text = '';
    for await (const event of stream) {
      numbers.push(event.sequence_number);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    const streamed = await stream.finalResponse();
    const whole = await client.responses.create({ model: 'm', input });
    expect(text).toBe(whole.output_text);
    expect(numbers).toEqual(numbers.map((_, i) => i));
    expect(withoutIds(streamed.output)).toEqual(withoutIds(whole.output));
    expect([streamed.status, streamed.incomplete_details]).toEqual([whole.status, whole.incomplete_details]);
  }
});

const withoutIds = (items: readonly object[]) =>
  JSON.parse(JSON.stringify(items), (key, value) => (key === 'id' || key === 'parsed' ? undefined : value));

test('openai: responses cut at the limit are incomplete', async () => {
  const { status, incomplete_details } = await client.responses.create({ model: 'm', input: 'cut' });
  expect([status, incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }]);
});

test('openai: a response has the time of its completion only if it is completed', async () => {
  const timeOf = async (input: string) => (await client.responses.create({ model: 'm', input })).completed_at;
  expect(await timeOf('hi')).toEqual(expect.any(Number));
  expect(await timeOf('cut')).toBeUndefined();
  for await (const event of await client.responses.create({ model: 'm', input: 'late boom', stream: true }))
    if (event.type === 'response.failed') expect(event.response.completed_at).toBeUndefined();
});

test('openai: a tool loop over responses', async () => {
  const tools = [{ type: 'function' as const, name: 'weather', parameters: {}, strict: true }];
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'weather?' }];
  const first = await client.responses.create({ model: 'm', input, tools });
  const call = first.output.find((item) => item.type === 'function_call')!;
  expect(call).toMatchObject({ name: 'weather', call_id: 'call_1', arguments: '{"city":"Bern"}', status: 'completed' });
  input.push(call, { type: 'function_call_output', call_id: call.call_id, output: '{"degrees":21}' });
  const second = await client.responses.create({ model: 'm', input, tools });
  expect(second.output_text).toBe('It is 21 degrees.');
  expect(engine.asked.at(-1)?.messages.slice(1)).toEqual([
    { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' }] },
    { role: 'tool', content: '{"degrees":21}', toolCallId: 'call_1' },
  ]);
});

test('openai: a failed response says so', async () => {
  const stream = await client.responses.create({ model: 'm', input: 'late boom', stream: true });
  const types: string[] = [];
  for await (const event of stream) {
    types.push(event.type);
    if (event.type === 'response.failed') expect(event.response.error?.message).toBe('The GPU device was lost.');
  }
  expect(types.at(0)).toBe('response.created');
  expect(types.at(-1)).toBe('response.failed');
});
