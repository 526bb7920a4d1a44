// The full circle: an engine's interface, as HTTP by createFetch, as an engine again.

import { expect, test } from 'vitest';
import { createFetch } from '../../src/api/openai/fetch';
import { RemoteEngine } from '../../src/remote/remote_engine';
import { createAssistant } from '../api/openai/assistant';
import { done, FOREVER, scriptedEngine, start, token } from '../api/scripted_engine';
import { collect } from './collect';

const ask = (content: string) => [{ role: 'user', content }] as const;
const TOOLS = [{ name: 'weather', description: 'The weather.', parameters: { type: 'object' } }];

async function assistant() {
  const { engine: local, fetch } = createAssistant();
  return { local, engine: await RemoteEngine.load('http://vivace', { fetch }) };
}

test('the kind, the name and the limits', async () => {
  const { engine } = await assistant();
  expect([engine.kind, engine.info.model.name, engine.info.contextLength]).toEqual(['vivace', 'storyteller', 64]);
});

test('a conversation, with the ids of its tokens and the counts', async () => {
  const { engine } = await assistant();
  const answer = await collect(engine.chat(ask('hello')));
  expect([answer.text, answer.finishReason]).toEqual(['You said: hello', 'eos']);
  expect(answer.tokens.map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(answer.usage).toEqual({ promptTokens: 5, cachedTokens: 2, completionTokens: 3, reasoningTokens: 0 });
});

test('a text and ids continued', async () => {
  const { engine } = await assistant();
  expect((await collect(engine.complete('Once'))).text).toBe('After Once');
  expect((await collect(engine.complete([3, 4]))).text).toBe('After 3,4');
});

test('thinking, and what was thought goes back', async () => {
  const { local, engine } = await assistant();
  const answer = await collect(engine.chat(ask('think'), { thinking: 'on' }));
  expect([answer.reasoning, answer.text]).toEqual(['Let me see.', 'It is 4.']);
  expect(local.asked.at(-1)?.options.templateArguments).toEqual({ enable_thinking: true });
  const messages = [{ role: 'assistant', content: answer.text, reasoning: answer.reasoning }] as const;
  await collect(engine.chat([...messages, ...ask('why?')]));
  expect(local.asked.at(-1)?.messages[0]).toMatchObject(messages[0]);
});

test('a call, its result, and the answer behind it', async () => {
  const { local, engine } = await assistant();
  const { calls, callErrors, finishReason } = await collect(engine.chat(ask('weather?'), { tools: TOOLS }));
  expect(calls[0]).toMatchObject({ index: 0, id: 'call_1', name: 'weather' });
  const text = calls.map((part) => part.arguments).join('');
  expect([text, finishReason, callErrors]).toEqual(['{"city":"Bern"}', 'tool-calls', []]);
  const toolCalls = [{ id: 'call_1', name: 'weather', arguments: text }];
  const { text: told } = await collect(
    engine.chat(
      [
        ...ask('weather?'),
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', content: '{"degrees":21}', toolCallId: 'call_1' },
      ],
      { tools: TOOLS, toolChoice: 'auto' },
    ),
  );
  expect(told).toBe('It is 21 degrees.');
  expect(local.asked.at(-1)?.messages[1]).toMatchObject({ role: 'assistant', content: '', toolCalls });
});

test('calls that cannot be made', async () => {
  const { engine } = await assistant();
  const { callErrors } = await collect(engine.chat(ask('weather?'), { tools: [{ name: 'other' }] }));
  const text = '{"city":"Bern"}';
  expect(callErrors).toEqual([{ type: 'tool-call-error', index: 0, message: 'There is no tool "weather".', text }]);
  const call = { type: 'tool-call', index: 0, id: 'a', name: 'weather', arguments: '{"city":' } as const;
  const cut = scriptedEngine(() => [start(), token(''), call, done({ finishReason: 'length' })]);
  const remote = await RemoteEngine.load('http://vivace', { fetch: createFetch(cut) });
  const broken = await collect(remote.chat(ask('weather?'), { tools: TOOLS }));
  expect([broken.callErrors, broken.finishReason]).toEqual([
    [
      {
        type: 'tool-call-error',
        index: 0,
        message: 'The arguments of "weather" are no JSON object.',
        text: '{"city":',
      },
    ],
    'length',
  ]);
});

test('an answer without the call that was asked for', async () => {
  const { engine } = await assistant();
  const { warnings } = await collect(engine.chat(ask('hello'), { tools: TOOLS, toolChoice: 'required' }));
  expect(warnings).toEqual([expect.stringContaining('called no tool')]);
  expect((await collect(engine.chat(ask('hello'), { tools: TOOLS }))).warnings).toEqual([]);
});

test('constraints arrive as they were given', async () => {
  const { local, engine } = await assistant();
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  for (const constraint of [
    { kind: 'json_object' },
    { kind: 'json_schema', schema },
    { kind: 'grammar', source: 'root ::= "a"' },
  ] as const) {
    await collect(engine.chat(ask('where?'), { constraint }));
    expect(local.asked.at(-1)?.options.constraint).toEqual(constraint);
  }
  await collect(engine.chat(ask('where?'), { constraint: { kind: 'choice', texts: ['a"b', 'c\n'] } }));
  expect(local.asked.at(-1)?.options.constraint).toEqual({ kind: 'grammar', source: 'root ::= "a\\"b" | "c\\x0a"' });
  const regex = collect(engine.chat(ask('where?'), { constraint: { kind: 'regex', source: 'a' } }));
  await expect(regex).rejects.toMatchObject({ code: 'invalid-request', message: expect.stringContaining('regex') });
});

test('the options of an answer', async () => {
  const { local, engine } = await assistant();
  const options = {
    temperature: 0.5,
    topK: 5,
    topP: 0.8,
    minP: 0.1,
    repetitionPenalty: 1.1,
    presencePenalty: 0.2,
    frequencyPenalty: 0.3,
    maxTokens: 9,
    minTokens: 2,
    seed: 7,
    stop: ['.'],
    logitBias: { 5: -100 },
    ignoreEos: true,
    logprobs: 2,
  };
  const { warnings } = await collect(engine.chat(ask('hello'), options));
  expect(local.asked.at(-1)?.options).toMatchObject(options);
  expect(warnings).toEqual([]);
  await collect(engine.chat(ask('hello'), { topK: 0 }));
  expect(local.asked.at(-1)?.options.topK).toBe(0);
});

test('the last message continued', async () => {
  const { local, engine } = await assistant();
  await collect(engine.chat([...ask('hi'), { role: 'assistant', content: 'Well' }], { continueLast: true }));
  expect(local.asked.at(-1)?.options.continueLast).toBe(true);
});

test('errors keep their meaning, before the answer and in its middle', async () => {
  const { engine } = await assistant();
  const overflow = { code: 'context-overflow', message: expect.stringContaining('the context holds 8') };
  await expect(collect(engine.chat(ask('boom')))).rejects.toMatchObject(overflow);
  const heard: string[] = [];
  const late = async () => {
    for await (const event of engine.chat(ask('late boom'))) if (event.type === 'token') heard.push(event.text);
  };
  await expect(late()).rejects.toMatchObject({ code: 'server-failed', message: expect.stringContaining('GPU device') });
  expect(heard.join('')).toBe('a few words ');
  await expect(collect(engine.chat(ask('lost for good')))).rejects.toMatchObject({ code: 'server-busy', status: 503 });
  const illegal = collect(engine.chat(ask('hello'), { temperature: -1 }));
  await expect(illegal).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringContaining('temperature'),
  });
});

test('an engine that recovers answers on', async () => {
  const { engine } = await assistant();
  expect((await collect(engine.chat(ask('lost')))).text).toBe('a few words');
});

test('an abort stops the engine behind', async () => {
  const { local, engine } = await assistant();
  const stop = new AbortController();
  let text = '';
  for await (const event of engine.chat(ask('slow'), { signal: stop.signal })) {
    if (event.type === 'token') text += event.text;
    if (event.type === 'token') stop.abort();
  }
  expect([text, local.stopped]).toEqual(['one two ', true]);
  expect((await collect(engine.chat(ask('on')))).text).toBe('You said: on');
});

test('the progress of a prompt, and log probabilities', async () => {
  const chosen = { id: 4, token: 'a', bytes: [97], logprob: -0.5 };
  const script = [
    start(0, 9, 3),
    { type: 'prefill', done: 4, total: 6 },
    Promise.resolve(),
    { type: 'prefill', done: 6, total: 6 },
    token('a', 4, { logprobs: { chosen, top: [chosen] } }),
    done(),
  ] as const;
  const engine = await RemoteEngine.load('http://vivace', { fetch: createFetch(scriptedEngine(() => script)) });
  const { prefill, tokens } = await collect(engine.chat(ask('a'), { logprobs: 1 }));
  expect(prefill.at(-1)).toEqual([6, 6]);
  expect(tokens.map(({ id, logprobs }) => [id, logprobs])).toEqual([[4, { chosen, top: [chosen] }]]);
});

test('an answer that never comes is left at once', async () => {
  const script = () => [start(), FOREVER];
  const engine = await RemoteEngine.load('http://vivace', { fetch: createFetch(scriptedEngine(script)) });
  const stop = new AbortController();
  const answer = collect(engine.chat(ask('a'), { signal: stop.signal }));
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  expect((await answer).finishReason).toBe('abort');
});
