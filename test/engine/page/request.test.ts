// The inbox of one request: what the page takes, in which order, and how the request ends.

import { afterEach, describe, expect, test, vi } from 'vitest';
import type { HostConnection, Receiver } from '../../../src/engine/page/host/host';
import { Request } from '../../../src/engine/page/request';
import { ContextOverflowError } from '../../../src/errors';

/** A request and the worker's end of it. */
function setUp(signal?: AbortSignal, graceMs = 0) {
  let receiver: Receiver | null = null;
  let die: (error: Error) => void = () => {};
  let listeners = 0;
  const heard: string[] = [];
  const connection: HostConnection = {
    lost: null,
    send(_, given) {
      receiver = given;
      return { stop: () => void heard.push('stop'), close: () => void heard.push('close') };
    },
    onEnd(listener) {
      listeners++;
      die = listener;
      return () => void listeners--;
    },
  };
  const engine: ConstructorParameters<typeof Request>[0] = {
    whenReady({ begin }) {
      begin(connection);
      return () => {};
    },
  };
  const request = new Request<{ n: number }>(engine, { kind: 'tune', body: { options: {} } }, signal, graceMs);
  return {
    request,
    post: (...messages: object[]) => receiver?.hear(messages),
    fail: (error: Error) => receiver?.fail(error),
    heard,
    die: (error: Error) => die(error),
    listeners: () => listeners,
    hasSent: () => receiver !== null,
  };
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
    const { request, post, fail } = setUp();
    post({ n: 1 });
    fail(new ContextOverflowError(9, 8));
    expect(await request.take()).toEqual({ n: 1 });
    await expect(request.take()).rejects.toMatchObject({ code: 'context-overflow' });
    request.close();
  });

  test('come before the death of the worker, and none after it', async () => {
    const { request, post, die } = setUp();
    post({ n: 1 });
    const death = new Error('gone');
    die(death);
    post({ n: 2 });
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
    expect([hasSent(), listeners()]).toEqual([false, 0]);
    request.close();
  });

  test('ends a request that the worker has not begun at once', async () => {
    const stop = new AbortController();
    const { request, heard } = setUp(stop.signal, 1000);
    stop.abort();
    expect(await request.take()).toBeUndefined();
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
