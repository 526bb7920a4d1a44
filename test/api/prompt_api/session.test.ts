// A session: prompts in order, streams, aborts, what it keeps, clones, and a context that overflows.

import { expect, test } from 'vitest';
import { createLanguageModel, type LanguageModelCreateOptions } from '../../../src/api/prompt_api/language_model';
import { codeError, done, errorOf, type Script, scriptedEngine, token } from './prompt_engine';

async function sessionOf(script: Script = {}, options: LanguageModelCreateOptions = {}) {
  const { engine, asked, counted } = scriptedEngine(script);
  return { engine, asked, counted, session: await createLanguageModel(engine).create(options) };
}

async function chunksOf(stream: ReadableStream): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const PATIENT = (signal?: AbortSignal) =>
  new Promise<string>((resolve) => {
    signal?.addEventListener('abort', () => resolve('stopped by the signal'));
  });

test('a prompt and its answer are in the next prompt', async () => {
  const { session, asked } = await sessionOf();
  expect(await session.prompt('one')).toBe('Echo: one');
  expect(await session.prompt([{ role: 'user', content: [{ type: 'text', value: 'two' }] }])).toBe('Echo: two');
  expect(asked[1].messages).toEqual([
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'Echo: one' },
    { role: 'user', content: 'two' },
  ]);
});

test('contextUsage grows by prompt and answer', async () => {
  const { session } = await sessionOf();
  expect(session.contextUsage).toBe(0);
  const usage = await session.measureContextUsage('one two three');
  expect(usage).toBe(5);
  await session.prompt('one two three');
  expect(session.contextUsage).toBe(usage + 4);
  expect(session.inputUsage).toBe(session.contextUsage);
});

test('thinking is not in the answer, and not in contextUsage', async () => {
  const { session, asked } = await sessionOf({
    info: { thinking: 'optional' },
    answers: (request) => {
      const end = done(request, 5);
      if (end.type === 'done') end.usage.reasoningTokens = 3;
      return [{ type: 'reasoning', text: 'hm' }, token('yes'), end];
    },
  });
  expect(await session.prompt('well?')).toBe('yes');
  expect(session.contextUsage).toBe(3 + 2);
  await session.prompt('sure?');
  expect(asked[1].messages[1]).toEqual({ role: 'assistant', content: 'yes', reasoning: 'hm' });
});

test.each([
  ['optional', undefined, 'off'],
  ['optional', 'medium', 'on'],
  ['always', 'medium', undefined],
  ['always', undefined, undefined],
  ['none', undefined, undefined],
] as const)('a model that thinks %s, asked for effort %s, gets thinking %s', async (thinking, effort, expected) => {
  const { session, asked } = await sessionOf({ info: { thinking } }, effort && { thinking: { effort } });
  await session.prompt('hello');
  expect(asked[0].options.thinking).toBe(expected);
});

test('promptStreaming streams the deltas of the answer, the rest in done among them', async () => {
  const { session } = await sessionOf({
    answers: (request) => [token('a'), token(''), token('b'), done(request, 2, 'eos', 'c')],
  });
  expect(await chunksOf(session.promptStreaming('hello'))).toEqual(['a', 'b', 'c']);
  expect(await session.prompt('again')).toBe('abc');
});

test('prompts of a session are answered in order, and each sees the answer before', async () => {
  const { session, asked } = await sessionOf();
  expect(await Promise.all([session.prompt('one'), session.prompt('two')])).toEqual(['Echo: one', 'Echo: two']);
  expect(asked[1].messages).toHaveLength(3);
});

test('a session goes on after a loss of the GPU: the answer under way, and the next one', async () => {
  const loss = [
    { type: 'interrupted', code: 'device-lost', message: 'The GPU was lost.' },
    { type: 'recovered', message: 'It goes on.', backend: 'cpu', pauseMs: 1800 },
  ] as const;
  const { session, asked } = await sessionOf({ answers: [[token('a '), ...loss, token('b')], 'fine'] });
  expect((await chunksOf(session.promptStreaming('one'))).join('')).toBe('a b');
  expect(await session.prompt('two')).toBe('fine');
  expect(asked[1].messages.map(({ content }) => content)).toEqual(['one', 'a b', 'two']);
});

test('a prompt that fails leaves the session as it was, and the next one is answered', async () => {
  let turn = 0;
  const { session, asked } = await sessionOf({
    answers: () => {
      if (turn++ === 0) throw codeError('device-lost');
      return 'fine';
    },
  });
  const [error, answer] = await Promise.all([errorOf(session.prompt('one')), session.prompt('two')]);
  expect([error.name, (error.cause as { code: string }).code]).toEqual(['UnknownError', 'device-lost']);
  expect(answer).toBe('fine');
  expect(asked[1].messages).toEqual([{ role: 'user', content: 'two' }]);
});

test.each([
  ['chat-template', 'NotSupportedError', {}],
  ['invalid-request', 'NotSupportedError', {}],
  ['context-overflow', 'QuotaExceededError', { promptTokens: 200, contextLength: 100 }],
])('the engine error %s is a %s', async (code, name, fields) => {
  const { session } = await sessionOf({
    answers: () => {
      throw codeError(code, fields);
    },
  });
  expect((await errorOf(session.prompt('hello'))).name).toBe(name);
  expect((await errorOf(chunksOf(session.promptStreaming('hello')))).name).toBe(name);
});

test('an aborted prompt rejects at once, reaches the engine, and leaves no trace', async () => {
  let isFirst = true;
  const { session, asked } = await sessionOf({
    answers: ({ options }) => {
      if (!isFirst) return 'fine';
      isFirst = false;
      return PATIENT(options.signal);
    },
  });
  const controller = new AbortController();
  const asking = session.prompt('one', { signal: controller.signal });
  await expect.poll(() => asked.length).toBe(1);
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await errorOf(asking)).toBe(reason);
  expect(asked[0].options.signal?.aborted).toBe(true);
  expect(await session.prompt('two')).toBe('fine');
  expect(asked[1].messages).toEqual([{ role: 'user', content: 'two' }]);
  expect(await errorOf(session.prompt('three', { signal: controller.signal }))).toBe(reason);
});

test('an aborted prompt that waits for its turn never reaches the engine', async () => {
  const { session, asked } = await sessionOf();
  const controller = new AbortController();
  const first = session.prompt('one');
  const second = session.prompt('two', { signal: controller.signal });
  controller.abort();
  expect((await errorOf(second)).name).toBe('AbortError');
  await first;
  await session.prompt('three');
  expect(asked.map(({ messages }) => messages.at(-1)?.content)).toEqual(['one', 'three']);
});

test('an aborted stream errors with the reason, and with an aborted signal there is no stream', async () => {
  const { session } = await sessionOf({ answers: ({ options }) => PATIENT(options.signal) });
  const controller = new AbortController();
  const stream = session.promptStreaming('one', { signal: controller.signal });
  controller.abort();
  expect((await errorOf(chunksOf(stream))).name).toBe('AbortError');
  expect(() => session.promptStreaming('two', { signal: controller.signal })).toThrow('aborted');
});

test('a canceled stream stops the engine, and its prompt leaves no trace', async () => {
  const { session, asked } = await sessionOf({ answers: () => 'a very long answer' });
  const reader = session.promptStreaming('one').getReader();
  expect(await reader.read()).toEqual({ done: false, value: 'a' });
  await reader.cancel();
  expect(asked[0].options.signal?.aborted).toBe(true);
  await session.prompt('two');
  expect(asked[1].messages).toEqual([{ role: 'user', content: 'two' }]);
});

test('an answer that the engine stops of itself is an AbortError', async () => {
  const { session } = await sessionOf({ answers: (request) => [token('a'), done(request, 1, 'abort')] });
  expect((await errorOf(session.prompt('one'))).name).toBe('AbortError');
  const silent = await sessionOf({ answers: () => [token('a')] });
  silent.engine.chat = async function* () {
    yield token('a');
  };
  expect((await errorOf(silent.session.prompt('one'))).name).toBe('AbortError');
});

test('destroy rejects what runs and what comes with InvalidStateError, and figures stay', async () => {
  const { session } = await sessionOf({ answers: ({ options }) => PATIENT(options.signal) });
  const calls = () => [
    session.prompt('one'),
    session.append('one'),
    session.clone(),
    session.measureContextUsage('one'),
  ];
  const running = calls();
  const stream = session.promptStreaming('two');
  expect(session.destroy()).toBeUndefined();
  for (const call of [...running, ...calls(), chunksOf(stream)]) {
    expect((await errorOf(call)).name).toBe('InvalidStateError');
  }
  expect(() => session.promptStreaming('three')).toThrow('destroyed');
  session.destroy();
  expect([session.contextUsage, session.contextWindow]).toEqual([0, 100]);
});

test('append adds to the context without an answer; messages by the user in a row are one turn', async () => {
  const { session, asked } = await sessionOf();
  const usage = await session.measureContextUsage('some notes');
  expect(await session.append('some notes')).toBeUndefined();
  expect(session.contextUsage).toBe(usage);
  expect(asked).toHaveLength(0);
  await session.prompt('summarize');
  expect(asked[0].messages).toEqual([{ role: 'user', content: 'some notes\n\nsummarize' }]);
});

test('append takes empty input and texts of other values', async () => {
  const { session, asked } = await sessionOf();
  await session.append('');
  await session.append([]);
  await session.append([{ role: 'user', content: [] }]);
  expect(session.contextUsage).toBe(0);
  await session.append(null as unknown as string);
  await session.append({} as unknown as string);
  await session.prompt('go');
  expect(asked[0].messages).toEqual([{ role: 'user', content: 'null\n\n[object Object]\n\ngo' }]);
});

test('an empty prompt is refused by the engine, unless something was appended', async () => {
  const { session } = await sessionOf();
  expect((await errorOf(session.prompt(''))).name).toBe('NotSupportedError');
  await session.append('hello');
  expect(await session.prompt([])).toBe('Echo: hello');
});

test('a system prompt may come first in the session, later it is a TypeError', async () => {
  const system = [{ role: 'system', content: 'be kind' }] as const;
  const { session, asked } = await sessionOf();
  await session.append(system);
  expect(await errorOf(session.append(system))).toBeInstanceOf(TypeError);
  await session.prompt('hello');
  expect(await errorOf(session.prompt(system))).toBeInstanceOf(TypeError);
  expect(asked[0].messages[0]).toEqual(system[0]);
});

test('a prefix is continued, is not in the result, and is in the history', async () => {
  const { session, asked } = await sessionOf({ answers: ['"name": 1}', 'ok'] });
  const answer = await session.prompt([
    { role: 'user', content: 'as JSON' },
    { role: 'assistant', content: '{', prefix: true },
  ]);
  expect(answer).toBe('"name": 1}');
  expect(asked[0].options.continueLast).toBe(true);
  expect(asked[0].messages.at(-1)).toEqual({ role: 'assistant', content: '{' });
  await session.prompt('next');
  expect(asked[1].messages[1]).toEqual({ role: 'assistant', content: '{"name": 1}' });
  expect(asked[1].options.continueLast).toBeUndefined();
});

test('an empty prefix is none', async () => {
  const { session, asked } = await sessionOf();
  const prefix = { role: 'assistant', content: '', prefix: true } as const;
  expect(await session.prompt([{ role: 'user', content: 'hi' }, prefix])).toBe('Echo: hi');
  expect(asked[0].options.continueLast).toBeUndefined();
});

test('a clone has the history and options of the session, and goes its own way', async () => {
  const { session, asked } = await sessionOf({}, { samplingMode: 'creative' });
  await session.prompt('one');
  const clone = await session.clone();
  expect(clone.constructor).toBe(session.constructor);
  expect([clone.contextUsage, clone.contextWindow]).toEqual([session.contextUsage, session.contextWindow]);
  expect([clone.samplingMode, clone.temperature]).toEqual(['creative', 1]);
  await clone.prompt('two');
  await session.prompt('three');
  expect(asked[1].messages.map(({ content }) => content)).toEqual(['one', 'Echo: one', 'two']);
  expect(asked[2].messages.map(({ content }) => content)).toEqual(['one', 'Echo: one', 'three']);
  session.destroy();
  expect(await clone.prompt('four')).toBe('Echo: four');
});

test('a clone comes after the calls before it', async () => {
  const { session } = await sessionOf();
  const asking = session.prompt('one');
  expect((await session.clone()).contextUsage).toBeGreaterThan(0);
  await asking;
  expect((await errorOf(session.clone({ signal: AbortSignal.abort() }))).name).toBe('AbortError');
});

test('responseConstraint constrains the answer, which neither thinks nor calls tools', async () => {
  const { session, asked } = await sessionOf({ info: { thinking: 'optional' } }, { thinking: { effort: 'high' } });
  const schema = { type: 'object', properties: { a: { type: 'null' } } };
  await session.prompt('hello', { responseConstraint: schema });
  expect(asked.at(-1)?.options).toMatchObject({
    constraint: { kind: 'json_schema', schema },
    toolChoice: 'none',
    thinking: 'off',
  });
  await chunksOf(
    session.promptStreaming('hello', { responseConstraint: /yes|no/u, omitResponseConstraintInput: true }),
  );
  expect(asked.at(-1)?.options.constraint).toEqual({ kind: 'regex', source: 'yes|no' });
  await session.prompt('hello');
  expect(asked.at(-1)?.options.constraint).toBeUndefined();
  expect(asked.at(-1)?.options.thinking).toBe('on');
});

test('an answer without room for what its responseConstraint demands is a SyntaxError, and leaves no trace', async () => {
  for (const reason of ['context', 'length'] as const) {
    const { session, asked } = await sessionOf({ answers: (request) => [token('{"a'), done(request, 1, reason)] });
    const kept = { responseConstraint: { type: 'object' } };
    expect(await errorOf(session.prompt('hello', kept))).toMatchObject({ name: 'SyntaxError' });
    expect((await errorOf(chunksOf(session.promptStreaming('hello', kept)))).name).toBe('SyntaxError');
    expect(await session.prompt('hello')).toBe('{"a');
    expect(asked.at(-1)?.messages).toEqual([{ role: 'user', content: 'hello' }]);
  }
});

test('a prompt may think otherwise than its session, in its count of tokens too', async () => {
  const { session, asked, counted } = await sessionOf({ info: { thinking: 'optional' } });
  const seen: unknown[] = [];
  for (const thinking of [{ effort: 'high' }, undefined, { effort: 'none' }, { includeThoughts: false }] as const) {
    await session.prompt('hello', { thinking });
    seen.push([asked.at(-1)?.options.thinking, counted.at(-1)?.options.thinking]);
  }
  expect(seen).toEqual(['on', 'off', 'off', 'off'].map((value) => [value, value]));
  const thinker = await sessionOf({ info: { thinking: 'optional' } }, { thinking: { effort: 'low' } });
  for (const thinking of [{ effort: 'none' }, undefined] as const) await thinker.session.prompt('hello', { thinking });
  expect(thinker.asked.map(({ options }) => options.thinking)).toEqual(['off', 'on']);
  const wrong = { thinking: { effort: 'some' as never } };
  expect(await errorOf(session.prompt('hello', wrong))).toBeInstanceOf(TypeError);
});

test('a prompt that asks for thoughts, or for thinking where the model has none, is refused', async () => {
  const { session, asked } = await sessionOf();
  for (const thinking of [{ includeThoughts: true }, { effort: 'low' }] as const) {
    expect((await errorOf(session.prompt('hello', { thinking }))).name).toBe('NotSupportedError');
    expect((await errorOf(chunksOf(session.promptStreaming('hello', { thinking })))).name).toBe('NotSupportedError');
  }
  expect(asked).toEqual([]);
});

test('a responseConstraint that cannot be kept is refused', async () => {
  const { session } = await sessionOf({
    answers: () => {
      throw codeError('constraint');
    },
  });
  const kept = { responseConstraint: { type: 'object' } };
  expect((await errorOf(session.prompt('hello', kept))).name).toBe('NotSupportedError');
  expect((await errorOf(session.prompt('hello', { responseConstraint: /a/i }))).name).toBe('NotSupportedError');
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  expect(await errorOf(session.prompt('hello', { responseConstraint: cyclic }))).toBeInstanceOf(TypeError);
  const wrong = { responseConstraint: 'text' as unknown as object };
  expect(await errorOf(session.prompt('hello', wrong))).toBeInstanceOf(TypeError);
  const alone = { omitResponseConstraintInput: true };
  expect(await errorOf(session.prompt('hello', alone))).toBeInstanceOf(TypeError);
  expect(await errorOf(session.measureContextUsage('hello', alone))).toBeInstanceOf(TypeError);
  expect(await errorOf(chunksOf(session.promptStreaming('hello', alone)))).toBeInstanceOf(TypeError);
});

/** A session of 3 exchanges of 7 tokens each and a system prompt of 4. Rooms for an answer: 5 tokens. */
async function nearlyFull() {
  const script = { contextLength: 40, answers: () => 'a b' };
  const made = await sessionOf(script, { initialPrompts: [{ role: 'system', content: 'be kind' }] });
  for (const prompt of ['one', 'two', 'three']) await made.session.prompt(prompt);
  expect(made.session.contextUsage).toBe(4 + 3 * (3 + 2) + 2 * 2);
  const events: string[] = [];
  for (const type of ['contextoverflow', 'quotaoverflow']) made.session.addEventListener(type, () => events.push(type));
  made.session.oncontextoverflow = () => events.push('oncontextoverflow');
  made.session.onquotaoverflow = () => events.push('onquotaoverflow');
  return { ...made, events, contents: () => made.asked.at(-1)?.messages.map(({ content }) => content) };
}

test('a prompt that fits with room for an answer drops nothing', async () => {
  const { session, events, contents } = await nearlyFull();
  await session.prompt('word '.repeat(8)); // 25 + 10 + 5 = 40
  expect(events).toEqual([]);
  expect(contents()).toHaveLength(8);
});

test.each([
  [9, 1],
  [15, 1],
  [16, 2],
  [22, 2],
  [23, 3],
  [29, 3],
  [33, 3],
])('a prompt of %d words drops %d exchanges, never the initial prompts, and fires both events', async (n, dropped) => {
  const { session, events, contents } = await nearlyFull();
  await session.prompt('word '.repeat(n).trim());
  expect(events).toEqual(['oncontextoverflow', 'contextoverflow', 'onquotaoverflow', 'quotaoverflow']);
  expect(contents()?.[0]).toBe('be kind');
  expect(contents()).toHaveLength(1 + 2 * (3 - dropped) + 1);
});

test('a prompt that cannot fit is a QuotaExceededError with both numbers, and nothing is dropped', async () => {
  const { session, events, contents } = await nearlyFull();
  const usage = session.contextUsage;
  for (const call of [session.prompt('word '.repeat(34)), session.append('word '.repeat(34))]) {
    const error = await errorOf(call);
    expect([error.name, error.requested, error.quota]).toEqual(['QuotaExceededError', 40, 40]);
  }
  expect([events, session.contextUsage]).toEqual([[], usage]);
  await session.prompt('more');
  expect(contents()).toHaveLength(8);
});

test('an append that overflows drops the oldest exchanges too', async () => {
  const { session, events, contents } = await nearlyFull();
  await session.append('word '.repeat(20));
  expect(events).toHaveLength(4);
  expect(session.contextUsage).toBeLessThan(40);
  await session.prompt('more');
  expect(contents()?.[0]).toBe('be kind');
});

test('a prompt that is aborted or fails drops nothing, although it had no room beside the oldest exchanges', async () => {
  const { session, asked, engine, events } = await nearlyFull();
  const usage = session.contextUsage;
  const { chat } = engine;
  engine.chat = async function* (messages, options = {}) {
    asked.push({ messages, options });
    await PATIENT(options.signal);
    yield done({ messages, options }, 0, 'abort');
  };
  const controller = new AbortController();
  const before = asked.length;
  const asking = session.prompt('word '.repeat(25), { signal: controller.signal });
  await expect.poll(() => asked.length).toBe(before + 1);
  controller.abort();
  await errorOf(asking);
  engine.chat = () => {
    throw codeError('device-lost');
  };
  await errorOf(session.prompt('word '.repeat(25)));
  expect([events, session.contextUsage]).toEqual([[], usage]);
  engine.chat = chat;
  await session.prompt('more');
  expect(asked.at(-1)?.messages).toHaveLength(8);
});

test('a system prompt of the first prompt is never dropped either', async () => {
  const { session, asked } = await sessionOf({ contextLength: 30 });
  const first = [
    { role: 'system', content: 'be kind' },
    { role: 'user', content: 'one' },
  ] as const;
  await session.prompt(first);
  await session.prompt('word '.repeat(20));
  expect(asked[1].messages.map(({ role }) => role)).toEqual(['system', 'user']);
});

test('a clone of a full session overflows on its own', async () => {
  const { session, events } = await nearlyFull();
  const clone = await session.clone();
  const heard: string[] = [];
  clone.addEventListener('contextoverflow', () => heard.push('clone'));
  await clone.prompt('word '.repeat(20));
  expect([heard, events]).toEqual([['clone'], []]);
});
