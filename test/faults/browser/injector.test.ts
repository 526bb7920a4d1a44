// What the injector does to the platform, seen by a small worker of the test instead of the engine's.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Faults } from '../../../tools/faults/page';
import { faultNames } from '../../../tools/faults/plan';
import { faultHandlers } from '../../../tools/faults/serve';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';
import { type Served, serve } from '../../../tools/lib/serve';

let server: Served;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  const file = (_: unknown, response: { end(bytes: Uint8Array): void }) => response.end(new Uint8Array(1000).fill(7));
  server = await serve({ mounts: { '/': DIST }, handlers: { ...(await faultHandlers()), '/bytes': file } });
  browser = await launchChromium();
  page = await browser.newPage();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** How long a worker that hangs has time to say something after all. */
const QUIET_MS = 300;

/**
 * What a task says in a worker under a plan: its result, or the error's name. Where one of these two is expected, it is
 * told after the fault has struck, not after a time: 'silent', the worker answers another message, or 'dead'.
 */
async function inWorker(plan: string, task: string, expected: unknown): Promise<unknown> {
  await page.goto(`${server.url}bare?faults=${plan}`);
  return page.evaluate(
    async ({ task, expected, QUIET_MS }) => {
      const code = `onmessage = async ({ data }) => {
        const run = async () => { ${task} };
        postMessage(data === 'alive?' ? 'silent' : await run().catch((error) => error.name));
      };`;
      const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      const { vivaceFaults } = window as unknown as { vivaceFaults: Faults };
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' });
      const said = new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => resolve(message);
      });
      worker.postMessage('go');
      if (expected === 'silent' || expected === 'dead') {
        while (vivaceFaults.happened.length === 0) await pause(10);
        await Promise.race([said, pause(QUIET_MS)]);
        worker.postMessage('alive?');
      }
      const result = await (expected === 'dead' ? Promise.race([said, pause(QUIET_MS).then(() => 'dead')]) : said);
      worker.terminate();
      return result;
    },
    { task, expected, QUIET_MS },
  );
}

const happened = () =>
  page.evaluate(() => (window as unknown as { vivaceFaults: Faults }).vivaceFaults.happened.map(({ name }) => name));

const FILE = `const root = await navigator.storage.getDirectory();
  const handle = await root.getFileHandle('probe', { create: true });
  const access = await handle.createSyncAccessHandle();
  try { access.write(new Uint8Array(9)); } finally { access.close(); }
  return 'kept';`;
const DATABASE = `const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = request.oncomplete = () => resolve(request.result);
    request.onerror = request.onabort = () => reject(request.error);
  });
  const open = indexedDB.open('probe');
  open.onupgradeneeded = () => open.result.createObjectStore('rows');
  const database = await done(open);
  const transaction = database.transaction('rows', 'readwrite');
  transaction.objectStore('rows').put(1, 'one');
  await done(transaction);
  return 'kept';`;
const LOCK = `return navigator.locks.request('vivace http://a/model', () => 'granted');`;
const CACHE = `const cache = await caches.open('probe'); await cache.put(new URL('/x', location.origin), new Response('x')); return 'kept';`;
const FETCH = `const bytes = new Uint8Array(await (await fetch('${'/bytes'}')).arrayBuffer());
  return [bytes.length, bytes.filter((byte) => byte !== 7).length].join();`;
const NETWORK = FETCH.replace("'/bytes'", "new URL('/bytes', location.origin)");

test.each([
  ['', FILE, 'kept'],
  ['opfs-absent', FILE, 'TypeError'],
  ['opfs-throws', FILE, 'SecurityError'],
  ['opfs-full', FILE, 'QuotaExceededError'],
  ['opfs-hangs@call:2', FILE, 'silent'],
  ['', DATABASE, 'kept'],
  ['idb-absent', DATABASE, 'TypeError'],
  ['idb-throws', DATABASE, 'SecurityError'],
  ['idb-full', DATABASE, 'QuotaExceededError'],
  ['idb-hangs', DATABASE, 'silent'],
  ['idb-hangs@call:2', DATABASE, 'silent'],
  ['', LOCK, 'granted'],
  ['locks-absent', LOCK, 'TypeError'],
  ['locks-throws', LOCK, 'SecurityError'],
  ['locks-hangs', LOCK, 'silent'],
  ['lock-held', LOCK, 'silent'],
  ['lock-held@for:0.1', LOCK, 'granted'],
  ['', CACHE, 'kept'],
  ['cache-absent', CACHE, 'TypeError'],
  ['cache-throws', CACHE, 'SecurityError'],
  ['cache-full', CACHE, 'QuotaExceededError'],
  ['cache-hangs', CACHE, 'silent'],
  ['', NETWORK, '1000,0'],
  ['network-down', NETWORK, 'TypeError'],
  ['network-cut', NETWORK, 'TypeError'],
  ['network-cut@call:2', NETWORK, '1000,0'],
  ['network-stalls', NETWORK, 'silent'],
  ['network-slow@kb:0.1', NETWORK, 'silent'],
  ['network-wrong-bytes', NETWORK, '1000,1'],
])('storage and network: %s', async (plan, task, said) => {
  expect(await inWorker(plan, task.replace('location.origin', JSON.stringify(server.url)), said)).toBe(said);
  const struck = plan !== '' && !plan.startsWith('network-cut@');
  expect([...new Set(await happened())]).toEqual(struck ? [plan.replace(/@.*/, '')] : []);
});

const DEVICE = `const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter?.requestDevice();
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;`;
const SCOPED = `${DEVICE}
  device.pushErrorScope('validation');
  device.pushErrorScope('out-of-memory');
  const buffer = device.createBuffer({ size: 3e6, usage });
  const memory = await device.popErrorScope();
  const other = await device.popErrorScope();
  const mapped = await buffer.mapAsync(GPUMapMode.READ).then(() => 'mapped', (error) => error.name);
  return [memory?.constructor.name, other?.constructor.name, mapped].join();`;
const UNCAPTURED = `${DEVICE}
  const heard = new Promise((resolve) => { device.onuncapturederror = ({ error }) => resolve(error.constructor.name); });
  device.createBuffer({ size: 4, usage });
  return heard;`;
const SUBMITS = `${DEVICE}
  const lost = device.lost.then(() => true);
  for (let submit = 1; submit < 4; submit++) {
    device.queue.submit([]);
    if (await Promise.race([lost, device.queue.onSubmittedWorkDone().then(() => false)])) return submit;
  }
  device.queue.submit([]);
  await lost;
  return 4;`;

test.each([
  ['', SCOPED, ',,mapped'],
  ['gpu-oom', SCOPED, 'GPUOutOfMemoryError,,OperationError'],
  ['gpu-oom@call:2', SCOPED, ',,mapped'],
  ['gpu-small@mb:2', SCOPED, 'GPUOutOfMemoryError,,OperationError'],
  ['gpu-small@mb:4', SCOPED, ',,mapped'],
  ['gpu-oom', UNCAPTURED, 'GPUOutOfMemoryError'],
  ['gpu-map-rejected', SCOPED, ',,OperationError'],
  ['gpu-refused', `return await navigator.gpu.requestAdapter();`, null],
  ['gpu-destroy@submit:4', SUBMITS, 4],
])('GPU: %s', async (plan, task, said) => {
  expect(await inWorker(plan, task, said)).toBe(said);
});

const IDLE = `return new Promise(() => {});`;

test.each([
  ['worker-throw@submit:1', 'Uncaught Error: Injected: the worker throws'],
  ['worker-hang@submit:1', 'dead'],
  ['worker-close@submit:1', 'dead'],
  ['worker-terminate@submit:1', 'dead'],
])('worker: %s', async (plan, said) => {
  expect(await inWorker(plan, `${DEVICE} device.queue.submit([]); ${IDLE}`, said)).toBe(said);
  expect(await happened()).toEqual([plan.replace(/@.*/, '')]);
});

test('a wrong plan is refused on the page, with a list, and the panel has a button for each fault', async () => {
  const errors: string[] = [];
  page.on('console', (message) => errors.push(message.text()));
  await page.goto(`${server.url}bare?faults=gpu-destory`);
  expect(errors.join()).toContain('There is no fault "gpu-destory".');
  await expect.poll(() => page.getByTestId('faults').getByRole('button').count()).toBe(faultNames().length);
  await page.getByTestId('faults').getByRole('button', { name: 'idb-throws' }).click();
  const opened = page.evaluate(() => {
    try {
      return String(indexedDB.open('probe'));
    } catch (error) {
      return (error as Error).name;
    }
  });
  expect(await opened).toBe('SecurityError');
});

test('page: local storage', async () => {
  const read = async (plan: string) => {
    await page.goto(`${server.url}bare?faults=${plan}`);
    return page.evaluate(() => {
      try {
        localStorage.setItem('probe', '1');
        return 'kept';
      } catch (error) {
        return (error as Error).name;
      }
    });
  };
  expect(await read('')).toBe('kept');
  expect(await read('local-storage-absent')).toBe('TypeError');
  expect(await read('local-storage-throws')).toBe('SecurityError');
  expect(await read('local-storage-full')).toBe('QuotaExceededError');
});
