// Streams in the shapes of three servers, over a real connection, in pieces of several sizes.

import { expect, test } from 'vitest';
import { collect, HELLO } from '../collect';
import { CARDS, chunkOf, connect, play, sendJson, stream } from '../http_server';

const WEATHER = [{ name: 'weather', parameters: { type: 'object' } }];
const DONE = 'data: [DONE]\n\n';

test.each([7, 100_000])('vLLM: text, counts and the limit of the context, in pieces of %d bytes', async (size) => {
  const { engine } = await connect(play(stream('vllm_chat'), size));
  expect(engine.info).toMatchObject({ model: { name: 'qwen' }, backend: 'remote', contextLength: 4096 });
  const answer = await collect(engine.chat(HELLO));
  expect([answer.text, answer.finishReason]).toEqual(['Grüße aus 日本 🌍', 'eos']);
  expect(answer.starts).toEqual([{ type: 'start', choice: 0, promptIds: [], cachedTokens: 0 }]);
  expect(answer.tokens.map(({ text }) => text)).toEqual(['Grüße', '', ' aus', ' 日本 🌍', '']);
  expect(answer.tokens.map(({ position }) => position)).toEqual([9, 10, 11, 12, 13]);
  expect(answer.usage).toEqual({ promptTokens: 9, cachedTokens: 4, completionTokens: 6, reasoningTokens: 0 });
  expect(answer.metrics).toMatchObject({ network: { chunks: 3, tokensPerChunk: 2, tries: 1, server: null } });
  expect(engine.metrics).toBe(answer.metrics);
});

test('vLLM: thinking and calls', async () => {
  const { engine } = await connect(play(stream('vllm_tools'), 11));
  const { calls, ...answer } = await collect(engine.chat(HELLO, { tools: WEATHER }));
  expect([answer.reasoning, answer.text, answer.finishReason]).toEqual([
    'The user wants the weather.',
    '',
    'tool-calls',
  ]);
  expect(calls[0]).toEqual({ type: 'tool-call', index: 0, id: 'chatcmpl-tool-8f1', name: 'weather', arguments: '' });
  expect(calls.map((part) => part.arguments).join('')).toBe('{"city": "Bern"}');
  expect(answer.callErrors).toEqual([]);
  expect(answer.usage).toMatchObject({ promptTokens: 120, completionTokens: 18, reasoningTokens: 6 });
  expect(answer.tokens).toHaveLength(17);
});

test('SGLang: null fields, thinking, log probabilities, the end by a stop text', async () => {
  const { engine } = await connect(play(stream('sglang_chat'), 13), {}, CARDS.sglang);
  expect(engine.kind).toBe('sglang');
  const answer = await collect(engine.chat(HELLO, { logprobs: 2, stop: ['.'] }));
  expect([answer.reasoning, answer.text, answer.finishReason]).toEqual(['Hm.', 'Yes it', 'stop']);
  const no = { id: -1, token: ' no', bytes: [32, 110, 111], logprob: -3.5 };
  const yes = { id: -1, token: 'Yes', bytes: [89, 101, 115], logprob: -0.25 };
  expect(answer.tokens[1]?.logprobs).toEqual({ chosen: yes, top: [yes, no] });
  expect(answer.usage).toEqual({ promptTokens: 11, cachedTokens: 3, completionTokens: 5, reasoningTokens: 2 });
});

test.each([9, 100_000])('llama.cpp: progress, times of its own, CRLF, in pieces of %d bytes', async (size) => {
  const { engine } = await connect(play(stream('llamacpp_chat'), size), {}, CARDS['llama.cpp']);
  const { model, contextLength } = engine.info;
  expect([model.parameters, model.vocabSize, model.fileBytes, contextLength]).toEqual([1e6, 512, 2e6, 2048]);
  const answer = await collect(engine.chat(HELLO, { maxTokens: 4 }));
  expect(answer.prefill).toEqual([
    [2, 5],
    [5, 5],
  ]);
  expect(answer.starts[0]?.cachedTokens).toBe(2);
  expect([answer.text, answer.finishReason, answer.tokens.length]).toEqual(['Once upon a time', 'length', 4]);
  expect(answer.usage).toEqual({ promptTokens: 7, cachedTokens: 2, completionTokens: 4, reasoningTokens: 0 });
  expect(answer.metrics).toMatchObject({
    prefillMs: 80,
    prefillTokensPerSecond: 62.5,
    network: { server: { promptMs: 80, tokenMs: 20 } },
  });
});

test('llama.cpp: a text continued', async () => {
  const { engine, heard } = await connect(play(stream('llamacpp_completion')), {}, CARDS['llama.cpp']);
  const answer = await collect(engine.complete('Once', { seed: 3 }));
  expect([answer.text, answer.finishReason, answer.done?.seed]).toEqual(['there was', 'eos', 3]);
  expect(heard.at(-1)).toMatchObject({ path: '/v1/completions', body: { prompt: 'Once', seed: 3, stream: true } });
  await collect(engine.complete([1, 2, 3]));
  expect(heard.at(-1)?.body.prompt).toEqual([1, 2, 3]);
});

test('llama.cpp: the beginning of a message that it says again', async () => {
  const respond = play(stream('llamacpp_continued'), 17);
  const { engine } = await connect(respond, {}, CARDS['llama.cpp']);
  const messages = [...HELLO, { role: 'assistant', content: 'Once upon' }] as const;
  const { text, tokens, starts } = await collect(engine.chat(messages, { continueLast: true }));
  expect([text, tokens.length, starts[0]?.cachedTokens]).toEqual([' a time', 2, 18]);
  expect((await collect(engine.chat(HELLO))).text).toBe('Once upon a time');
});

test('a server that says no more than OpenAI gets a seed only where one is asked for', async () => {
  const { engine, heard } = await connect(play(stream('vllm_chat')), { kind: 'openai' });
  await collect(engine.chat(HELLO, { n: 2 }));
  await collect(engine.chat(HELLO, { seed: 5 }));
  expect(heard.slice(1).map(({ body }) => body.seed)).toEqual([undefined, undefined, 5]);
  expect(Object.keys(heard[1]?.body).sort()).toEqual(['messages', 'model', 'stream', 'stream_options']);
  const known = await connect(play(stream('vllm_chat')));
  await collect(known.engine.chat(HELLO));
  expect(known.heard.at(-1)?.body.seed).toEqual(expect.any(Number));
});

test('a server that wants the newer name of max_tokens gets it, and from then on at once', async () => {
  const answer = play(stream('vllm_chat'));
  const { engine, heard } = await connect((response, request) => {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    if ('max_tokens' in request.body) sendJson(response, { error: { message, code: 'unsupported_parameter' } }, 400);
    else answer(response, request);
  });
  for (let i = 0; i < 2; i++) await collect(engine.chat(HELLO, { maxTokens: 9 }));
  await collect(engine.chat(HELLO));
  const told = heard.slice(1).map(({ body }) => [body.max_tokens, body.max_completion_tokens]);
  expect(told).toEqual([
    [9, undefined],
    [undefined, 9],
    [undefined, 9],
    [undefined, undefined],
  ]);
});

test('answers to one prompt have a seed each', async () => {
  const { engine, heard } = await connect(play(stream('vllm_chat')));
  const { starts, all } = await collect(engine.chat(HELLO, { n: 3, seed: 4_294_967_295, gpuTimes: true }));
  expect(starts.map(({ choice }) => choice)).toEqual([0, 1, 2]);
  expect(heard.slice(1).map(({ body }) => body.seed)).toEqual([4_294_967_295, 0, 1]);
  expect(all.at(-1)).toEqual({ type: 'gpuTimes', gpuMs: null });
});

test.each([
  ['one number', { index: 0 }],
  ['no number', {}],
])('calls with %s for all are told apart by their ids', async (_, place) => {
  const begin = (id: string, city: string) => ({ ...place, id, function: { name: 'weather', arguments: city } });
  const goesOn = { ...place, function: { arguments: '"}' } };
  const parts = [begin('a', '{"city":"'), goesOn, begin('b', '{"city":"Oslo'), goesOn];
  const chunks = parts.map((part) => chunkOf({ tool_calls: [part] }));
  const { engine } = await connect(play(Buffer.from([...chunks, chunkOf({}, 'tool_calls'), DONE].join(''))));
  const { calls, callErrors, finishReason } = await collect(engine.chat(HELLO, { tools: WEATHER }));
  expect(calls).toEqual([
    { type: 'tool-call', index: 0, id: 'a', name: 'weather', arguments: '{"city":"' },
    { type: 'tool-call', index: 0, arguments: '"}' },
    { type: 'tool-call', index: 1, id: 'b', name: 'weather', arguments: '{"city":"Oslo' },
    { type: 'tool-call', index: 1, arguments: '"}' },
  ]);
  expect([callErrors, finishReason]).toEqual([[], 'tool-calls']);
});

test('a refusal is the text of the answer', async () => {
  const parts = [chunkOf({ role: 'assistant', content: null, refusal: 'I cannot ' }), chunkOf({ refusal: 'do that.' })];
  const { engine } = await connect(play(Buffer.from([...parts, chunkOf({}, 'stop'), DONE].join(''))), {}, CARDS.openai);
  const { text, tokens, finishReason } = await collect(engine.chat(HELLO));
  expect([text, tokens.length, finishReason]).toEqual(['I cannot do that.', 2, 'eos']);
});

test('the likeliest tokens come in their order, whatever the order of the server', async () => {
  const top = { a: -0.5, '7': -2, '10': -1 }; // a map of JSON begins with its numbers
  const logprobs = { tokens: ['7'], token_logprobs: [-2], top_logprobs: [top] };
  const choices = [{ index: 0, text: '7', logprobs, finish_reason: 'stop' }];
  const { engine } = await connect(play(Buffer.from(`data: ${JSON.stringify({ choices })}\n\n${DONE}`)));
  const completed = await collect(engine.complete('4 + 3 =', { logprobs: 3 }));
  expect(completed.tokens[0]?.logprobs?.top.map(({ token }) => token)).toEqual(['a', '10', '7']);

  const entries = Object.entries(top).map(([token, logprob]) => ({ token, logprob, bytes: null }));
  const content = [{ ...entries[0], top_logprobs: entries }]; // vLLM: first the one that was drawn
  const chunk = { choices: [{ index: 0, delta: { content: '7' }, logprobs: { content }, finish_reason: 'stop' }] };
  const { engine: chatting } = await connect(play(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n${DONE}`)));
  const chat = await collect(chatting.chat(HELLO, { logprobs: 3 }));
  expect(chat.tokens[0]?.logprobs?.top.map(({ token }) => token)).toEqual(['a', '10', '7']);
});

test.each([
  ['that was broken off', 'weather', '{"city": "Be', 'eos', 1],
  ['of an unknown tool', 'fly', '{}', 'eos', 1],
  ['that can be made', 'weather', '{"city": "Bern"}', 'tool-calls', 0],
])('an answer that stopped with a call %s ended for what it holds', async (_, name, text, reason, nErrors) => {
  const part = { index: 0, id: 'a', function: { name, arguments: text } };
  const chunks = [chunkOf({ tool_calls: [part] }), chunkOf({}, 'stop'), DONE];
  const { engine } = await connect(play(Buffer.from(chunks.join(''))));
  const { callErrors, finishReason } = await collect(engine.chat(HELLO, { tools: WEATHER }));
  expect([callErrors.length, finishReason]).toEqual([nErrors, reason]);
});
