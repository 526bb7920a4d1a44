// The page without a network: it opens with its conversations, and an update never mixes files of two builds. Two
// builds are one and the same but for a line of a script, the hashes that follow from it, and the build's name.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';
import { type Handler, type Served, serve } from '../../../tools/lib/serve';
import { installScripted } from '../scripted_engine';
import { ended, send } from '../site';

const SOON = { timeout: 30_000, interval: 50 };
const NOTHING = '?model=/page.gguf';

const built = (file: string) => readFileSync(path.join(DIST, file), 'utf8');
const hashOf = (code: string) => `sha256-${createHash('sha256').update(code).digest('base64')}`;
const answerWith =
  (type: string, text: () => string): Handler =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(text());

let server: Served;
let context: BrowserContext;
let page: Page;
let close: () => Promise<void>;
/** What the server has: the build, the next one, or its page and service worker with the scripts of the first. */
let version: 'first' | 'second' | 'half' = 'first';
let html = '';
let worker = '';
const errors: string[] = [];

/** The second build: another main script under another name. */
function second() {
  const main = /src="\.\/(assets\/index-[^"]+\.js)"/.exec(html)?.[1] ?? '';
  const name = main.replace('.js', '-2.js');
  const script = `${built(main)}\nglobalThis.vivaceSecond = true;`;
  const page = html.replace(main, name).replace(/(name="vivace-build" content=")/, '$1second');
  const code = worker
    .replaceAll(main, name)
    .replace(hashOf(built(main)), hashOf(script))
    .replace(hashOf(html), hashOf(page))
    .replaceAll(/(?<=["'`])[0-9a-f]{16}(?=["'`])/g, 'second$&');
  return { main, name, script, page, code };
}

beforeAll(async () => {
  await ensureBuilt();
  [html, worker] = [built('index.html'), built('service_worker.js')];
  const next = second();
  const isNew = () => version !== 'first';
  const pageAnswer = answerWith('text/html', () => (isNew() ? next.page : html));
  server = await serve({
    mounts: { '/': DIST },
    handlers: {
      '/': pageAnswer,
      '/service_worker.js': answerWith('text/javascript', () => (isNew() ? next.code : worker)),
      [`/${next.name}`]: answerWith('text/javascript', () => (version === 'half' ? built(next.main) : next.script)),
      '/page.gguf': answerWith('text/html', () => '<!doctype html>'),
    },
  });
  const browser = await launchChromium({ webgpu: false });
  close = async () => {
    await browser.close();
    await server.close();
  };
  context = await browser.newContext();
  context.setDefaultTimeout(90_000);
  page = await context.newPage();
  page.on('pageerror', (error) => errors.push(error.message));
});

afterAll(() => close?.());

const failed = (of: Page) => of.locator('[data-testid=load-progress][data-state=error]').waitFor();
const isSecond = (of: Page) => of.evaluate(() => 'vivaceSecond' in globalThis);
const caches = (of: Page) => of.evaluate(() => globalThis.caches.keys());

/** The states of the service workers that are not redundant. A blank page keeps none of them active. */
async function watchWorkers(blank: Page): Promise<() => string[]> {
  const devtools = await context.newCDPSession(blank);
  const states = new Map<string, string>();
  devtools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    for (const { versionId, status } of versions) states.set(versionId, status);
  });
  await devtools.send('ServiceWorker.enable');
  return () => [...states.values()].filter((state) => state !== 'redundant');
}

test('a page that was open once opens without a network, with its conversations and its panel', async () => {
  await page.goto(server.url + NOTHING);
  await failed(page);
  await installScripted(page, { answers: [{ text: 'A kept answer.' }] });
  await send(page, 'Is this kept?');
  expect(await ended(page)).toBe('done');
  await page.evaluate(() => navigator.serviceWorker.ready);

  await context.setOffline(true);
  await page.reload();
  await page.getByTestId('library-row').getByText('Is this kept?').waitFor();
  await page.getByText('A kept answer.').waitFor();
  await page.locator('#timing').click();
  await page.getByTestId('invitation').waitFor(); // a script that comes later, and had not been asked for
  await context.setOffline(false);
  const kept = await page.evaluate(async () => {
    const [name = ''] = await globalThis.caches.keys();
    return (await (await globalThis.caches.open(name)).keys()).map(({ url }) => new URL(url).pathname);
  });
  expect(kept).toContain('/');
  expect(kept.filter((file) => /\/(?:models|lib|embed|bench\.|tools\.)|\.gguf/.test(file))).toEqual([]);
  expect(errors).toEqual([]);
});

test('an update that has not arrived whole is not taken', async () => {
  version = 'half';
  const before = await caches(page);
  const state = await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const found = new Promise<ServiceWorker | null>((resolve) => {
      registration.addEventListener('updatefound', () => resolve(registration.installing), { once: true });
    });
    await registration.update();
    const worker = await found;
    while (worker && worker.state === 'installing') {
      await new Promise((resolve) => worker.addEventListener('statechange', resolve, { once: true }));
    }
    return worker?.state;
  });
  expect(state).toBe('redundant');
  await expect.poll(() => caches(page)).toEqual(before);
});

test('an open page keeps its version and is told of the new one, which the next opening has, offline too', async () => {
  version = 'second';
  await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
  await page.locator('[data-testid=notice][data-code=new-version]').waitFor();
  expect((await caches(page)).length).toBe(2);
  await expect.poll(() => isSecond(page)).toBe(false);

  const other = await context.newPage();
  await other.goto(server.url + NOTHING);
  await failed(other);
  await expect.poll(async () => [await isSecond(other), await isSecond(page)]).toEqual([true, false]);
  const blank = await context.newPage();
  const states = await watchWorkers(blank);
  await page.close();
  await other.close();
  await expect.poll(states, SOON).toEqual(['activated']); // a moment after the last page of the old one closed
  await blank.close();

  page = await context.newPage();
  await page.goto(server.url + NOTHING);
  await expect.poll(async () => (await caches(page)).length, SOON).toBe(1);
  await context.setOffline(true);
  await page.reload();
  await page.getByTestId('library-row').getByText('Is this kept?').waitFor();
  await expect.poll(() => isSecond(page)).toBe(true);
  await context.setOffline(false);
});

test('the manifest names icons that are there', async () => {
  const manifest = JSON.parse(built('vivace.webmanifest')) as { icons: { src: string; sizes: string }[] };
  expect(manifest.icons.map(({ sizes }) => sizes)).toEqual(expect.arrayContaining(['192x192', '512x512']));
  for (const { src, sizes } of manifest.icons) {
    const bytes = readFileSync(path.join(DIST, src));
    if (src.endsWith('.png')) expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
  }
});
