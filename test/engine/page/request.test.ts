// The inbox of one request: what the page takes, in which order, and how the request ends.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { toFailure } from '../../../src/engine/failure';
import type { Connection } from '../../../src/engine/page/connection';
import { Request } from '../../../src/engine/page/request';
import { ContextOverflowError } from '../../../src/errors';

/** A request and the worker's end of its port. */
function setUp(signal?: AbortSignal, graceMs = 0) {
  let port: MessagePort | null = null;
  let die: (error: Error) => void = () => {};
  let listeners = 0;
  const connection = {
    worker: {} as never,
    hear() {},
    lost: null,
    explain: async () => {},
    onEnd(listener: (error: Error) => void) {
      listeners++;
      die = listener;
      return () => void listeners--;
    },
  };
  const engine: ConstructorParameters<typeof Request>[0] = {
    whenReady({ begin }) {
      begin(connection as unknown as Connection);
      return () => {};
    },
  };
  const send = async (_: unknown, given: MessagePort) => {
    port = given;
  };
  const request = new Request<{ n: number }>(engine, send, signal, graceMs);
  const heard: unknown[] = [];
  if (port) (port as MessagePort).onmessage = ({ data }) => heard.push(data);
  const post = (...messages: object[]) => port?.postMessage(messages);
  return {
    request,
    post,
    heard,
    die: (error: Error) => die(error),
    listeners: () => listeners,
    hasSent: port !== null,
  };
}

/** Lets the event loop deliver all messages posted so far: its poll phase lies between two immediates. */
async function turn(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

afterEach(() => void vi.useRealTimers());

describe('messages', () => {
  test('come one by one in their order, however many a post has', async () => {
    const { request, post, listeners } = setUp();
    post({ n: 1 });
    post({ n: 2 }, { n: 3 }, { n: 4 });
    for (const n of [1, 2, 3, 4]) expect(await request.take()).toEqual({ n });
    const next = request.take();
    post({ n: 5 });
    expect(await next).toEqual({ n: 5 });
    expect(listeners()).toBe(1); // one for the request, none for a message
    request.close();
    expect(listeners()).toBe(0);
  });

  test('come before the failure that was posted with them', async () => {
    const { request, post } = setUp();
    post({ n: 1 }, toFailure(new ContextOverflowError(9, 8)));
    expect(await request.take()).toEqual({ n: 1 });
    await expect(request.take()).rejects.toMatchObject({ code: 'context-overflow' });
    request.close();
  });

  test('come before the death of the worker, and none after it', async () => {
    const { request, post, die } = setUp();
    post({ n: 1 });
    await turn();
    const death = new Error('gone');
    die(death);
    post({ n: 2 });
    await turn();
    expect(await request.take()).toEqual({ n: 1 });
    await expect(request.take()).rejects.toBe(death);
    await expect(request.take()).rejects.toBe(death);
    request.close();
  });
});

describe('an abort', () => {
  test('before the request sends nothing', async () => {
    const { request, hasSent, listeners } = setUp(AbortSignal.abort());
    expect(await request.take()).toBeUndefined();
    expect([hasSent, listeners()]).toEqual([false, 0]);
    request.close();
  });

  test('ends a request that the worker has not begun at once', async () => {
    const stop = new AbortController();
    const { request, heard } = setUp(stop.signal, 1000);
    stop.abort();
    expect(await request.take()).toBeUndefined();
    await turn();
    expect(heard).toEqual(['stop']);
    request.close();
  });

  test('gives a worker that has begun time for its last messages', async () => {
    const stop = new AbortController();
    const { request, post } = setUp(stop.signal, 60_000);
    post({ n: 1 });
    expect(await request.take()).toEqual({ n: 1 });
    stop.abort();
    post({ n: 2 });
    expect(await request.take()).toEqual({ n: 2 });
    request.close();
  });

  test('does not wait for the last messages of a worker that hangs', async () => {
    const stop = new AbortController();
    const { request, post } = setUp(stop.signal, 20);
    post({ n: 1 });
    await request.take();
    stop.abort();
    expect(await request.take()).toBeUndefined();
    request.close();
  });
});
