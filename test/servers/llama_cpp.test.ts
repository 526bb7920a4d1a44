// RemoteEngine over llama.cpp's own server, and the same greedy text as the engine in the page.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineChatOptions } from '../../src/engine/engine';
import type { ToolCall } from '../../src/engine/protocol';
import { RemoteEngine } from '../../src/remote/remote_engine';
import { parseObject } from '../../src/remote/server/bounded_json';
import { generateInPage } from '../../tools/lib/generate/generate_in_page';
import { chainGguf, says } from '../chain/chain_model';
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

describe('tools, thinking and choices', () => {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  };
  const tools = [{ name: 'weather', description: 'Tells the weather of a city', parameters }];
  const other = { name: 'launch', parameters: { type: 'object' } };
  const BERN = '{"city": "Bern", "days": 2}';
  let chain: LlamaServer;
  let engine: RemoteEngine;

  beforeAll(async () => {
    chain = await startLlamaServer(chainGguf(), 1024);
    engine = await RemoteEngine.load(chain.address);
  });

  afterAll(() => chain?.close());

  const ask = async (content: string, options: EngineChatOptions = {}) => {
    const answer = await collect(engine.chat([{ role: 'user', content }], { temperature: 0, tools, ...options }));
    return { ...answer, made: callsOf(answer.calls) };
  };

  test('a call, its result, and the answer from it', async () => {
    const { text, made, finishReason, callErrors } = await ask('What is the weather in Bern?');
    expect([text, finishReason, callErrors]).toEqual(['', 'tool-calls', []]);
    expect(made).toEqual([{ id: expect.stringMatching(/./), name: 'weather', arguments: BERN }]);
    const told = [
      { role: 'user', content: 'What is the weather in Bern?' },
      { role: 'assistant', content: '', toolCalls: made },
      { role: 'tool', content: '{"degrees":21}', toolCallId: made[0].id },
    ] as const;
    const answer = await collect(engine.chat(told, { temperature: 0, tools }));
    expect([answer.text, answer.calls]).toEqual([says('result'), []]);
  });

  test('two calls behind a text', async () => {
    const { text, made, finishReason } = await ask('both');
    expect([text.trim(), finishReason]).toEqual(['I ask for both cities.', 'tool-calls']);
    expect(made.map((call) => JSON.parse(call.arguments))).toEqual([JSON.parse(BERN), { city: 'Basel' }]);
  });

  test('thinking, with and without a call behind it', async () => {
    const plan = await ask('plan');
    expect([plan.text, plan.reasoning.trim()]).toEqual(['', 'A plan needs the weather first.']);
    expect(plan.made).toMatchObject([{ name: 'weather', arguments: '{"city": "Basel"}' }]);
    const thought = await ask('think');
    expect([thought.text, thought.calls]).toEqual(['The answer is 42.', []]);
    expect(thought.reasoning.trim()).toBe('They ask me to think, and I do: 6 times 7 is 42.');
  });

  test('a call of a tool that is not there, and one that is cut, are mended by the grammar of the server', async () => {
    for (const content of ['unknown', 'broken']) {
      const { made, callErrors } = await ask(content);
      expect([made.map(({ name }) => name), callErrors]).toEqual([['weather'], []]);
      expect(parseObject(made[0].arguments)).toMatchObject({ city: expect.any(String) });
    }
  });

  test('a choice by name leaves one tool, and an answer without a call says so', async () => {
    const named = await ask('weather', { tools: [...tools, other], toolChoice: { name: 'weather' } });
    expect([named.made, named.warnings]).toMatchObject([[{ name: 'weather', arguments: BERN }], []]);
    const none = await ask('hello', { toolChoice: 'required', maxTokens: 20 }); // the model talks on, unmasked
    expect([none.calls, none.warnings]).toEqual([[], [expect.stringContaining('called no tool')]]);
  });
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

/** The parts of calls, put together. */
function callsOf(parts: Awaited<ReturnType<typeof collect>>['calls']): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const { index, id = '', name = '', arguments: text } of parts) {
    calls[index] ??= { id, name, arguments: '' };
    calls[index].arguments += text;
  }
  return calls;
}
