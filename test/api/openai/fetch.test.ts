// The routes of OpenAI's interface over a scripted engine: answers, streams, errors, aborts.

import { describe, expect, test } from 'vitest';
import { createFetch } from '../../../src/api/openai/fetch';
import type { FinishReason } from '../../../src/engine/protocol';
import {
  done,
  FOREVER,
  failure,
  nextTask,
  post,
  readEvents,
  type Script,
  scriptedEngine,
  start,
  token,
  words,
} from '../scripted_engine';

const HELLO = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const contentOf = (events: { choices: { delta: { content?: string } }[] }[]) =>
  events.map((event) => event.choices[0]?.delta.content ?? '').join('');

test('a chat completion has text, finish reason, usage with cached tokens, seed and metrics', async () => {
  const { status, json } = await post(createFetch(scriptedEngine()), 'chat/completions', HELLO);
  expect(status).toBe(200);
  expect(json).toMatchObject({ object: 'chat.completion', model: 'm', vivace: { seed: 7, metrics: { ttftMs: 4 } } });
  expect(json.choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: 'You said: hello', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ]);
  expect(json.usage).toEqual({
    prompt_tokens: 5,
    completion_tokens: 3,
    total_tokens: 8,
    prompt_tokens_details: { cached_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 0 },
  });
});

test('a stream ends with the finish reason, usage if asked for, and [DONE]', async () => {
  const fetch = createFetch(scriptedEngine());
  const { events, text } = await post(fetch, 'chat/completions', { ...HELLO, stream: true });
  expect(contentOf(events)).toBe('You said: hello');
  expect(events[0].choices[0].delta.role).toBe('assistant');
  expect(events.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }], vivace: { seed: 7 } });
  expect(events.every((event) => !('usage' in event))).toBe(true);
  expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
  const counted = await post(fetch, 'chat/completions', {
    ...HELLO,
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(counted.events.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 8 } });
  expect(counted.events.slice(0, -1).map(({ usage }) => usage)).toEqual(counted.events.slice(0, -1).map(() => null));
});

test('tokens that arrive together are one chunk, which has the times of each', async () => {
  const gates = [gate(), gate()];
  const [first, second] = gates.map(({ promise }) => promise);
  const script = [start(), ...words('one two three '), first, ...words('four five'), second, done()];
  const response = await createFetch(scriptedEngine(() => script))('http://x/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ ...HELLO, stream: true }),
  });
  const reader = response.body?.getReader();
  const reads = [];
  for (let i = 0; i < 3; i++) {
    reads.push(readEvents(new TextDecoder().decode((await reader?.read())?.value)));
    gates[i]?.resolve();
  }
  expect(reads.map((events) => events.map((event) => event.choices[0].delta.content))).toEqual([
    ['one two three '],
    ['four five'],
    [undefined],
  ]);
  expect(reads[0][0].vivace.tokens).toHaveLength(3);
  const times = { id: 1, tbtMs: 1, position: 6, atMs: 1001, inFlightMs: 2, workerMs: 0.1 };
  expect(reads[0][0].vivace.tokens[1]).toEqual(times);
});

test('the events of a response tell of each token once, also of those that show nothing', async () => {
  const call = { type: 'tool-call', index: 0, id: 'c', name: 'f', arguments: '{}' } as const;
  const thought = { type: 'reasoning', text: 'Hm.' } as const;
  const script = [start(), token('', 1), thought, token('Yes.', 2), token('', 3), call, 'task', token('', 4), done()];
  const fetch = createFetch(scriptedEngine(() => script as Script));
  const { events } = await post(fetch, 'responses', { input: 'x', stream: true });
  const parts = [...events, events.at(-1).response];
  const ids = parts.flatMap(({ vivace }) => (vivace?.tokens ?? []).map(({ id }: { id: number }) => id));
  expect(ids).toEqual([1, 2, 3, 4]);
  expect(events.filter(({ type }) => type.endsWith('.delta'))).toHaveLength(3);
  const whole = await post(fetch, 'responses', { input: 'x' });
  expect(whole.json.vivace).toEqual({ seed: 7, metrics: { ttftMs: 4 } });
});

test('a slow reader gets what has gathered as one chunk', async () => {
  const script = [start(), ...words('a b c d e f').flatMap((event) => [event, 'task' as const]), done()];
  const response = await createFetch(scriptedEngine(() => script))('http://x/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ ...HELLO, stream: true }),
  });
  for (let i = 0; i < 20; i++) await nextTask();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  const events = readEvents(new TextDecoder().decode(first?.value));
  expect(contentOf(events)).toBe('a b c d e f');
  expect(events).toHaveLength(2); // the text, and its end
});

test('a refused request has a status, streamed or not', async () => {
  const fetch = createFetch(scriptedEngine(() => [failure('context-overflow', 'Too long.')]));
  for (const stream of [false, true]) {
    const { status, json } = await post(fetch, 'chat/completions', { ...HELLO, stream });
    expect(status).toBe(400);
    expect(json).toEqual({
      error: {
        message: 'The input exceeds the context window. Too long.',
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    });
  }
});

test('a refused request has a status also where it had to wait, and warnings came first', async () => {
  const news = [
    { type: 'warning', code: 'constraint', message: 'The arguments of the tool "a" are any object.' },
    { type: 'queued', reason: 'busy' },
  ] as const;
  const fetch = createFetch(scriptedEngine(() => [...news, 'task', 'task', failure('context-overflow', 'Too long.')]));
  for (const stream of [false, true]) {
    const { status, json } = await post(fetch, 'chat/completions', { ...HELLO, stream });
    expect([status, json?.error.code]).toEqual([400, 'context_length_exceeded']);
  }
});

test('a failure inside a stream is its last chunk', async () => {
  const script = [start(), ...words('a few '), 'task' as const, failure('device-lost', 'The GPU was lost.')];
  const { status, events, text } = await post(createFetch(scriptedEngine(() => script)), 'chat/completions', {
    ...HELLO,
    stream: true,
  });
  expect(status).toBe(200);
  expect(contentOf(events.slice(0, -1))).toBe('a few ');
  expect(events.at(-1)).toEqual({
    error: { message: 'The GPU was lost.', type: 'server_error', param: null, code: 'device-lost' },
  });
  expect(text).not.toContain('[DONE]');
});

test('an answer without an end is an error', async () => {
  const fetch = createFetch(scriptedEngine(() => [start(), token('a')]));
  expect((await post(fetch, 'chat/completions', HELLO)).status).toBe(500);
  const { events } = await post(fetch, 'chat/completions', { ...HELLO, stream: true });
  expect(events.at(-1).error.type).toBe('server_error');
});

for (const [code, status] of [
  ['invalid-request', 400],
  ['chat-template', 400],
  ['constraint', 400],
  ['tokenizer', 400],
  ['unsupported-model', 400],
  ['gpu-memory', 507],
  ['device-lost', 503],
  ['worker', 503],
  ['not-finite', 500],
  ['gpu-program', 500],
] as const) {
  test(`the engine's error ${code} is a ${status}`, async () => {
    const { status: got, json } = await post(
      createFetch(scriptedEngine(() => [failure(code)])),
      'chat/completions',
      HELLO,
    );
    expect([got, json.error.code]).toEqual([status, code]);
  });
}

describe('a call that broke off stays as it came, and the finish reason tells it', () => {
  const broken = (finishReason: FinishReason): Script => [
    start(),
    { type: 'tool-call', index: 0, id: 'c0', name: 'f', arguments: '{"a":1}' },
    { type: 'tool-call', index: 1, id: 'c1', name: 'f', arguments: '{"a":' },
    { type: 'tool-call-error', index: 1, message: 'The call has no end.', text: '<call>' },
    done({ finishReason }),
  ];
  test.each<[FinishReason, string, string, object | null | undefined]>([
    ['length', 'length', 'incomplete', { reason: 'max_output_tokens' }],
    ['context', 'length', 'incomplete', { reason: 'max_output_tokens' }],
    ['abort', 'abort', 'incomplete', null],
    ['tool-calls', 'tool_calls', 'completed', null], // the model itself ended in the middle of it
  ])('by %s', async (reason, finish, status, details) => {
    const fetch = createFetch(scriptedEngine(() => broken(reason)));
    const { json } = await post(fetch, 'chat/completions', HELLO);
    const [{ message, finish_reason }] = json.choices;
    const givenTo = (calls: { function: { arguments: string } }[]) => calls.map((call) => call.function.arguments);
    expect([finish_reason, givenTo(message.tool_calls)]).toEqual([finish, ['{"a":1}', '{"a":']]);
    expect(json.vivace.tool_call_errors).toEqual([{ index: 1, message: 'The call has no end.', text: '<call>' }]);
    const { events } = await post(fetch, 'chat/completions', { ...HELLO, stream: true });
    expect(events.at(-1).choices[0]).toMatchObject({ delta: {}, finish_reason: finish });
    expect(events.flatMap(({ choices }) => givenTo(choices[0].delta.tool_calls ?? []))).toEqual(['{"a":1}', '{"a":']);
    const { json: response } = await post(fetch, 'responses', { input: 'hello' });
    expect([response.status, response.incomplete_details]).toEqual([status, details]);
    expect(response.output.at(-1)).toMatchObject({ type: 'function_call', arguments: '{"a":', status });
  });
});

const PROMPT = { model: 'm', prompt: 'Once' };
const INPUT = { model: 'm', input: 'Once' };

test.each<[string, string, object, string | null]>([
  ['logitBias', 'chat/completions', { ...HELLO, logit_bias: { 7: 1 } }, 'logit_bias'],
  ['temperature', 'completions', { ...PROMPT, temperature: 1 }, 'temperature'],
  ['temperature', 'completions', PROMPT, null], // the engine's own default
  ['maxTokens', 'chat/completions', { ...HELLO, max_tokens: 5 }, 'max_tokens'],
  ['maxTokens', 'chat/completions', { ...HELLO, max_tokens: 5, max_completion_tokens: 6 }, 'max_completion_tokens'],
  ['maxTokens', 'responses', { ...INPUT, max_output_tokens: 5 }, 'max_output_tokens'],
  ['minTokens', 'chat/completions', { ...HELLO, min_tokens: 5 }, 'min_tokens'],
  ['messages', 'chat/completions', HELLO, 'messages'],
  ['messages', 'responses', INPUT, 'input'],
  ['prompt', 'completions', PROMPT, 'prompt'],
  ['thinking', 'chat/completions', { ...HELLO, chat_template_kwargs: { a: 1 } }, null],
  ['templateArguments', 'chat/completions', { ...HELLO, chat_template_kwargs: { a: 1 } }, 'chat_template_kwargs'],
  ['continueLast', 'chat/completions', { ...HELLO, continue_final_message: true }, 'continue_final_message'],
  ['context-overflow', 'chat/completions', HELLO, 'messages'],
  ['context-overflow', 'completions', PROMPT, 'prompt'],
  ['context-overflow', 'responses', INPUT, 'input'],
  ['constraint', 'chat/completions', { ...HELLO, response_format: { type: 'json_object' } }, 'response_format'],
  ['constraint', 'chat/completions', { ...HELLO, grammar: 'root ::= "a"' }, 'grammar'],
  ['constraint', 'completions', { ...PROMPT, grammar: '', json_schema: {} }, 'json_schema'],
  ['constraint', 'responses', { ...INPUT, text: { format: { type: 'json_object' } } }, 'text.format'],
  ['worker', 'chat/completions', HELLO, null],
])("the engine's error about %s at %s of %j names its field", async (about, route, body, param) => {
  const isCode = /^(context-overflow|constraint|worker)$/.test(about);
  const error = isCode ? failure(about) : Object.assign(failure('invalid-request'), { option: about });
  const fetch = createFetch(scriptedEngine(() => [error]));
  expect((await post(fetch, route, body)).json.error.param).toBe(param);
  const late = createFetch(scriptedEngine(() => [start(), token('a'), 'task', error]));
  const { events } = await post(late, route, { ...body, stream: true });
  const told = events.at(-1);
  if (route !== 'responses') expect(told.error.param).toBe(param);
});

test('embeddings name their field, too', async () => {
  const embed = async () => Promise.reject(Object.assign(failure('invalid-request'), { option: 'texts' }));
  const fetch = createFetch(Object.assign(scriptedEngine(), { embed }));
  expect((await post(fetch, 'embeddings', { model: 'm', input: 'a' })).json.error).toMatchObject({ param: 'input' });
});

test('an abort stops the engine at once and rejects, and the next request is answered', async () => {
  const engine = scriptedEngine(({ messages }) =>
    messages[0]?.content === 'slow' ? [start(), token('a'), FOREVER, done()] : [start(), ...words('ok'), done()],
  );
  const fetch = createFetch(engine);
  for (const stream of [false, true]) {
    const abort = new AbortController();
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'slow' }], stream });
    const asked = fetch('http://x/chat/completions', { method: 'POST', body, signal: abort.signal });
    const read = asked.then((response) => response.text());
    read.catch(() => {});
    await nextTask();
    await nextTask();
    abort.abort();
    expect(engine.stopped).toBe(true);
    await expect(read).rejects.toMatchObject({ name: 'AbortError' });
    expect((await post(fetch, 'chat/completions', HELLO)).json.choices[0].message.content).toBe('ok');
  }
});

test('an aborted signal rejects before the engine is asked', async () => {
  const engine = scriptedEngine();
  const asked = createFetch(engine)('http://x/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(HELLO),
    signal: AbortSignal.abort(),
  });
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  expect(engine.asked).toHaveLength(0);
});

test('an abort rejects also while the body is read, and the engine is not asked', async () => {
  const engine = scriptedEngine();
  const abort = new AbortController();
  const reading = gate();
  const pull = () => {
    reading.resolve();
    return FOREVER;
  };
  const body = new ReadableStream({ pull });
  const asked = createFetch(engine)('http://x/v1/chat/completions', { method: 'POST', body, signal: abort.signal });
  await reading.promise;
  abort.abort();
  await expect(Promise.race([asked, nextTask().then(() => 'waits')])).rejects.toMatchObject({ name: 'AbortError' });
  expect(engine.asked).toHaveLength(0);
});

test('an abort behind the end of an answer ends a stream that is not read to its end', async () => {
  const abort = new AbortController();
  const response = await createFetch(scriptedEngine())('http://x/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ ...HELLO, stream: true }),
    signal: abort.signal,
  });
  for (let i = 0; i < 5; i++) await nextTask(); // the engine is done
  abort.abort();
  await expect(response.text()).rejects.toMatchObject({ name: 'AbortError' });
});

test('a reader who leaves the stream stops the engine', async () => {
  const engine = scriptedEngine(() => [start(), token('a'), FOREVER, done()]);
  const response = await createFetch(engine)('http://x/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ ...HELLO, stream: true }),
  });
  await response.body?.cancel();
  expect(engine.stopped).toBe(true);
});

test('models are listed and found by name', async () => {
  const fetch = createFetch(scriptedEngine(), {
    models: { 'org/other': scriptedEngine(() => [start(), ...words('other'), done()]) },
  });
  const list = await (await fetch('http://x/v1/models')).json();
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual(['storyteller', 'org/other']);
  expect(await (await fetch('http://x/v1/models/org%2Fother')).json()).toMatchObject({
    id: 'org/other',
    object: 'model',
  });
  expect((await fetch('http://x/v1/models/none')).status).toBe(404);
  const { json } = await post(fetch, 'chat/completions', { ...HELLO, model: 'org/other' });
  expect(json.choices[0].message.content).toBe('other');
  for (const model of ['m', '__proto__', 'constructor']) {
    const refused = await post(fetch, 'chat/completions', { ...HELLO, model });
    expect([refused.status, refused.json.error.code]).toEqual([404, 'model_not_found']);
  }
});

test('an option that is none is refused with the nearest name, and null stands for no options', async () => {
  const other = scriptedEngine();
  expect(() => createFetch(scriptedEngine(), { model: { other } } as object)).toThrow(
    'model is no option, but models is. Choose among models.',
  );
  for (const options of [null, { models: null as never }, { models: undefined }]) {
    const { json } = await post(createFetch(scriptedEngine(), options), 'chat/completions', HELLO);
    expect(json.choices[0].message.content).toBe('You said: hello');
  }
});

test('addresses are known by their end: any host, prefix and query, relative ones, URL and Request', async () => {
  const fetch = createFetch(scriptedEngine());
  const init = { method: 'POST', body: JSON.stringify(HELLO) };
  for (const input of [
    'https://api.openai.com/v1/chat/completions',
    '/v1/chat/completions?api-version=1',
    'chat/completions',
    new URL('http://x/a/b/chat/completions/'),
  ])
    expect((await fetch(input, init)).status).toBe(200);
  const request = new Request('http://x/v1/chat/completions', init);
  expect((await (await fetch(request)).json()).choices[0].message.content).toBe('You said: hello');
  const bytes = new TextEncoder().encode(init.body);
  for (const body of [new Blob([bytes]), bytes, new Blob([bytes]).stream()])
    expect((await fetch('http://x/v1/chat/completions', { method: 'POST', body })).status).toBe(200);
});

test('an unknown address is a 404, another method a 405', async () => {
  const fetch = createFetch(scriptedEngine());
  expect((await post(fetch, 'images/generations', {})).json.error.code).toBe('unknown_url');
  expect((await fetch('https://example.com/')).status).toBe(404);
  const wrong = await fetch('http://x/v1/chat/completions');
  expect([wrong.status, (await wrong.json()).error.code]).toEqual([405, 'method_not_allowed']);
  expect((await fetch('http://x/v1/models', { method: 'DELETE' })).status).toBe(405);
});
