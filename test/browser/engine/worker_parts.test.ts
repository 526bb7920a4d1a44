// The worker in parts, of the page, of the package and of the script tag: a first answer fetches the core and the parts
// that it needs, a page whose policy forbids imports has an answer all the same, and a part that cannot be had is an
// error that says what to do.

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';
import type { Handler } from '../../../tools/lib/serve';
import { ended, lastAnswer, openSite, progress, ready, type Site, send, setting, textOf } from '../site';

/** The parts of a first answer on the CPU: one, and two that it shares with others. */
const PARTS = ['part_load_on_cpu', 'part_dequantize', 'part_embedding', 'part_token_bytes'];
/** The part that a load asks for at its end, for a second conversation. */
const LAST = 'part_branches';

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

/** A program that answers once through the package's entry, and says what came of it in the title. */
const CLIENT = `import { Engine } from './lib/vivace.js';
const engine = await Engine.load('models/storyteller/storyteller-q8_0.gguf').catch((error) => error);
if (engine instanceof Error) document.title = engine.message;
else for await (const event of engine.complete('One day', { maxTokens: 3 })) if (event.type === 'done') document.title = event.type;
`;

/** A page with a program of its own, under a policy if one is named. */
function clientPage(policy: string): Handler {
  const headers = { 'content-type': 'text/html', ...(policy && { 'content-security-policy': policy }) };
  return (_request, response) =>
    void response.writeHead(200, headers).end('<script type="module" src="client.js"></script>');
}

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
  const below = (folder: string) => readdirSync(path.join(DIST, folder)).map((file) => `${folder}/${file}`);
  const parts = [...below('assets'), ...below('lib')].filter((file) => /\/(vivace_worker_)?part_/.test(file));
  const files = ['vivace_worker.js', ...parts];
  site = await openSite({
    webgpu: false,
    handlers: {
      '/strict.html': strict,
      '/client.html': clientPage(''),
      '/strict_client.html': clientPage("default-src 'self'; worker-src blob:"),
      '/client.js': (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/javascript' }).end(CLIENT),
      ...Object.fromEntries(files.map(losable)),
    },
  });
});

afterAll(() => site?.close());

/** Opens the page, and notes the files of the worker that it asks for. */
async function open(address = '') {
  const context = await site.browser.newContext({ serviceWorkers: 'block' }); // a service worker fetches all parts
  const page = await context.newPage();
  const files: string[] = [];
  context.on('request', (request) => {
    const file = /\/(?:vivace_worker_)?(part_\w+|core|vivace_worker)\b/.exec(request.url())?.[1];
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

test('a first answer fetches the core and the parts that it needs', async () => {
  lost = null;
  const opened = await open();
  expect(await answer(opened)).not.toBe('');
  await expect.poll(() => opened.files).toEqual([...PARTS, LAST]);
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
  lost = /part_load_on_cpu|vivace_worker/;
  const opened = await open();
  const { page, files } = opened;
  await progress(page).and(page.locator('[data-state=error]')).waitFor();
  await expect
    .poll(() => textOf(progress(page)))
    .toMatch(/part of the engine could not be loaded.*try again.*reload the page/is);
  lost = null;
  await page.getByRole('button', { name: 'Try again' }).click();
  expect(await answer(opened)).not.toBe('');
  await expect.poll(() => files).toEqual(['part_load_on_cpu', 'vivace_worker', ...PARTS, LAST]);
  await page.context().close();
});

test('without the part that no first answer waits for, all answers are as ever, and ask for it again', async () => {
  lost = /part_branches/;
  const opened = await open();
  const { page, files } = opened;
  await ready(page);
  await setting(page, 'temperature', '0');
  const first = await answer(opened);
  await expect.poll(() => files.filter((file) => file === LAST).length).toBe(2); // with the load, and behind the answer
  for (const chat of ['the same', 'another']) {
    if (chat === 'another') await page.getByRole('button', { name: 'New conversation' }).first().click();
    await send(page, 'Tell me a story');
    expect(await ended(page)).toBe('done');
  }
  expect(await textOf(lastAnswer(page).locator('.text'))).toBe(first);
  const tries = files.filter((file) => file === LAST).length;
  expect(tries).toBeGreaterThan(2);
  lost = null;
  await send(page, 'And then?');
  expect(await ended(page)).toBe('done');
  await page.context().close();
});

test('a message with a control token has no answer without the part for it, and fetches it again', async () => {
  lost = /part_provenance|vivace_worker/;
  const opened = await open();
  const { page, files } = opened;
  expect(await answer(opened)).not.toBe('');
  await send(page, 'Say <|im_end|> to me');
  expect(await ended(page)).toBe('error');
  expect(await textOf(lastAnswer(page))).toMatch(/part of the engine could not be loaded/);
  lost = null;
  await send(page, 'Say <|im_end|> to me');
  expect(await ended(page)).toBe('done');
  const asked = files.filter((file) => file !== LAST);
  expect(asked).toEqual([...PARTS, 'part_provenance', 'vivace_worker', 'part_provenance']);
  await page.context().close();
});

describe('the package', () => {
  /** Opens a page of the client. Returns what came of its answer, and the files. */
  async function ask(address: string) {
    lost = null;
    const { page, files } = await open(address);
    await page.waitForFunction(() => document.title !== '', null, { timeout: 90_000 });
    const outcome = await page.title();
    await page.context().close();
    return { outcome, files };
  }

  test('a first answer imports the core and the parts that it needs', async () => {
    const { outcome, files } = await ask('client.html');
    expect([outcome, ...files.filter((file) => file !== LAST)]).toEqual(['done', 'core', ...PARTS]);
  });

  test('where the policy forbids the worker to import, it begins again with all parts', async () => {
    const { outcome, files } = await ask('strict_client.html');
    expect(outcome).toBe('done');
    const all = readdirSync(path.join(DIST, 'lib')).filter((file) => file.startsWith('vivace_worker_'));
    expect(new Set(files).size).toBe(all.length);
  });
});
