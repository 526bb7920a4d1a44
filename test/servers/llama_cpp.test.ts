// RemoteEngine over llama.cpp's own server, and the same greedy text as the engine in the page.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseObject } from '../../src/remote/bounded_json';
import { RemoteEngine } from '../../src/remote/remote_engine';
import { generateInPage } from '../../tools/lib/generate_in_page';
import { collect } from '../remote/collect';
import { type LlamaServer, startLlamaServer } from './llama_server';

const STORY = 'Tell me a story about a brave cat';
const ASK = [{ role: 'user', content: STORY }] as const;
const GREEDY = { temperature: 0, maxTokens: 24 };

let server: LlamaServer;
let engine: RemoteEngine;

beforeAll(async () => {
  server = await startLlamaServer();
  engine = await RemoteEngine.load(server.address);
});

afterAll(() => server?.close());

test('a story, token by token, with the times of the server beside ours', async () => {
  expect([engine.kind, engine.info.contextLength]).toEqual(['llama.cpp', 512]);
  const { text, tokens, usage, prefill, metrics, finishReason } = await collect(engine.chat(ASK, GREEDY));
  expect(text).toMatch(/^Once upon a time/);
  expect([tokens.length, finishReason]).toEqual([24, 'length']);
  expect(prefill.at(-1)).toEqual([usage?.promptTokens, usage?.promptTokens]);
  expect(usage).toMatchObject({ cachedTokens: 0, completionTokens: 24 });
  const { server: own, beyondServer, tokensPerChunk } = metrics?.network ?? {};
  expect([own?.promptMs, own?.tokenMs, beyondServer?.ttftMs].every((ms) => Number(ms) > 0)).toBe(true);
  expect(tokensPerChunk).toBe(1);
});

test('the same greedy text as the engine in the page', async () => {
  const { text } = await collect(engine.chat(ASK, GREEDY));
  const load = { backend: 'cpu', activations: 'f32', kvCache: 'f32' } as const;
  const [local] = await generateInPage({ model: undefined, prompt: STORY, chat: null, load, options: GREEDY }, {});
  expect(text).toBe(local?.report.text);
});

test('a text continued, and the beginning of a message that is not said again', async () => {
  const { text } = await collect(engine.complete('Once upon a time', { ...GREEDY, maxTokens: 8 }));
  expect(text).toMatch(/^, there was/);
  const begun = [...ASK, { role: 'assistant', content: 'Once upon' }] as const;
  const { text: rest, tokens } = await collect(engine.chat(begun, { ...GREEDY, maxTokens: 4, continueLast: true }));
  expect([rest.startsWith(' a time'), tokens.length]).toEqual([true, 4]);
});

test('what was read is not read again, unless the caller wants it', async () => {
  await collect(engine.chat(ASK, { ...GREEDY, maxTokens: 2 }));
  const again = await collect(engine.chat(ASK, { ...GREEDY, maxTokens: 2 }));
  expect(again.usage?.cachedTokens).toBe(Number(again.usage?.promptTokens) - 1);
  const fresh = await collect(engine.chat(ASK, { ...GREEDY, maxTokens: 2, reuseCache: false }));
  expect(fresh.usage?.cachedTokens).toBe(0);
});

test('log probabilities, with ids', async () => {
  const { tokens } = await collect(engine.chat(ASK, { ...GREEDY, maxTokens: 2, logprobs: 3 }));
  const [first] = tokens;
  expect(first?.logprobs?.top).toHaveLength(3);
  expect(first?.logprobs?.chosen).toEqual(first?.logprobs?.top[0]);
  expect(first?.id).toBe(first?.logprobs?.chosen.id);
  expect(first?.logprobs?.chosen.logprob).toBeLessThan(0);
});

test('a schema, a choice with quotes, and a grammar that is none', async () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a'],
    additionalProperties: false,
  };
  const json = await collect(
    engine.chat(ASK, { temperature: 0, maxTokens: 60, constraint: { kind: 'json_schema', schema } }),
  );
  expect(parseObject(json.text)).toEqual({ a: expect.any(Number) });
  const texts = ['yes "no"', 'per\\haps'];
  const choice = await collect(engine.chat(ASK, { temperature: 0, constraint: { kind: 'choice', texts } }));
  expect(texts).toContain(choice.text);
  const none = collect(engine.chat(ASK, { constraint: { kind: 'grammar', source: 'root ::= nothing' } }));
  await expect(none).rejects.toMatchObject({ code: 'invalid-request', message: expect.stringContaining('grammar') });
});

test('all options are taken', async () => {
  const options = { topK: 0, topP: 0.9, minP: 0.1, repetitionPenalty: 1.1, presencePenalty: 0.1, seed: 5 };
  const more = { ignoreEos: true, logitBias: { 441: -100 }, thinking: 'off', stop: ['zzz'], maxTokens: 4 } as const;
  const { text, warnings, tokens } = await collect(engine.chat(ASK, { ...options, ...more, temperature: 0.5 }));
  expect([warnings, tokens.length, text.startsWith('Once')]).toEqual([[], 4, false]); // 441 is Once
});

test('a prompt that is too long', async () => {
  const long = collect(engine.chat([{ role: 'user', content: 'cat '.repeat(900) }]));
  await expect(long).rejects.toMatchObject({ code: 'context-overflow', message: expect.stringContaining('512') });
});

test('an abort stops the server, which answers on', async () => {
  const stop = new AbortController();
  let last = '';
  for await (const event of engine.chat(ASK, { maxTokens: 400, signal: stop.signal })) {
    if (event.type === 'token') stop.abort();
    if (event.type === 'done') last = event.finishReason;
  }
  expect(last).toBe('abort');
  await expect.poll(() => server.stopped).toBe(1);
  expect((await collect(engine.chat(ASK, { ...GREEDY, maxTokens: 2 }))).tokens).toHaveLength(2);
});
