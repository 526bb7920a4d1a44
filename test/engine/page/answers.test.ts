// Answers of the real page side to the real worker with a scripted model: several to one prompt, leaving early, ids on
// request, and callers that pass what cannot be answered.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFetch } from '../../../src/api/openai/fetch';
import { Engine, type EngineEvent, type GenerateOptions } from '../../../src/engine/engine';
import type { LoadedModel } from '../../../src/engine/load/load';
import { resolveLoad } from '../../../src/engine/load/load_options';
import type { LoadOptions } from '../../../src/engine/protocol';
import { post } from '../../api/scripted_engine';
import { engineWorker, type FakeWorker, stubWorkers } from '../doubles/fake_worker';
import { numberSession } from '../doubles/loop_session';
import { done, INFO, read, SteppedBackend, until } from '../doubles/stepped_backend';

vi.mock('../../../src/engine/load/load', () => ({
  loadModel: async (location: string, options: LoadOptions): Promise<LoadedModel> => {
    resolveLoad(options, location);
    return { session: numberSession(backend), info: INFO };
  },
}));

let workers: FakeWorker[];
let backend: SteppedBackend;
let engine: Engine;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }); // no beats of a real clock
  workers = stubWorkers(engineWorker);
  backend = new SteppedBackend();
  engine = await Engine.load('https://example.org/model.gguf');
});

afterEach(() => {
  for (const worker of workers) if (!worker.isTerminated) worker.terminate();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The types of events other than token and prefill. */
const steps = (events: readonly EngineEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== 'token' && type !== 'prefill');

describe('a constraint', () => {
  const ask = (constraint: unknown) =>
    read(engine.complete('1 2', { constraint: constraint as GenerateOptions['constraint'] })).whole;

  test.each([
    ['that is none', { kind: 'poem' }],
    ['that is null', null],
    ['of a name that every object has', { kind: 'toString' }],
    ['without a schema', { kind: 'json_schema' }],
    ['with a schema that cannot be enforced', { kind: 'json_schema', schema: { type: 'array', uniqueItems: true } }],
    ['with another source', { kind: 'regex', source: 5 }],
    ['with an open bracket', { kind: 'regex', source: '(' }],
    ['with no texts', { kind: 'choice', texts: [] }],
    ['with another layout', { kind: 'json_object', layout: 'wide' }],
  ])('%s is refused on the page', async (_what, constraint) => {
    await expect(ask(constraint)).rejects.toMatchObject({ name: 'ConstraintError', code: 'constraint' });
    expect(backend.prefills).toEqual([]);
  });

  test('comes to the worker, with a warning where it is enforced otherwise', async () => {
    const constraint = { kind: 'json_schema', schema: { oneOf: [{ type: 'null' }, { type: 'boolean' }] } } as const;
    const answer = engine.complete('1 2', { constraint });
    expect((await answer.next()).value).toMatchObject({ type: 'warning', code: 'constraint' });
    await expect(answer.next()).rejects.toThrow('no token that ends an answer'); // of the tokenizer of this test
  });

  test('of an answer that is left at once', async () => {
    const answer = engine.complete('1 2', { constraint: { kind: 'json_object' } });
    const first = answer.next();
    await answer.return();
    expect(await first).toEqual({ done: true, value: undefined });
  });
});

describe('several answers to one prompt', () => {
  test('come one after another with seeds that count on, and the prompt runs once', async () => {
    backend.go(100);
    const events = await read(engine.complete('1 2 3 4', { n: 3, seed: 2 ** 32 - 2, maxTokens: 2 })).whole;
    expect(steps(events)).toEqual(['start', 'done', 'start', 'done', 'start', 'done']);
    const starts = events.filter((event) => event.type === 'start');
    expect(starts.map(({ choice, cachedTokens }) => [choice, cachedTokens])).toEqual([
      [0, 0],
      [1, 3],
      [2, 3],
    ]);
    expect(events.flatMap((event) => (event.type === 'done' ? [event.seed] : []))).toEqual([
      2 ** 32 - 2,
      2 ** 32 - 1,
      0,
    ]);
    expect(backend.prefills.map(({ length }) => length)).toEqual([4, 1, 1]);
    expect(engine.metrics).toBe(done(events).metrics);
  });

  test('each have their own times of the GPU', async () => {
    backend.go(100);
    const events = await read(engine.complete('1 2', { n: 2, maxTokens: 2, gpuTimes: true })).whole;
    expect(steps(events)).toEqual(['start', 'done', 'gpuTimes', 'start', 'done', 'gpuTimes']);
  });

  test('end with the one that an abort ends', async () => {
    const stop = new AbortController();
    const answer = read(engine.complete('1 2', { n: 3, maxTokens: 2, signal: stop.signal }));
    backend.go(3);
    await until(() => answer.tokens() === 3);
    stop.abort();
    backend.go(1);
    const events = await answer.whole;
    expect(steps(events)).toEqual(['start', 'done', 'start', 'done']);
    expect(done(events).finishReason).toBe('abort');
  });

  test('an abort between two ends them without another event', async () => {
    backend.go(100);
    const stop = new AbortController();
    const heard: EngineEvent[] = [];
    for await (const event of engine.complete('1 2', { n: 3, maxTokens: 2, signal: stop.signal })) {
      heard.push(event);
      if (event.type === 'done') stop.abort();
    }
    expect(steps(heard)).toEqual(['start', 'done']);
  });

  test.each([0, 129, 1.5, '2', null])('%s of them are refused', async (n) => {
    const answer = read(engine.complete('1 2', { n: n as number })).whole;
    await expect(answer).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringMatching(/n must be a whole number from 1 to 128/),
    });
  });
});

describe('a caller who leaves', () => {
  test('after an event, or while it waits for the next, waits for no worker', async () => {
    const taken = engine.complete('1 2 3', { n: 2 });
    expect((await taken.next()).value).toMatchObject({ type: 'start' });
    const waiting = engine.complete('1 2 3', { n: 2 });
    const next = waiting.next();
    workers[0].hang();
    expect(await taken.return()).toEqual({ done: true, value: undefined });
    expect(await waiting.return()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await waiting.next()).toEqual({ done: true, value: undefined });
    expect(engine.metrics).toBeNull();
  });

  test('stops the worker, and the next request runs', async () => {
    for await (const event of engine.complete('1 2 3')) if (event.type === 'prefill') break;
    const next = read(engine.complete('7 8', { maxTokens: 1 }));
    backend.go(2);
    expect(done(await next.whole).finishReason).toBe('length');
  });

  test('before the first event asks the worker for nothing', async () => {
    expect(await engine.complete('1 2 3').return()).toEqual({ done: true, value: undefined });
    backend.go(2);
    await read(engine.complete('7 8', { maxTokens: 1 })).whole;
    expect(backend.prefills.map(({ length }) => length)).toEqual([2]);
  });
});

describe('ids and their number', () => {
  test('come while an answer waits for its GPU', async () => {
    const answer = read(engine.complete('1 2 3'));
    await until(() => answer.heard.length > 0);
    expect(await engine.tokenize('7 8 9')).toEqual([7, 8, 9]);
    expect(await engine.countTokens('7 8 9')).toBe(3);
    expect(answer.tokens()).toBe(0);
  });

  test('are those of texts longer than the context, too', async () => {
    const text = Array.from({ length: 2000 }, () => '5').join(' ');
    expect(await engine.countTokens(text)).toBe(2000);
    await expect(read(engine.complete(text)).whole).rejects.toMatchObject({ code: 'context-overflow' });
  });

  test.each<[string, unknown, object | undefined, RegExp]>([
    ['a conversation without a template', [{ role: 'user', content: 'x' }], {}, /no chat template/],
    ['a malformed conversation', [{ role: 'user' }], undefined, /Message 0 needs a role/],
    ['nothing', undefined, undefined, /at least one message/],
    ['a choice of thinking', '1 2', { thinking: 'maybe' }, /thinking must be auto, on or off, got maybe/],
    ['a function', [{ role: 'user', content: () => {} }], {}, /cannot be sent to the worker.*Pass plain data/],
  ])('are refused for %s', async (_, input, options, message) => {
    await expect(engine.countTokens(input as string, options)).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringMatching(message),
    });
  });

  test('fail with the worker', async () => {
    workers[0].hang();
    const refused = expect(engine.countTokens('1 2')).rejects.toThrow('The engine was unloaded');
    await engine.unload();
    await refused;
    await expect(engine.tokenize('1 2')).rejects.toThrow('The engine was unloaded');
  });
});

describe('a caller without types gets a typed error', () => {
  test.each<[string, unknown, object]>([['a model that is a function', () => {}, {}]])(
    'for %s',
    async (_, model, options) => {
      await expect(Engine.load(model as string, options)).rejects.toMatchObject({
        code: 'invalid-request',
        message: expect.stringMatching(/cannot be sent to the worker.*Pass plain data/),
      });
    },
  );

  const MODEL = 'https://example.org/model.gguf';
  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['load', () => Engine.load(MODEL, { onprogress() {} } as never), /^onprogress is no option, but onProgress is\./],
    ['load', () => Engine.load(MODEL, { hubUrl: () => 'x' } as never), /^hubUrl must be an http or https address/],
    ['load', () => Engine.load(MODEL, { hubUrl: 5 } as never), /^hubUrl must be an http or https address, got 5/],
    [
      'tokenize',
      () => engine.tokenize('1', { temperature: 1 } as never),
      /^temperature is no option\. .*among thinking/,
    ],
    [
      'countTokens',
      () => engine.countTokens('1', { toolchoice: 1 } as never),
      /^toolchoice is no option, but toolChoice/,
    ],
    ['embed', () => engine.embed(['1'], { dimension: 1 } as never), /^dimension is no option, but dimensions is\./],
    ['tune', () => engine.tune({ onresult() {} } as never), /^onresult is no option, but onResult is\./],
    ['roofline', () => engine.roofline({ sginal: 1 } as never), /^sginal is no option, but signal is\./],
  ])('for an option of %s', async (_, call, message) => {
    await expect(call()).rejects.toMatchObject({ code: 'invalid-request', message: expect.stringMatching(message) });
  });

  test.each<[string, (wrong: object) => Promise<unknown>]>([
    ['an answer', (wrong) => engine.complete('1', wrong).next()],
    ['an answer in a form', (wrong) => engine.complete('1', { constraint: { kind: 'json_object' }, ...wrong }).next()],
    ['vectors', (wrong) => engine.embed(['1'], wrong)],
    ['a tuning', (wrong) => engine.tune(wrong)],
    ['a load', (wrong) => Engine.load(MODEL, wrong)],
  ])('for the controller of a signal as the signal of %s', async (_, call) => {
    const wrong = { signal: new AbortController() };
    const message = 'signal must be an AbortSignal.';
    await expect(call(wrong)).rejects.toMatchObject({ code: 'invalid-request', message });
  });

  test('but not for a workerUrl that is a URL, which is read', async () => {
    const workerUrl = new URL('https://example.org/vivace_worker.js') as never;
    const loaded = await Engine.load(MODEL, { workerUrl });
    expect(await loaded.countTokens('1 2')).toBe(2);
    await loaded.unload();
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const USER = [{ role: 'user', content: 'x' }];
  test.each<[string, () => AsyncGenerator<unknown>, RegExp]>([
    ['a prompt of no kind', () => engine.complete({} as string), /text or an array of at least one token id/],
    ['no prompt', () => engine.complete(undefined as unknown as string), /text or an array/],
    ['a text as a conversation', () => engine.chat('hello' as never), /list of at least one message, got string/],
    ['an empty conversation', () => engine.chat([]), /list of at least one message, got none/],
    ['a function in a message', () => engine.chat([{ role: 'user', content: (() => {}) as never }]), /cannot be sent/],
    [
      'a symbol as an option',
      () => engine.complete('1', { seed: Symbol('x') as never }),
      /seed must be .*, got Symbol/,
    ],
    [
      'lists inside one another without an end in sight',
      () => engine.complete('1', { stop: Array.from({ length: 20_000 }).reduce((inner) => [inner]) as never }),
      /cannot be sent to the worker\. Pass plain data: Maximum call stack/,
    ],
    ['a function as an option', () => engine.complete('1', { stop: (() => {}) as never }), /stop must be a list/],
    [
      'a listener that no answer has',
      () => engine.complete('1', { onToken() {} } as never),
      /^onToken is no option\. Choose/,
    ],
    [
      'an unknown option',
      () => engine.complete('1', { maxtokens: 3 } as never),
      /maxtokens is no option, but maxTokens is\. Choose among.*maxTokens.*, signal\.$/,
    ],
    [
      'tools of a text',
      () => engine.complete('1', { tools: [] } as never),
      /tools is no option\. Choose among temperature, .*, gpuTimes, signal\.$/,
    ],
    [
      'an unknown option of a chat',
      () => engine.chat(USER as never, { toolchoice: 'none' } as never),
      /Choose among temperature, .*, tools, toolChoice, templateArguments, continueLast, signal\.$/,
    ],
    ['options of another type', () => engine.complete('1', { stop: { a: 1 } } as never), /stop must be a list/],
    ['a cycle in a tool', () => engine.chat(USER as never, { tools: [cyclic] as never }), /64 levels deep/],
    ['too many tools', () => engine.chat(USER as never, { tools: Array(1000).fill({ name: 'x' }) }), /128, got 1000/],
  ])('%s', async (_, ask, message) => {
    await expect(read(ask() as ReturnType<Engine['chat']>).whole).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringMatching(message),
    });
    backend.go(2);
    expect(done(await read(engine.complete('7 8', { maxTokens: 1 })).whole).finishReason).toBe('length');
  });
});

describe('an error of the engine says the option at fault', () => {
  const USER = [{ role: 'user', content: 'x' }] as const;
  const completing = (options: object) => () => read(engine.complete('1', options)).whole;
  const chatting = (options: object, messages: unknown = USER) => {
    return () => read(engine.chat(messages as typeof USER, options)).whole;
  };
  test.each<[string, () => Promise<unknown>]>([
    ['maxTokens', completing({ maxTokens: 0 })],
    ['stop', completing({ stop: [''] })],
    ['logitBias', completing({ logitBias: { 99999: 1 } })],
    ['logitBias', completing({ logitBias: Object.fromEntries(Array(2000).entries()) })],
    ['thinking', completing({ thinking: 'on' })],
    ['runAhead', completing({ runAhead: 1e6 })],
    ['minTokens', completing({ minTokens: 1, constraint: { kind: 'json_object' } })],
    ['ignoreEos', completing({ ignoreEos: true, constraint: { kind: 'json_object' } })],
    ['maxtokens', completing({ maxtokens: 1 })],
    ['signal', completing({ signal: new AbortController() })],
    ['prompt', () => read(engine.complete([-1])).whole],
    ['prompt', () => read(engine.complete({} as string)).whole],
    ['messages', chatting({}, [])],
    ['messages', chatting({}, [{ role: 'user', content: ' ' }])],
    ['messages', chatting({}, [{ role: 'tool', content: 'x' }])],
    ['messages', chatting({})], // the model has no chat template
    ['continueLast', chatting({ continueLast: true })],
    ['tools', chatting({ tools: [{ name: ' ' }] })],
    ['toolChoice', chatting({ toolChoice: 'required' })],
    ['templateArguments', chatting({ templateArguments: { messages: [] } })],
    ['texts', () => engine.embed([''])],
    ['hubUrl', () => Engine.load('https://example.org/model.gguf', { hubUrl: 'x' })],
    ['sha256', () => Engine.load(new File([], 'model.gguf'), { sha256: 'a'.repeat(64) })],
  ])('%s', async (option, ask) => {
    await expect(ask()).rejects.toMatchObject({ code: 'invalid-request', option });
  });

  test('or null where it is none', async () => {
    await engine.unload();
    await expect(read(engine.complete('1')).whole).rejects.not.toHaveProperty('option', expect.any(String));
  });

  test("and OpenAI's interface the field", async () => {
    const { info } = engine;
    const model = { ...info.model, name: 'm' };
    const complete = engine.complete.bind(engine);
    const fetch = createFetch({ info: { ...info, model }, complete, chat: engine.chat.bind(engine) });
    const asked = { prompt: '1', logit_bias: { 99999: 1 } };
    const { status, json } = await post(fetch, 'completions', asked);
    expect([status, json.error.param]).toEqual([400, 'logit_bias']);
  });
});
