// Engines shared by the chats of a page: holders, waits, and the end of a load.

import { expect, test, vi } from 'vitest';
import { EmbedSession } from '../../../src/embed/session/embed_session';
import { EnginePool, type PoolOptions } from '../../../src/embed/session/engine_pool';
import { leavable } from '../../../src/embed/session/leavable';
import type { Engine, EngineEvent, EngineLoadOptions } from '../../../src/engine/engine';
import { STANDARD_LOAD } from '../../../src/ui/settings/settings_fields';

/** A model whose load ends on command. It answers with two tokens, the second on command. */
function scripted() {
  const loads: { model: string; options: EngineLoadOptions; finish: () => void; fail: (error: Error) => void }[] = [];
  const engines: {
    unloaded: boolean;
    go: () => void;
    signals: (AbortSignal | undefined)[];
    lost: Error | null;
  }[] = [];
  const pool = new EnginePool((model, options) => {
    const state = {
      unloaded: false,
      go: () => {},
      signals: [] as (AbortSignal | undefined)[],
      lost: null as Error | null,
    };
    const token = (text: string) => ({ type: 'token', text }) as EngineEvent;
    const engine = {
      info: { model },
      get lost() {
        return state.lost;
      },
      async *chat(_messages: unknown, { signal }: { signal?: AbortSignal } = {}) {
        state.signals.push(signal);
        if (_messages === 'queued' || _messages === 'lost') yield { type: 'queued', reason: 'busy' };
        if (_messages === 'lost') {
          yield { type: 'interrupted', code: 'device-lost', message: 'gone' };
          yield { type: 'recovered', message: 'back', backend: 'webgpu', pauseMs: 9 };
        }
        if (_messages === 'dies') throw Object.assign(new Error('gone'), { code: 'worker' });
        yield token('a');
        await new Promise<void>((resolve) => {
          state.go = resolve;
        });
        yield token('b');
      },
      async embed(texts: string[], { signal }: { signal?: AbortSignal } = {}) {
        if (texts[0] === 'endless')
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
        return [texts];
      },
      async tune({ signal }: { signal?: AbortSignal } = {}) {
        state.signals.push(signal);
      },
      async roofline({ signal }: { signal?: AbortSignal } = {}) {
        state.signals.push(signal);
      },
      async unload() {
        state.unloaded = true;
      },
    } as unknown as Engine;
    return new Promise((resolve, reject) => {
      const finish = () => {
        engines.push(state);
        resolve(engine);
      };
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      loads.push({ model, options, finish, fail: reject });
    });
  });
  return { pool, loads, engines };
}

async function two(first?: PoolOptions, second?: PoolOptions) {
  const { pool, loads, engines } = scripted();
  const asked = [pool.acquire('m', first), pool.acquire('m', second)];
  loads[0]?.finish();
  const [a, b] = (await Promise.all(asked)) as [Engine, Engine];
  return { pool, loads, engine: engines[0], a, b };
}

test('the same model with the same settings is loaded once, whoever asks, in whatever order options come', async () => {
  const { loads, a, b } = await two({ kvCache: 'f32', backend: 'cpu' }, { backend: 'cpu', kvCache: 'f32' });
  expect(loads).toHaveLength(1);
  expect(a.info).toBe(b.info);
});

test('another model or other settings are another engine', () => {
  const { pool, loads } = scripted();
  pool.acquire('m');
  pool.acquire('n');
  pool.acquire('m', { kvCache: 'f32' });
  expect(loads.map(({ model }) => model)).toEqual(['m', 'n', 'm']);
});

test('an engine of all tabs is another one than that of this page', () => {
  const { pool, loads } = scripted();
  pool.acquire('m');
  pool.acquire('m', { share: true });
  pool.acquire('m', { share: true });
  expect(loads.map(({ options }) => options)).toMatchObject([{}, { share: true }]);
  expect(loads[0]?.options).not.toHaveProperty('share');
});

test('the last that lets go unloads, and letting go twice counts once', async () => {
  const { engine, a, b } = await two();
  await a.unload();
  await a.unload();
  expect(engine.unloaded).toBe(false);
  await b.unload();
  expect(engine.unloaded).toBe(true);
});

test('a load goes on while anybody waits for it, and ends when nobody does', async () => {
  const { pool, loads } = scripted();
  const [one, other] = [new AbortController(), new AbortController()];
  const asked = [pool.acquire('m', { signal: one.signal }), pool.acquire('m', { signal: other.signal })];
  one.abort();
  await expect(asked[0]).rejects.toThrow();
  expect(loads[0]?.options.signal?.aborted).toBe(false);
  other.abort();
  await expect(asked[1]).rejects.toThrow();
  expect(loads[0]?.options.signal?.aborted).toBe(true);
  pool.acquire('m');
  expect(loads).toHaveLength(2);
});

test('everyone hears the progress, latecomers where it is', () => {
  const { pool, loads } = scripted();
  const heard = [vi.fn(), vi.fn()];
  const progress = {
    stage: 'weights',
    loadedBytes: 1,
    totalBytes: 2,
    bytesPerSecond: null,
    secondsLeft: null,
  } as const;
  pool.acquire('m', { onProgress: heard[0] });
  loads[0]?.options.onProgress?.(progress);
  pool.acquire('m', { onProgress: heard[1] });
  for (const listener of heard) expect(listener.mock.calls).toEqual([[progress]]);
});

test('who fails at the progress does not hold the engine', async () => {
  const { pool, loads, engines } = scripted();
  const progress = { stage: 'ready', loadedBytes: 2, totalBytes: 2, bytesPerSecond: null, secondsLeft: null } as const;
  const asked = pool.acquire('m');
  loads[0]?.options.onProgress?.(progress);
  loads[0]?.finish();
  const engine = await asked;
  const onProgress = () => {
    throw new Error('of the page');
  };
  await expect(pool.acquire('m', { onProgress })).rejects.toThrow('of the page');
  await engine.unload();
  expect(engines[0]?.unloaded).toBe(true);
});

test('a load that failed fails for all, and is tried again for the next', async () => {
  const { pool, loads } = scripted();
  const asked = [pool.acquire('m'), pool.acquire('m')];
  loads[0]?.fail(new Error('404'));
  for (const result of await Promise.allSettled(asked)) expect(result.status).toBe('rejected');
  pool.acquire('m');
  expect(loads).toHaveLength(2);
});

test('a question that is queued says that it waits, until its next event; one that takes turns does not', async () => {
  const waiting: boolean[] = [];
  const { engine, a, b } = await two({}, { onWaiting: (isWaiting) => waiting.push(isWaiting) });
  const first = a.chat([]);
  await first.next();
  const second = b.chat('queued' as never);
  await second.next();
  expect(waiting).toEqual([true]);
  await second.next();
  expect(waiting).toEqual([true, false]);
  engine.go();
  await second.return();
  await b.chat([]).next();
  expect(waiting).toEqual([true, false]);
  const left = b.chat('queued' as never);
  await left.next();
  await left.return();
  expect(waiting).toEqual([true, false, true, false]);
  await first.return();
});

test('who lets go ends its own requests, and not those of others', async () => {
  const { engine, a, b } = await two();
  await a.chat([]).next();
  await b.chat([]).next();
  await a.tune();
  await b.roofline();
  await a.roofline();
  await a.unload();
  expect(engine.signals.map((signal) => signal?.aborted)).toEqual([true, false, true, false, true]);
});

test('an answer that failed costs nobody the engine, whatever its error', async () => {
  const { pool, loads, a, b } = await two();
  await expect(a.chat('dies' as never).next()).rejects.toThrow('gone');
  pool.acquire('m');
  expect(loads).toHaveLength(1);
  expect([a.lost, b.lost]).toEqual([null, null]);
});

test('a loss that an engine recovers from reaches all who ask it, and who waits goes on to wait', async () => {
  const waiting: boolean[] = [];
  const { loads, a, b } = await two({}, { onWaiting: (isWaiting) => waiting.push(isWaiting) });
  const answers = [a.chat('lost' as never), b.chat('lost' as never)];
  for (const answer of answers) expect((await answer.next()).value).toMatchObject({ type: 'queued' });
  for (const answer of answers) expect((await answer.next()).value).toMatchObject({ type: 'interrupted' });
  expect(waiting).toEqual([true]); // the loss is no answer yet
  for (const answer of answers) expect((await answer.next()).value).toMatchObject({ type: 'recovered' });
  expect(waiting).toEqual([true]);
  for (const answer of answers) expect((await answer.next()).value).toMatchObject({ text: 'a' });
  expect([waiting, loads.length]).toEqual([[true, false], 1]);
  for (const answer of answers) await answer.return();
});

test('an engine that was lost for good is not given to anybody again, and all who hold it see that', async () => {
  const { pool, loads, engine, a, b } = await two();
  engine.lost = new Error('no GPU');
  expect([a.lost?.message, b.lost?.message]).toEqual(['no GPU', 'no GPU']);
  pool.acquire('m');
  expect(loads).toHaveLength(2);
});

/** An engine that begins an answer, waits, and ends at once when it is left, as Engine does. */
function patient() {
  const engine = {
    info: { hasChatTemplate: true },
    lost: null,
    chat: () =>
      leavable(async function* ({ left }) {
        yield { type: 'start' };
        await left;
      }),
    async unload() {},
  } as unknown as Engine;
  return new EnginePool(async () => engine);
}

test('who leaves an answer that waits for an event has left at once, and nobody waits for it', async () => {
  const pool = patient();
  const waiting: boolean[] = [];
  const a = await pool.acquire('m');
  const b = await pool.acquire('m', { onWaiting: (isWaiting) => waiting.push(isWaiting) });
  const events = a.chat([]);
  await events.next();
  const pending = events.next();
  await events.return();
  expect(await pending).toEqual({ value: undefined, done: true });
  await b.chat([]).next();
  expect(waiting).toEqual([]);
});

test('who leaves the answer of a chat on the page has left at once, also while its model loads', async () => {
  const model = { model: 'm', sha256: undefined, load: STANDARD_LOAD, worker: undefined };
  const listener = { onState() {}, onEngine() {}, onWaiting() {}, place() {} };
  for (const pool of [patient(), new EnginePool(() => new Promise(() => {}))]) {
    const session = new EmbedSession(model, pool, listener);
    const events = session.chat('Hello', '');
    const first = events.next();
    await new Promise((resolve) => setTimeout(resolve));
    const second = events.next();
    await events.return();
    await Promise.all([first, second]);
    expect(await events.next()).toEqual({ value: undefined, done: true });
    await session.close();
  }
});

test('texts are embedded beside answers, and end with their holder', async () => {
  const { engine, a, b } = await two();
  expect(await a.embed(['one'])).toEqual([['one']]);
  const answer = a.chat([]);
  await answer.next();
  expect(await b.embed(['two'])).toEqual([['two']]);
  engine.go();
  await answer.return();
  expect(await b.embed(['three'])).toEqual([['three']]);
  const endless = b.embed(['endless']);
  const outcome = expect(endless).rejects.toThrow('aborted');
  await b.unload();
  await outcome;
});
