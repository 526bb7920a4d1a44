// The worker of the page in parts: a first answer fetches the core and the one part that it needs, a page whose policy
// forbids imports has an answer all the same, and a part that cannot be had is an error that says what to do.

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DIST, ensureBuilt } from '../../tools/lib/dist';
import type { Handler } from '../../tools/lib/serve';
import { ended, lastAnswer, openSite, progress, ready, type Site, send, setting, textOf } from './site';

let site: Site;
/** What the server has no more, by name. */
let lost: RegExp | null = null;

/** The page by a server that allows every script of the page by its address, but for the parts of the worker. */
const strict: Handler = async (request, response) => {
  const scripts = readdirSync(path.join(DIST, 'assets')).filter((file) => !file.startsWith('part_'));
  const sources = scripts.map((file) => `http://${request.headers.host}/assets/${file}`);
  const policy = `script-src ${sources.join(' ')}; worker-src blob:`;
  response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy });
  response.end(await readFile(path.join(DIST, 'index.html')));
};

/** Serves files of the worker unless they are lost. */
function losable(file: string): [string, Handler] {
  const answer: Handler = async (_request, response) => {
    const isLost = lost?.test(file);
    response.writeHead(isLost ? 404 : 200, { 'content-type': 'text/javascript', 'cache-control': 'no-store' });
    response.end(isLost ? '' : await readFile(path.join(DIST, file)));
  };
  return [`/${file}`, answer];
}

beforeAll(async () => {
  await ensureBuilt();
  const parts = readdirSync(path.join(DIST, 'assets')).filter((file) => file.startsWith('part_'));
  const files = ['vivace_worker.js', ...parts.map((file) => `assets/${file}`)];
  site = await openSite({
    webgpu: false,
    handlers: { '/strict.html': strict, ...Object.fromEntries(files.map(losable)) },
  });
});

afterAll(() => site?.close());

/** Opens the page, and notes the files of the worker that it asks for. */
async function open(address = '') {
  const context = await site.browser.newContext({ serviceWorkers: 'block' }); // a service worker fetches all parts
  const page = await context.newPage();
  const files: string[] = [];
  context.on('request', (request) => {
    const file = /\/(part_\w+|vivace_worker)\b/.exec(request.url())?.[1];
    if (file) files.push(file);
  });
  await page.goto(site.url + address);
  return { page, files };
}

async function answer({ page }: Awaited<ReturnType<typeof open>>): Promise<string> {
  await ready(page);
  await setting(page, 'maxTokens', '3');
  await send(page, 'Tell me a story');
  expect(await ended(page)).toBe('done');
  return textOf(lastAnswer(page).locator('.text'));
}

test('a first answer fetches the core and the part that it needs', async () => {
  lost = null;
  const opened = await open();
  expect(await answer(opened)).not.toBe('');
  expect(opened.files).toEqual(['part_cpu_backend']);
  await opened.page.context().close();
});

test('where the policy forbids an import, the worker comes whole', async () => {
  lost = null;
  const opened = await open('strict.html');
  expect(await answer(opened)).not.toBe('');
  expect(opened.files.at(-1)).toBe('vivace_worker');
  await opened.page.context().close();
});

test('a part that cannot be had is an error with a remedy, and comes with the next try', async () => {
  lost = /part_cpu_backend|vivace_worker/;
  const opened = await open();
  const { page, files } = opened;
  await progress(page).and(page.locator('[data-state=error]')).waitFor();
  await expect
    .poll(() => textOf(progress(page)))
    .toMatch(/part of the engine could not be loaded.*try again.*reload the page/is);
  lost = null;
  await page.getByRole('button', { name: 'Try again' }).click();
  expect(await answer(opened)).not.toBe('');
  expect(files).toEqual(['part_cpu_backend', 'vivace_worker', 'part_cpu_backend']);
  await page.context().close();
});
