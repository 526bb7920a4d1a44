// Which loads are shared, by what the browser allows.

import { afterEach, expect, test, vi } from 'vitest';
import { Engine, engineParts } from '../../src/engine/engine';
import { share, shareable } from '../../src/tabs/share';
import { SharedEngine } from '../../src/tabs/shared_engine';
import { TabHost } from '../../src/tabs/tab_host';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const refusal = () => new DOMException('Access to the Locks API is denied in this context.', 'SecurityError');
const working = { request() {}, query: async () => ({ held: [], pending: [] }) };

test.each<[string, object | undefined, boolean]>([
  ['locks that work', working, true],
  ['no locks', undefined, false],
  ['locks that reject, as in a sandboxed frame', { ...working, query: () => Promise.reject(refusal()) }, false],
  [
    'locks that throw',
    {
      ...working,
      query: () => {
        throw refusal();
      },
    },
    false,
  ],
  ['locks that never answer', { ...working, query: () => new Promise(() => {}) }, false],
])('%s', async (_, locks, shares) => {
  vi.useFakeTimers();
  vi.stubGlobal('navigator', { locks, userAgent: 'Test' });
  const model = 'https://host.example/m.gguf';
  const found = shareable(engineParts, model);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await Promise.race([found, 'waiting'])).toBe(shares ? model : null);
  expect(await shareable(engineParts, new File([], 'm.gguf'))).toBeNull();
});

test('null stands for no options', async () => {
  vi.stubGlobal('navigator', { locks: working, userAgent: 'Test' });
  const hosts: unknown[][] = [];
  vi.spyOn(TabHost, 'open').mockImplementation(async (...given) => {
    hosts.push(given.slice(3)); // onProgress and signal
    return {} as TabHost;
  });
  for (const options of [undefined, null, {}]) await SharedEngine.load('https://host.example/m.gguf', options);
  expect(hosts).toEqual(Array(3).fill([undefined, undefined]));
});

test('a tab with an engine of its own leads', async () => {
  const own = {} as Engine;
  vi.spyOn(Engine, 'load').mockResolvedValueOnce(own);
  const engine = await SharedEngine.load(new File([], 'm.gguf'));
  expect(engine).toBe(own);
  expect(engine.leads).toBe(true);
});

test('tabs that mean another hub by the same words do not meet', async () => {
  vi.spyOn(TabHost, 'open').mockResolvedValue({} as TabHost);
  const opened: string[] = [];
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      constructor(name: string) {
        opened.push(name);
      }
    },
  );
  vi.stubGlobal('navigator', { locks: working, userAgent: 'Test' });
  for (const baseURI of ['https://a.example/one/', 'https://a.example/two/', 'https://a.example/one/page.html']) {
    vi.stubGlobal('document', { baseURI });
    await share(engineParts, 'hf:owner/repo', { hubUrl: 'hub' });
    vi.mocked(TabHost.open).mock.lastCall?.[0].open(() => {});
  }
  expect(opened[0]).toContain('https://a.example/one/hub');
  expect(opened[1]).toContain('https://a.example/two/hub');
  expect(opened[2]).toBe(opened[0]);
});

test('a signal that is none is refused', async () => {
  vi.stubGlobal('navigator', { locks: working, userAgent: 'Test' });
  const options = { signal: new AbortController() as unknown as AbortSignal };
  await expect(SharedEngine.load('https://host.example/m.gguf', options)).rejects.toMatchObject({
    code: 'invalid-request',
    option: 'signal',
  });
});
