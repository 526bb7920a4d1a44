// What the service worker answers for, and what it leaves to the browser.

import { afterEach, expect, test, vi } from 'vitest';
import { Shell } from '../../src/shell/shell';

const SCOPE = 'https://example.com/vivace/';
const BUILD = { name: 'b', files: { '': 'sha256-page', 'assets/a.js': 'sha256-a' }, replaceable: ['catalogue.json'] };

/** A cache storage of maps. Only what the shell uses. */
function storageWith(kept: Record<string, string>, names: string[] = []): CacheStorage {
  const cache = {
    match: async (url: string) => (url in kept ? new Response(kept[url]) : undefined),
    put: async (url: string, response: Response) => {
      kept[url] = await response.text();
    },
  };
  return {
    open: async () => cache,
    keys: async () => names,
    delete: async (name: string) => names.splice(names.indexOf(name), 1).length > 0,
  } as unknown as CacheStorage;
}

const KEPT = { [SCOPE]: 'kept page', [`${SCOPE}assets/a.js`]: 'kept a', [`${SCOPE}catalogue.json`]: 'kept list' };
const offline: typeof fetch = () => Promise.reject(new TypeError('offline'));
const online =
  (status = 200): typeof fetch =>
  async () =>
    new Response('new', { status });

/** A request as a service worker gets it. Node makes no navigations. */
function request(path: string, init: { method?: string; mode?: string; headers?: HeadersInit } = {}): Request {
  const { method = 'GET', mode = 'cors', headers } = init;
  const url = new URL(path, SCOPE).href;
  return { url, method, mode, headers: new Headers(headers) } as unknown as Request;
}

afterEach(() => void vi.useRealTimers());

async function answered(ask: typeof fetch, asked: Request): Promise<string | null> {
  const answer = new Shell(BUILD, SCOPE, storageWith({ ...KEPT }), ask).answer(asked);
  return answer && (await answer).text();
}

test('scripts come from the cache of the build, whatever the network has', async () => {
  expect(await answered(online(), request('assets/a.js'))).toBe('kept a');
  expect(await answered(offline, request('assets/a.js'))).toBe('kept a');
});

test('the page and what a host may replace come from the network, and from the cache without one', async () => {
  for (const [asked, kept] of [
    [request('?model=x', { mode: 'navigate' }), 'kept page'],
    [request('index.html#a', { mode: 'navigate' }), 'kept page'],
    [request('catalogue.json'), 'kept list'],
  ] as const) {
    expect(await answered(online(), asked)).toBe('new');
    expect(await answered(offline, asked)).toBe(kept);
    expect(await answered(online(503), asked)).toBe(kept);
  }
});

test('the page opens with the answer of the network, or after 2.5 s with the first to come', async () => {
  vi.useFakeTimers();
  const never = () => new Promise<never>(() => {});
  const slow: typeof fetch = (...asked) =>
    new Promise((resolve) => setTimeout(() => resolve(online()(...asked)), 4_000));
  const kept = storageWith({ ...KEPT });
  const busy = { open: never } as unknown as CacheStorage;
  for (const [ask, storage, from, to, text] of [
    [slow, kept, 2_400, 2_600, 'kept page'],
    [online(), busy, -1, 0, 'new'],
    [slow, busy, 3_900, 4_100, 'new'],
    [slow, storageWith({}), 3_900, 4_100, 'new'],
    [online(503), storageWith({}), -1, 0, 'new'],
    [offline, storageWith({}), -1, 0, 'TypeError: offline'],
  ] as const) {
    let shown: string | null = null;
    const answer = new Shell(BUILD, SCOPE, storage, ask).answer(request('', { mode: 'navigate' }));
    void answer!
      .then((response) => response.text(), String)
      .then((text) => {
        shown = text;
      });
    if (from > 0) await vi.advanceTimersByTimeAsync(from);
    expect(from > 0 ? shown : null).toBeNull();
    await vi.advanceTimersByTimeAsync(to - Math.max(from, 0));
    expect(shown).toBe(text);
  }
});

test('everything else is left to the browser', async () => {
  for (const asked of [
    request('models/storyteller/storyteller-q8_0.gguf'),
    request('assets/b.js'),
    request('embed_demo.html', { mode: 'navigate' }),
    request('assets/a.js', { method: 'POST' }),
    request('assets/a.js', { headers: { range: 'bytes=0-1' } }),
    request('https://elsewhere.com/vivace/assets/a.js'),
    request('/assets/a.js'),
    request(''),
  ]) {
    expect(await answered(online(), asked), asked.url).toBeNull();
  }
});

test('a build of which one file is missing is not kept', async () => {
  const kept: Record<string, string> = {};
  const ask: typeof fetch = async (url) => new Response('x', { status: String(url).endsWith('a.js') ? 404 : 200 });
  await expect(new Shell(BUILD, SCOPE, storageWith(kept), ask).install()).rejects.toThrow('a.js: 404');
  expect(kept).toEqual({});
  await new Shell(BUILD, SCOPE, storageWith(kept), online()).install();
  expect(Object.keys(kept)).toHaveLength(3);
});

test('the caches of other builds of this page are removed, and no others', async () => {
  const opened: string[] = [];
  const open = async (name: string) => opened.push(name) && ({ put: async () => {} } as unknown as Cache);
  const cacheOf = async (name: string, scope: string) => {
    await new Shell({ ...BUILD, name }, scope, { ...storageWith({}), open } as CacheStorage, online()).install();
    return opened.at(-1) ?? '';
  };
  const [before, now] = [await cacheOf('a', SCOPE), await cacheOf('b', SCOPE)];
  // Another page of this origin, in a folder of its own, has the same build or an older one.
  const others = [await cacheOf('a', 'https://example.com/other/'), await cacheOf('b', 'https://example.com/other/')];
  const inside = await cacheOf('a', `${SCOPE}beta/`);
  const names = [before, now, ...others, inside, 'vivace-shell-0a', 'somebody-elses'];
  await new Shell(BUILD, SCOPE, storageWith({}, names), online()).clean();
  expect(names).toEqual([now, ...others, inside, 'somebody-elses']);
});

test('a cache that the browser cannot open any more leaves the page to the network', async () => {
  const broken = { open: () => Promise.reject(new DOMException('internal error', 'UnknownError')) };
  const shell = new Shell(BUILD, SCOPE, broken as unknown as CacheStorage, online());
  for (const asked of [request('', { mode: 'navigate' }), request('assets/a.js'), request('catalogue.json')])
    expect(await (await shell.answer(asked))?.text(), asked.url).toBe('new');
});
