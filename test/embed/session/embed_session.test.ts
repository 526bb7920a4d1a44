// A chat's hold on its model: load, release, and the calls that wait.

import { expect, test, vi } from 'vitest';
import { provideServerPart, type ServedOptions, type ServerPart } from '../../../src/embed/server/server_part';
import { EmbedSession } from '../../../src/embed/session/embed_session';
import { EnginePool } from '../../../src/embed/session/engine_pool';
import {
  type Engine,
  type EngineChatOptions,
  type EngineEvent,
  type EngineLoadProgress,
  engineHere,
} from '../../../src/engine/engine';
import { STANDARD_LOAD } from '../../../src/ui/settings/settings_fields';

const MODEL = { model: 'm', sha256: undefined, load: STANDARD_LOAD, worker: undefined };
const listener = { onState() {}, onEngine() {}, onWaiting() {}, place() {} };

test('a question that comes as the chat goes off the page loads no model that nobody would let go of', async () => {
  const load = vi.fn(() => new Promise<never>(() => {}));
  const session = new EmbedSession(MODEL, new EnginePool(load), listener);
  await session.close();
  await expect(session.chat('Hello', '').next()).rejects.toThrow('taken off the page');
  await expect(session.load()).rejects.toThrow('taken off the page');
  expect(load).not.toHaveBeenCalled();
});

test('a model that was lost is loaded again for the next who wants it, once for all who do', async () => {
  const engines: { lost: Error | null }[] = [];
  const pool = new EnginePool(async () => {
    const engine = { lost: null, async unload() {} };
    engines.push(engine);
    return engine as unknown as Engine;
  });
  const sessions = [0, 1].map(() => new EmbedSession(MODEL, pool, listener));
  const load = () => Promise.all(sessions.map((session) => session.load()));
  await load();
  expect((await load()).map(({ lost }) => lost)).toEqual([null, null]);
  expect(engines).toHaveLength(1);
  engines[0].lost = new Error('no GPU');
  expect((await load()).map(({ lost }) => lost)).toEqual([null, null]);
  expect(engines).toHaveLength(2);
});

test('a load ends where another model comes in its place, and a question goes on to that one', async () => {
  const loads = new Map<string, (engine: Engine) => void>();
  const pool = new EnginePool((model) => new Promise((resolve) => loads.set(model, resolve)));
  const session = new EmbedSession(MODEL, pool, listener);
  const engineOf = (name: string) =>
    ({
      lost: null,
      info: { hasChatTemplate: true },
      async unload() {},
      async *chat() {
        yield { type: 'warning', code: name, message: '' };
      },
    }) as unknown as Engine;
  const [own, first] = [session.load(), session.load('first')];
  const question = session.chat('Hello', '').next();
  const second = session.load('second');
  await expect(own).rejects.toMatchObject({ name: 'AbortError' });
  await expect(first).rejects.toMatchObject({ name: 'AbortError' });
  const again = session.load('second'); // the same load
  await vi.waitFor(() => expect(loads.has('second')).toBe(true));
  for (const [name, resolve] of loads) resolve(engineOf(name));
  expect(await second).toBe(await again);
  expect((await question).value).toMatchObject({ code: 'second' });
  await session.close();
});

test('each call that waits for one load hears of its progress, also where another listener throws', async () => {
  const loads: { onProgress: (progress: EngineLoadProgress) => unknown; resolve: (engine: Engine) => void }[] = [];
  const pool = new EnginePool(
    (_, { onProgress = () => {} }) => new Promise((resolve) => loads.push({ onProgress, resolve })),
  );
  const session = new EmbedSession(MODEL, pool, listener);
  const heard: string[] = [];
  const hear = (who: string) => () => heard.push(who);
  const first = session.load(undefined, {
    onProgress: () => {
      heard.push('first');
      throw new Error('of the page');
    },
  });
  await vi.waitFor(() => expect(loads).toHaveLength(1));
  const second = session.load(undefined, { onProgress: hear('second') });
  const progress: EngineLoadProgress = {
    stage: 'open',
    loadedBytes: 0,
    totalBytes: 0,
    bytesPerSecond: null,
    secondsLeft: null,
  };
  await expect(loads[0].onProgress(progress)).rejects.toThrow('of the page'); // the engine reports it
  loads[0].resolve({ lost: null, async unload() {} } as unknown as Engine);
  await Promise.all([first, second]);
  expect(heard).toEqual(['first', 'second']);
  await session.load(undefined, { onProgress: hear('third') });
  expect(heard).toHaveLength(2); // the model is there
});

test('an abort ends a load for its caller alone where others wait, and the load itself where nobody does', async () => {
  const loads: { signal: AbortSignal; resolve: (engine: Engine) => void }[] = [];
  const pool = new EnginePool(
    (_, { signal }) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        loads.push({ signal: signal as AbortSignal, resolve });
      }),
  );
  const session = new EmbedSession(MODEL, pool, listener);
  const stops = Array.from({ length: 4 }, () => new AbortController());
  const load = (i: number) => session.load(undefined, { signal: stops[i].signal });
  const [first, second] = [load(0), load(1)];
  const question = session.chat('Hello', '', { signal: stops[2].signal }).next();
  await vi.waitFor(() => expect(loads).toHaveLength(1));
  stops[0].abort();
  stops[2].abort();
  await expect(first).rejects.toMatchObject({ name: 'AbortError' });
  await expect(question).rejects.toMatchObject({ name: 'AbortError' });
  expect(loads[0].signal.aborted).toBe(false);
  stops[1].abort();
  await expect(second).rejects.toMatchObject({ name: 'AbortError' });
  await vi.waitFor(() => expect(loads[0].signal.aborted).toBe(true));
  const both = [load(3), session.chat('Hello', '', { signal: stops[3].signal }).next()];
  await vi.waitFor(() => expect(loads).toHaveLength(2));
  stops[3].abort(); // of all who wait
  for (const each of both) await expect(each).rejects.toMatchObject({ name: 'AbortError' });
  await vi.waitFor(() => expect(loads[1].signal.aborted).toBe(true));
  const last = session.load();
  await vi.waitFor(() => expect(loads).toHaveLength(3));
  loads[2].resolve({ lost: null, async unload() {} } as unknown as Engine);
  await last;
  await session.close();
});

test('the hash of the tag is asked of its own model, whatever else is asked, and of no other', async () => {
  const asked: unknown[] = [];
  const pool = new EnginePool(async (model, { sha256, contextLength }) => {
    asked.push([model, sha256, contextLength]);
    return { lost: null, async unload() {} } as unknown as Engine;
  });
  const session = new EmbedSession({ ...MODEL, sha256: 'ab' }, pool, listener);
  await session.load();
  await session.load('m', { contextLength: 64 });
  await session.load('other');
  await session.load(undefined, null); // no options: nothing changes
  await session.close();
  expect(asked).toEqual([
    ['m', 'ab', undefined],
    ['m', 'ab', 64],
    ['other', undefined, undefined],
  ]);
});

test('the settings of the tag hold for every model, unless code asks for others', async () => {
  const asked: unknown[] = [];
  const pool = new EnginePool(async (model, { quantize, contextLength, cache }) => {
    asked.push([model, quantize, contextLength, cache]);
    return { lost: null, async unload() {} } as unknown as Engine;
  });
  const load = { ...STANDARD_LOAD, quantize: 'q4', contextLength: 100 } as const;
  const session = new EmbedSession({ ...MODEL, load }, pool, listener);
  await session.load();
  await session.load('other', { contextLength: 64, cache: false });
  expect(session.settings).toEqual({ ...load, contextLength: 64 });
  await session.close();
  expect(asked).toEqual([
    ['m', 'q4', 100, undefined],
    ['other', 'q4', 64, false],
  ]);
});

test('options of a chat reach the engine unchanged, and its events the caller', async () => {
  const events: EngineEvent[] = [
    { type: 'reasoning', text: 'Let me see.' },
    { type: 'tool-call', index: 0, id: 'a', name: 'weather', arguments: '{}' },
    { type: 'tool-call-error', index: 1, message: 'No JSON.', text: 'oops' },
  ];
  const asked: unknown[] = [];
  const pool = new EnginePool(async () => {
    const chat = async function* (messages: unknown, { signal: _, ...options }: EngineChatOptions) {
      asked.push([messages, options]);
      yield* events;
    };
    const countTokens = async () => 7;
    return { info: { hasChatTemplate: true }, lost: null, chat, countTokens, async unload() {} } as unknown as Engine;
  });
  const session = new EmbedSession(MODEL, pool, listener);
  const tools = [{ name: 'weather', parameters: { type: 'object' } }];
  const options = { tools, toolChoice: 'required', thinking: 'off', templateArguments: { x: 1 }, n: 2 } as const;
  const heard: EngineEvent[] = [];
  for await (const event of session.chat('Hello', 'Be brief.', options)) heard.push(event);
  expect(heard).toEqual(events);
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
  ];
  expect(asked).toEqual([[messages, options]]);
  for await (const event of session.chat('Hello', '', null)) heard.push(event);
  expect(asked.at(-1)).toEqual([messages.slice(1), {}]);
  expect(await engineHere(session.engine)?.countTokens('Hello')).toBe(7);
  await session.close();
});

/** Brings the part for servers, which comes late. */
let come = (_: ServerPart) => {};
provideServerPart(
  () =>
    new Promise<ServerPart>((resolve) => {
      come = resolve;
    }),
);
const server = { server: 'https://example.org', model: null, rule: null, remembers: false };

/** A server that does nothing by itself, and what it was told. */
function scriptedServer() {
  const connect = vi.fn(async () => {});
  const serve = vi.fn((_: ServedOptions) => ({ isAlone: true, onLocal() {}, onLoad() {}, connect, close() {} }));
  return { connect, serve };
}

const nextTask = () => new Promise((resolve) => setImmediate(resolve));

test('a chat that goes off the page while the part for its server comes asks no server', async () => {
  const { connect, serve } = scriptedServer();
  const session = new EmbedSession({ ...MODEL, server }, new EnginePool(), listener);
  session.start();
  await session.release();
  come({ serve });
  await nextTask();
  expect(connect).not.toHaveBeenCalled();
  session.start(); // it is back
  come({ serve });
  await nextTask();
  expect(connect).toHaveBeenCalledTimes(1);
  await session.close();
});

test('an answer of the server goes on where the server says so, and ends with the page’s own engine', async () => {
  const { serve } = scriptedServer();
  const onEngine = vi.fn();
  const rule = 'remote-until-loaded';
  const never = new EnginePool(() => new Promise<never>(() => {}));
  const session = new EmbedSession({ ...MODEL, server: { ...server, rule } }, never, { ...listener, onEngine });
  session.start();
  come({ serve });
  await nextTask();
  const engine = {} as Engine;
  for (const stops of [true, false]) serve.mock.lastCall?.[0].onEngine(engine, stops);
  expect(onEngine.mock.calls.slice(1)).toEqual([
    [engine, true],
    [engine, false],
  ]);
  await session.close();
});

test('who waits for an answer hears that the visitor refused the server, and may ask again after a yes', async () => {
  const { serve } = scriptedServer();
  const session = new EmbedSession({ ...MODEL, server }, new EnginePool(), listener);
  const waiting = session.chat('Hello', '').next();
  come({ serve });
  await nextTask();
  const refusal = new Error('refused');
  serve.mock.lastCall?.[0].onRefusal(refusal);
  await expect(waiting).rejects.toBe(refusal);
  await expect(session.load()).rejects.toBe(refusal);
  serve.mock.lastCall?.[0].onRefusal(null); // asked again
  const engine = {} as Engine;
  const loading = session.load();
  serve.mock.lastCall?.[0].onEngine(engine, true);
  expect(await loading).toBe(engine);
  await session.close();
});

test('an abort ends no load of a model beside a server that another caller has got', async () => {
  const { serve } = scriptedServer();
  const signals: (AbortSignal | undefined)[] = [];
  const never = new EnginePool((_, { signal }) => {
    signals.push(signal);
    return new Promise<never>(() => {});
  });
  const rule = 'remote-until-loaded';
  const session = new EmbedSession({ ...MODEL, server: { ...server, rule } }, never, listener);
  const stop = new AbortController();
  const [first, second] = [session.load(undefined, { signal: stop.signal }), session.load()];
  come({ serve });
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  stop.abort();
  await expect(first).rejects.toMatchObject({ name: 'AbortError' });
  const engine = {} as Engine;
  serve.mock.lastCall?.[0].onEngine(engine, false);
  expect(await second).toBe(engine);
  await nextTask();
  expect(signals[0]?.aborted).toBe(false);
  await session.close();
});
