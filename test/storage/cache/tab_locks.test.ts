// Locks and databases that refuse, throw and break: the work still runs exactly once, and no error goes unhandled.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { idbManifests } from '../../../src/storage/cache/manifest_store';
import { alone, join, turn } from '../../../src/storage/cache/tab_locks';

afterEach(() => vi.unstubAllGlobals());

type Request = (...args: unknown[]) => unknown;
const callbackOf = (args: unknown[]) => args.at(-1) as (lock: unknown) => Promise<unknown>;

const MANAGERS: [string, { request: Request } | undefined][] = [
  ['no locks', undefined],
  [
    'locks that throw',
    {
      request: () => {
        throw new DOMException('not allowed', 'SecurityError');
      },
    },
  ],
  ['locks that reject', { request: async () => Promise.reject(new DOMException('not allowed', 'SecurityError')) }],
  [
    'locks that end with an AbortError of their own',
    { request: async () => Promise.reject(new DOMException('broken', 'AbortError')) },
  ],
  [
    'a lock that is stolen while the work goes on',
    {
      request: async (...args) => {
        void callbackOf(args)({});
        throw new DOMException('stolen', 'AbortError');
      },
    },
  ],
  ['locks that work', { request: async (...args) => callbackOf(args)({}) }],
];

describe.each(MANAGERS)('%s', (_, locks) => {
  const stub = () => vi.stubGlobal('navigator', { locks });

  test('a turn runs its work once and returns the result', async () => {
    stub();
    const work = vi.fn(async () => 7);
    expect(await turn('a', work)).toBe(7);
    await new Promise((resolve) => setImmediate(resolve));
    expect(work).toHaveBeenCalledTimes(1);
  });

  test('errors of the work are passed on, both synchronous and later', async () => {
    stub();
    await expect(turn('a', () => Promise.reject(new Error('of the work')))).rejects.toThrow('of the work');
    const sudden = () => {
      throw new Error('at once');
    };
    await expect(turn('a', sudden)).rejects.toThrow('at once');
    await expect(alone(sudden)).rejects.toThrow('at once');
  });

  test('an earlier abort rejects with its reason, without running the work', async () => {
    stub();
    const work = vi.fn(async () => 7);
    await expect(turn('a', work, undefined, AbortSignal.abort(new Error('the person left')))).rejects.toThrow(
      'the person left',
    );
    expect(work).not.toHaveBeenCalled();
  });

  test('alone runs its work, and join reports other tabs', async () => {
    stub();
    const work = vi.fn(async () => {});
    await alone(work);
    expect(work).toHaveBeenCalledTimes(1);
    expect((await join('a')).others).toBe(false);
  });
});

test('a navigator whose locks throw counts as one without', async () => {
  vi.stubGlobal('navigator', {
    get locks(): never {
      throw new DOMException('sandboxed', 'SecurityError');
    },
  });
  expect(await turn('a', async () => 7)).toBe(7);
  expect((await join('a')).others).toBe(false);
});

describe('a database', () => {
  /** A database that calls back as IndexedDB does: an error thrown in a listener would only end the worker. */
  function stubDatabase(put: () => void) {
    const request = (result: unknown) => {
      const asked: { result: unknown; onsuccess?: () => void } = { result };
      queueMicrotask(() => asked.onsuccess?.());
      return asked;
    };
    const transaction = {
      error: null as Error | null,
      onabort: () => {},
      oncomplete: () => {},
      abort: () => queueMicrotask(() => transaction.onabort()),
      objectStore: () => ({ transaction, get: () => request(undefined), put }),
    };
    vi.stubGlobal('indexedDB', { open: () => request({ transaction: () => transaction }) });
    return transaction;
  }

  test('whose put throws in a listener rejects with the error', async () => {
    stubDatabase(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    await expect(idbManifests().update('k', () => 1)).rejects.toMatchObject({ name: 'QuotaExceededError' });
  });

  test('whose change throws rejects with the error', async () => {
    stubDatabase(() => {});
    const wrong = () => {
      throw new Error('of the change');
    };
    await expect(idbManifests().update('k', wrong)).rejects.toThrow('of the change');
  });

  test('that aborts by itself rejects with an error', async () => {
    const transaction = stubDatabase(() => queueMicrotask(() => transaction.onabort()));
    await expect(idbManifests().update('k', () => 1)).rejects.toThrow('refused a change');
  });

  test('that completes stores the value', async () => {
    const put = vi.fn(() => queueMicrotask(() => transaction.oncomplete()));
    const transaction = stubDatabase(put);
    await idbManifests().update('k', () => 1);
    expect(put).toHaveBeenCalledWith(1, 'k');
  });
});
