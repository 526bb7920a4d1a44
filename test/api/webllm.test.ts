// WebLLM's interface: loading, answers whole and streamed, interruption, figures.

import { expect, expectTypeOf, test } from 'vitest';
import type { EngineEvent } from '../../src/api/api_engine';
import { type Completion, CreateMLCEngine, MLCEngine, type MLCEngineConfig } from '../../src/api/webllm';
import type { Engine } from '../../src/engine/engine';
import type { LoadProgress } from '../../src/engine/protocol';
import { done, failure, LOSS, type Script, scriptedEngine, start, token, words } from './scripted_engine';

function loader(script?: Parameters<typeof scriptedEngine>[0]) {
  const scripted = scriptedEngine(script);
  const loads: string[] = [];
  let unloads = 0;
  const load = async (model: string, { onProgress }: { onProgress: (progress: LoadProgress) => void }) => {
    loads.push(model);
    onProgress({ stage: 'weights', loadedBytes: 1, totalBytes: 4 } as LoadProgress);
    onProgress({ stage: 'ready', loadedBytes: 0, totalBytes: 0 } as LoadProgress);
    return Object.assign(scripted, { unload: async () => void unloads++ });
  };
  return { load, loads, scripted, unloads: () => unloads };
}

const messages = [{ role: 'user', content: 'hello there' }];

async function chunksOf(stream: AsyncIterable<Completion>): Promise<Completion[]> {
  const chunks: Completion[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

test('a model is loaded with reports of its progress, and reload unloads the one before', async () => {
  const { load, loads, unloads } = loader();
  const reports: { progress: number; text: string }[] = [];
  const engine = await CreateMLCEngine('hf:a/b', { load, initProgressCallback: (report) => reports.push(report) });
  expect(reports.map(({ progress }) => progress)).toEqual([0.25, 1]);
  expect(reports[0].text).toContain('weights): 25%');
  expect(reports[1].text).toMatch(/^Finish loading/);
  engine.setInitProgressCallback(() => {});
  await engine.reload('hf:c/d');
  expect([loads, unloads(), reports.length]).toEqual([['hf:a/b', 'hf:c/d'], 1, 2]);
});

test('of loads that overlap the last one wins, and no engine of the others stays', async () => {
  const loads: { model: string; signal: AbortSignal; finish: () => void }[] = [];
  const unloaded: string[] = [];
  const load: MLCEngineConfig['load'] = (model, { signal }) =>
    new Promise((resolve) => {
      const unload = async () => void unloaded.push(model);
      loads.push({ model, signal, finish: () => resolve(Object.assign(scriptedEngine(), { unload })) });
    });
  const engine = new MLCEngine({ load });
  const first = engine.reload('first');
  const second = engine.reload('second');
  first.catch(() => {});
  await expect.poll(() => loads.at(-1)?.model).toBe('second');
  for (const { finish } of loads.toReversed()) finish();
  await second;
  await expect(first).rejects.toMatchObject({ name: 'AbortError' });
  expect(unloaded).toEqual(loads.slice(0, -1).map(({ model }) => model));

  const third = engine.reload('third');
  await expect.poll(() => loads.at(-1)?.model).toBe('third');
  await engine.unload();
  expect(loads.at(-1)?.signal.aborted).toBe(true);
  loads.at(-1)?.finish();
  await expect(third).rejects.toMatchObject({ name: 'AbortError' });
  expect(unloaded).toEqual(loads.map(({ model }) => model));
  await expect(engine.chat.completions.create({ messages })).rejects.toThrow('reload()');
});

test('Engine.load is a function that loads', () => {
  expectTypeOf<typeof Engine.load>().toExtend<MLCEngineConfig['load']>();
});

test('an engine without a model refuses requests', async () => {
  const { load } = loader();
  await expect(new MLCEngine({ load }).chat.completions.create({ messages })).rejects.toThrow('reload()');
  const engine = await CreateMLCEngine('m', { load });
  await engine.unload();
  await expect(engine.chat.completions.create({ messages })).rejects.toThrow('reload()');
});

test('chat.completions gives a completion, or chunks with usage at the end', async () => {
  const engine = await CreateMLCEngine('m', { load: loader().load });
  const whole = await engine.chat.completions.create({ messages, temperature: 0 });
  expect(whole.choices[0].message.content).toBe('You said: hello there');
  const request = { messages, stream: true, stream_options: { include_usage: true } } as const;
  const chunks = await chunksOf(await engine.chat.completions.create(request));
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('You said: hello there');
  expect(chunks.at(-1)?.usage?.prompt_tokens).toBe(5);
  expect(await engine.getMessage()).toBe('You said: hello there');
});

test('completions and embeddings', async () => {
  const engine = await CreateMLCEngine('m', { load: loader().load });
  expect((await engine.completions.create({ prompt: 'Once' })).choices[0].text).toBe('After Once');
  const { data, usage } = await engine.embeddings.create({ input: ['abc'] });
  expect(data[0].embedding).toEqual([3, 0.5, -2]);
  expect(usage).toMatchObject({ prompt_tokens: 1, extra: { prefill_tokens_per_s: Number.NaN } });
});

test('the methods of the engine itself answer as those with create', async () => {
  const engine = await CreateMLCEngine('m', { load: loader().load });
  expect((await engine.chatCompletion({ messages })).choices[0].message.content).toBe('You said: hello there');
  const chunks = await chunksOf(await engine.chatCompletion({ messages, stream: true }));
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('You said: hello there');
  expect((await engine.completion({ prompt: 'Once' })).choices[0].text).toBe('After Once');
  expect((await engine.embedding({ input: 'abc' })).data[0].embedding).toEqual([3, 0.5, -2]);
});

test('what WebLLM can do and this engine cannot is refused by name', async () => {
  const { load, loads, scripted } = loader();
  const wrong = (fields: object) => ({ load, ...fields });
  expect(() => new MLCEngine(wrong({ appConfig: { model_list: [] } }))).toThrow('appConfig');
  expect(() => new MLCEngine(wrong({ logitProcessorRegistry: new Map() }))).toThrow('logitProcessorRegistry');
  expect(() => new MLCEngine({} as MLCEngineConfig)).toThrow('Engine.load');
  const options = { temperature: 0 } as unknown as null;
  await expect(CreateMLCEngine('m', { load }, options)).rejects.toThrow('chatOpts');
  await expect(new MLCEngine({ load }).reload(['a', 'b'] as unknown as string)).rejects.toThrow('one model');
  expect(loads).toEqual([]);
  const engine = await CreateMLCEngine('m', wrong({ logLevel: 'INFO', appConfig: undefined }));
  for (const field of ['enable_latency_breakdown', 'resumable']) {
    await engine.chat.completions.create({ messages, extra_body: { [field]: null } });
    const asking = engine.chat.completions.create({ messages, extra_body: { [field]: { enabled: true } } });
    await expect(asking).rejects.toThrow(field);
  }
  expect(scripted.asked).toHaveLength(2);
});

test('a config without load is refused, and further fields are ignored, as by WebLLM', async () => {
  const { load, scripted } = loader();
  for (const config of [null, undefined, {}, { load: 'Engine.load' }] as never[]) {
    expect(() => new MLCEngine(config)).toThrow('The config needs load, such as Engine.load.');
    await expect(CreateMLCEngine('m', config)).rejects.toThrow('The config needs load');
  }
  const engine = await CreateMLCEngine('m', { load, initprogressCallback: () => {} } as MLCEngineConfig);
  await engine.chat.completions.create({ messages, max_token: 3 });
  expect(scripted.asked[0].options.maxTokens).toBe(undefined);
  for (const request of [null, undefined, {}] as never[])
    await expect(engine.chat.completions.create(request)).rejects.toThrow('messages is missing.');
});

test('extra_body are variables of the chat template', async () => {
  const { load, scripted } = loader();
  const engine = await CreateMLCEngine('m', { load });
  await engine.chat.completions.create({ messages, extra_body: { enable_thinking: false } });
  expect(scripted.asked[0].options.templateArguments).toEqual({ enable_thinking: false });
});

test('an error is thrown with message and code, before a stream and in it', async () => {
  const { load } = loader();
  const engine = await CreateMLCEngine('m', { load });
  const wrong = { messages: [], stream: true } as const;
  await expect(engine.chat.completions.create(wrong)).rejects.toThrow('messages');
  await expect(engine.chat.completions.create({ messages: [] })).rejects.toThrow('messages');
  const script: Script = [start(), token('a'), 'task', failure('device-lost', 'The GPU is gone.')];
  const failing = await CreateMLCEngine('m', { load: loader(() => script).load });
  const stream = await failing.chat.completions.create({ messages, stream: true });
  await expect(chunksOf(stream)).rejects.toMatchObject({ message: 'The GPU is gone.', code: 'device-lost' });
});

test('an answer goes on after a loss', async () => {
  const engine = await CreateMLCEngine('m', {
    load: loader(() => [start(), token('a '), ...LOSS, token('b'), done()]).load,
  });
  const chunks = await chunksOf(await engine.chat.completions.create({ messages, stream: true }));
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('a b');
});

test('a caller who leaves a stream stops the engine', async () => {
  const { load, scripted } = loader(() => [start(), ...words('a b c d'), 'task', token('e'), 'task', done()]);
  const engine = await CreateMLCEngine('m', { load });
  for await (const _ of await engine.chat.completions.create({ messages, stream: true })) break;
  expect(scripted.stopped).toBe(true);
});

/** An engine that answers until it is stopped, as Engine does: with the event done. */
async function endless() {
  const { load, scripted } = loader();
  scripted.chat = async function* (_, { signal } = {}): AsyncGenerator<EngineEvent, void, undefined> {
    yield start();
    while (!signal?.aborted) {
      yield token('on ');
      await new Promise((resolve) => setTimeout(resolve));
    }
    yield done({ finishReason: 'abort' });
  };
  return CreateMLCEngine('m', { load });
}

test('interruptGenerate ends a stream and a whole answer, which keep what they have', async () => {
  const engine = await endless();
  const texts: string[] = [];
  for await (const { choices } of await engine.chat.completions.create({ messages, stream: true })) {
    texts.push(choices[0]?.delta.content ?? '');
    if (texts.length === 3) engine.interruptGenerate();
  }
  expect(texts.join('')).toMatch(/^(on )+$/);
  await engine.resetChat(); // the message below is the second answer's
  const asking = engine.chat.completions.create({ messages });
  await expect.poll(() => engine.getMessage()).toMatch(/^on /);
  engine.interruptGenerate();
  expect((await asking).choices[0].message.content).toMatch(/^(on )+$/);
});

test('interruptGenerate ends a request for several answers, too, which keeps the one that it has', async () => {
  const engine = await endless();
  const asking = engine.chat.completions.create({ messages, n: 2 });
  await expect.poll(() => engine.getMessage()).toMatch(/^on /);
  engine.interruptGenerate();
  const { choices } = await asking;
  expect(choices.map(({ message }) => message.content)).toEqual([expect.stringMatching(/^(on )+$/)]);
  const seen: Completion[] = [];
  for await (const chunk of await engine.chat.completions.create({ messages, n: 2, stream: true }))
    if (seen.push(chunk) === 3) engine.interruptGenerate();
  expect(seen.at(-1)?.choices[0].finish_reason).toBe('abort');
});

test('interruptGenerate begins no further prompt of the request', async () => {
  const { load, scripted } = loader();
  const prompts: unknown[] = [];
  let engine: MLCEngine;
  scripted.complete = async function* (prompt, { signal } = {}): AsyncGenerator<EngineEvent, void, undefined> {
    prompts.push(prompt);
    yield start();
    yield token('on ');
    engine.interruptGenerate();
    yield done({ finishReason: signal?.aborted ? 'abort' : 'eos' });
  };
  engine = await CreateMLCEngine('m', { load });
  const { choices } = await engine.completions.create({ prompt: ['a', 'b'] });
  expect([prompts, choices.map(({ text }) => text)]).toEqual([['a'], ['on ']]);
});

test('formats are constraints: a schema in a text, and a grammar', async () => {
  const { load, scripted } = loader();
  const engine = await CreateMLCEngine('m', { load });
  const constraintOf = async (response_format: object) => {
    await engine.chat.completions.create({ messages, response_format });
    return scripted.asked.at(-1)?.options.constraint;
  };
  const schema = { type: 'null' };
  expect(await constraintOf({ type: 'json_object' })).toEqual({ kind: 'json_object' });
  expect(await constraintOf({ type: 'json_object', schema: JSON.stringify(schema) })).toEqual({
    kind: 'json_schema',
    schema,
  });
  const grammar = 'root ::= "a"';
  expect(await constraintOf({ type: 'grammar', grammar })).toEqual({ kind: 'grammar', source: grammar });
  await expect(constraintOf({ type: 'json_object', schema: '{' })).rejects.toThrow(SyntaxError);
});

test('a format that asks for a constraint and has another type is refused, and never ignored', async () => {
  const { load, scripted } = loader();
  const engine = await CreateMLCEngine('m', { load });
  for (const [response_format, field] of [
    [{ type: 'grammar' }, 'grammar'],
    [{ type: 'grammar', grammar: '' }, 'grammar'],
    [{ type: 'text', grammar: 'root ::= "a"' }, 'grammar'],
    [{ type: 'text', schema: '{}' }, 'schema'],
    [{ schema: '{}' }, 'schema'],
    [{ type: 'structural_tag', structural_tag: {} }, 'response_format.type'],
  ] as const)
    await expect(engine.chat.completions.create({ messages, response_format })).rejects.toThrow(field);
  expect(scripted.asked).toEqual([]);
});

test('figures are those of the newest answer, until resetChat', async () => {
  const metrics = { prefillTokensPerSecond: 12, decodeTokensPerSecond: 34.5 };
  const { load } = loader(() => [start(), token('a'), done({ metrics: metrics as never })]);
  const engine = await CreateMLCEngine('m', { load });
  expect(await engine.runtimeStatsText()).toBe('prefill: - tokens/sec, decode: - tokens/sec');
  await engine.chat.completions.create({ messages });
  expect(await engine.runtimeStatsText()).toBe('prefill: 12.0000 tokens/sec, decode: 34.5000 tokens/sec');
  await engine.resetChat(true);
  expect(await engine.getMessage()).toBe('');
  expect(await engine.runtimeStatsText()).toBe('prefill: 12.0000 tokens/sec, decode: 34.5000 tokens/sec');
  await engine.resetChat();
  expect([await engine.getMessage(), await engine.runtimeStatsText()]).toEqual([
    '',
    'prefill: - tokens/sec, decode: - tokens/sec',
  ]);
});

test('the usage has the speed of the answer, whole and streamed, as pages for WebLLM read it', async () => {
  const metrics = { prefillTokensPerSecond: 12, decodeTokensPerSecond: 40, ttftMs: 250 };
  const { load } = loader(() => [start(), token('a'), 'task', token('b'), done({ metrics: metrics as never })]);
  const engine = await CreateMLCEngine('m', { load });
  const extra = {
    e2e_latency_s: expect.any(Number),
    prefill_tokens_per_s: 12,
    decode_tokens_per_s: 40,
    time_to_first_token_s: 0.25,
    time_per_output_token_s: 0.025,
  };
  expect((await engine.chat.completions.create({ messages })).usage?.extra).toEqual(extra);
  expect((await engine.completions.create({ prompt: 'Once' })).usage?.extra).toEqual(extra);
  const request = { messages, stream: true, stream_options: { include_usage: true } } as const;
  const chunks = await chunksOf(await engine.chat.completions.create(request));
  expect(chunks.at(-1)?.usage?.extra).toEqual(extra);
  expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual(chunks.slice(1).map(() => null));
});

test('a speed that could not be measured is NaN, which pages can still write', async () => {
  const metrics = { prefillTokensPerSecond: null, decodeTokensPerSecond: null, ttftMs: null };
  const { load } = loader(() => [start(), done({ metrics: metrics as never })]);
  const { usage } = await (await CreateMLCEngine('m', { load })).chat.completions.create({ messages });
  expect(usage?.extra.prefill_tokens_per_s.toFixed(4)).toBe('NaN');
  expect([usage?.extra.decode_tokens_per_s, usage?.extra.time_per_output_token_s]).toEqual([Number.NaN, Number.NaN]);
});
