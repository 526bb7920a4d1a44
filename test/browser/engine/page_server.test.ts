// The page with a server: asked for consent, connected, answering, stopped, failing with a remedy; the key is nowhere
// but in its header, unless the reader wants it kept.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ModelServer, modelServer } from '../models/model_server';
import {
  answers,
  begun,
  ended,
  lastAnswer,
  openPanel,
  openSite,
  ready,
  type Site,
  screenshot,
  send,
  stateOf,
  textOf,
  visit,
} from '../site';

const KEY = 'sk-secret-0123456789';
const PROMISE = 'Runs entirely on your device. Nothing you type leaves it.';
const CHAIN = '?model=chain/&backend=cpu';

let site: Site;
let server: ModelServer;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
});
afterAll(() => site?.close());
beforeEach(async () => {
  server = await modelServer();
});
afterEach(() => server.close());

const line = (page: Page) => page.getByTestId('server-line');
const state = (page: Page) => page.getByTestId('server-state').getAttribute('data-state');
const foot = (page: Page) => page.locator('.foot').textContent();
const posts = () => server.asked.filter(({ path }) => path === '/v1/chat/completions');

/** Opens the dialog and types a server. */
async function typeServer(page: Page, address: string, key = ''): Promise<void> {
  if (!(await page.getByTestId('models').isVisible())) await page.locator('#model').click();
  await page.getByTestId('models').waitFor();
  const opener = page.getByTestId('use-server');
  if (await opener.isVisible()) {
    await opener.click();
    await page.locator('[data-testid=server-address]:focus').waitFor(); // the button that had the focus is gone
  }
  await page.getByTestId('server-address').fill(address);
  await page.getByTestId('server-key').fill(key);
}

async function connect(page: Page, address = server.url, key = ''): Promise<void> {
  await typeServer(page, address, key);
  await page.getByTestId('connect').click();
}

/** Connects with consent, and closes the dialog. */
async function connected(page: Page, key = ''): Promise<void> {
  await connect(page, server.url, key);
  await page.getByTestId('consent-allow').click();
  await expect.poll(() => state(page)).toBe('ready');
  await page.getByTestId('close-models').click();
}

/** Everything that the page's browser keeps, as text. */
const keptIn = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const kept: unknown[] = [{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href];
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise<IDBDatabase>((resolve, reject) => {
        const open = indexedDB.open(name ?? '');
        open.onsuccess = () => resolve(open.result);
        open.onerror = () => reject(open.error);
      });
      for (const store of db.objectStoreNames) {
        kept.push(
          await new Promise((resolve, reject) => {
            const all = db.transaction(store).objectStore(store).getAll();
            all.onsuccess = () => resolve(all.result);
            all.onerror = () => reject(all.error);
          }),
        );
      }
      db.close();
    }
    return JSON.stringify(kept);
  });

/** Serious and critical findings of axe, in light and in dark, wide and on a phone. */
async function findings(page: Page): Promise<string[]> {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(axe);
  const found: string[] = [];
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
    );
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    found.push(
      ...grave.map(({ id, nodes }) => `${colorScheme}: ${id} ${nodes.map(({ target }) => target.flat().join(' '))}`),
    );
    await screenshot(
      page,
      `server_${(await page.getByTestId('consent').isVisible()) ? 'asks' : 'here'}_${colorScheme}`,
    );
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}

test('a server of the dialog: consent, an answer, where text goes, and the way back', async () => {
  const { page, errors, strangers } = await visit(site, CHAIN);
  await ready(page);
  expect(strangers).toEqual([]);
  await typeServer(page, server.host, KEY);
  await page.getByTestId('connect').click();
  await page.getByTestId('consent').waitFor();
  expect(await page.getByTestId('consent').textContent()).toContain(server.host);
  await screenshot(page, 'server_consent');
  expect(await findings(page)).toEqual([]);
  expect(server.asked).toEqual([]); // nothing leaves before
  await page.getByTestId('consent-allow').click();
  await expect.poll(() => state(page)).toBe('ready');
  expect(await page.getByTestId('remember-key').isChecked()).toBe(false);
  await screenshot(page, 'server_dialog');
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('close-models').click();
  expect(await line(page).textContent()).toBe(`What you write goes to ${server.host}, which answers.`);
  await expect.poll(() => page.locator('#model-name').textContent()).toBe('far-model');
  await screenshot(page, 'server_first_screen');
  await send(page, 'Hello');
  expect(await ended(page)).toBe('done');
  expect(await textOf(lastAnswer(page))).toContain('Far away answer.');
  expect(posts().map(({ key, referer }) => [key, referer])).toEqual([[KEY, undefined]]);
  expect(await foot(page)).toBe('');
  await openPanel(page);
  await expect.poll(() => page.getByTestId('legend').textContent()).toContain('gap before each token: server');
  await screenshot(page, 'server_panel');
  // Back: the settings take the consent back, and the page's own model answers again.
  await page.getByTestId('settings').click();
  await page.getByTestId('withdraw').click();
  await expect.poll(() => foot(page)).toBe(PROMISE);
  expect(await line(page).count()).toBe(0);
  expect(new URL(page.url()).search).toBe(CHAIN);
  expect(await keptIn(page)).toContain('"vivace-server-consent":"[]"');
  await page.keyboard.press('Escape');
  await send(page, 'ab');
  await expect.poll(() => answers(page).count()).toBe(2);
  await ended(page);
  expect(posts()).toHaveLength(1);
  expect(errors).toEqual([]);
});

test('the key is kept nowhere, unless the reader wants it; the address keeps the server', async () => {
  const { page } = await visit(site, CHAIN);
  server.behavior = { key: KEY, models: ['first', 'second/large'] };
  await ready(page);
  await connected(page, KEY);
  await send(page, 'Hello');
  await ended(page);
  await expect.poll(() => keptIn(page)).toContain('Far away answer.'); // the conversation is stored, and no key
  const query = new URL(page.url()).searchParams;
  expect([query.get('server'), query.get('server-model')]).toEqual([`${server.url}/v1`, null]);
  expect(await keptIn(page)).not.toContain(KEY);
  await openPanel(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('json').click()]);
  const run = await (await download.createReadStream()).toArray();
  expect(String(Buffer.concat(run))).toContain('"backend":"remote"');
  expect(String(Buffer.concat(run))).not.toContain(KEY);
  // Another model of the list, and the key kept.
  await page.locator('#model').click();
  await page.getByTestId('server-model').selectOption('second/large');
  await page.getByTestId('remember-key').check();
  await page.getByTestId('connect').click();
  await expect.poll(() => page.locator('#model-name').textContent()).toBe('second/large');
  expect(await keptIn(page)).toContain(KEY);
  expect(page.url()).not.toContain(KEY);
  expect(new URL(page.url()).searchParams.get('server-model')).toBe('second/large');
  // The next visit connects by its address, with the kept key and the consent of before.
  await page.reload();
  await expect.poll(() => page.locator('#model-name').textContent()).toBe('second/large');
  await send(page, 'Again');
  expect(await ended(page)).toBe('done');
  expect(JSON.parse(posts().at(-1)?.body ?? '{}').model).toBe('second/large');
});

test('a stop ends the answer and the connection; a broken one can be asked again', async () => {
  const { page } = await visit(site, CHAIN);
  await ready(page);
  await connected(page);
  server.behavior = { words: ['One ', 'two'], waitAfter: 1 };
  await send(page, 'Count');
  await begun(page);
  await page.getByTestId('stop').click();
  expect(await ended(page)).toBe('done');
  await expect.poll(() => server.closed).toBe(1);
  server.behavior = { words: ['One ', 'two'], waitAfter: 1, cutAfter: 1 };
  await send(page, 'Count');
  await begun(page);
  server.go();
  await expect.poll(() => stateOf(lastAnswer(page))).toBe('error');
  await screenshot(page, 'server_cut');
  server.behavior = {};
  await page.getByTestId('offer-retry').click();
  expect(await ended(page)).toBe('done');
  expect(await textOf(lastAnswer(page))).toContain('Far away answer.');
});

test('an address that names a server asks before anything is sent; refused, the page answers itself', async () => {
  const { page, errors } = await visit(site, `${CHAIN}&server=${server.url}`);
  await page.getByTestId('consent').waitFor();
  expect(server.asked).toEqual([]);
  await page.getByTestId('consent-refuse').click();
  await ready(page);
  expect(server.asked).toEqual([]);
  expect(new URL(page.url()).search).toBe(CHAIN);
  expect(await foot(page)).toBe(PROMISE);
  expect(errors).toEqual([]);
});

test('a rule in the address that is none is told, and all that may go to the server needs consent', async () => {
  const { page } = await visit(site, `${CHAIN}&server=${server.url}&server-rule=remote-untill-loaded`);
  await page.getByTestId('consent').waitFor();
  const told = 'The address asks for server-rule=remote-untill-loaded; choose remote, remote-until-loaded or longer';
  await page.getByText(told).waitFor();
  expect(server.asked).toEqual([]);
  await page.getByTestId('consent-refuse').click();
  await ready(page);
  expect(server.asked).toEqual([]);
});

test('a server that does not answer is told with a remedy, and the model of the page goes on', async () => {
  const { page } = await visit(site, CHAIN);
  await ready(page);
  const cases: [behavior: ModelServer['behavior'], key: string, remedy: string][] = [
    [{ key: KEY }, '', 'Type the key of the server.'],
    [{ status: 403 }, 'wrong-key', 'Check the key, and what it may do.'],
    [{ status: 200, type: 'text/html', body: '<h1>Hi</h1>' }, '', 'ends with /v1'],
    [{ status: 404 }, '', 'ends with /v1'],
    [{ status: 500 }, '', 'the log of the server says why'],
    [{ status: 429 }, '', 'Wait a moment and try again.'],
    [{ origin: null }, '', 'CORS'],
  ];
  for (const [i, [behavior, key, remedy]] of cases.entries()) {
    server.behavior = behavior;
    await connect(page, server.url, key);
    if (i === 0) await page.getByTestId('consent-allow').click();
    const trouble = () => page.getByTestId('server-trouble').textContent({ timeout: 5_000 });
    await expect.poll(trouble).toContain(remedy);
    expect(await trouble()).toContain(`Not connected to ${server.host}.`); // it may have answered, and wrongly
  }
  expect(await page.getByTestId('server-trouble').textContent()).not.toContain('apiKey');
  await screenshot(page, 'server_trouble');
  expect(await foot(page)).toBe(PROMISE);
  expect(await page.locator('#model-name').textContent()).not.toBe('far-model');
});

test('by keyboard: the focus comes back from the consent, goes to a refused key, and outlasts the connection', async () => {
  const { page } = await visit(site, CHAIN);
  await ready(page);
  server.behavior = { key: KEY };
  const place = () =>
    page.evaluate(() => {
      let found = document.activeElement;
      while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
      return found?.getAttribute('data-testid');
    });
  await typeServer(page, server.url);
  await page.getByTestId('server-address').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => place()).toBe('consent-allow');
  await page.keyboard.press('Escape'); // no
  await expect.poll(() => place()).toBe('server-address');
  await page.keyboard.press('Enter');
  await expect.poll(() => place()).toBe('consent-allow');
  await page.keyboard.press('Enter');
  await page.getByTestId('server-trouble').waitFor();
  await expect.poll(() => place()).toBe('server-key');
  await page.keyboard.type(KEY);
  await page.keyboard.press('Enter');
  await expect.poll(() => state(page)).toBe('ready');
  await expect.poll(() => place()).toBe('server-key');
  await page.getByTestId('disconnect').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => state(page)).toBe('off');
  await expect.poll(() => place()).toBe('server-address');
});

test('a server that is too busy to begin is asked again, by itself and by the reader', async () => {
  const { page } = await visit(site, CHAIN);
  await ready(page);
  await connected(page);
  server.behavior = { status: 429 };
  await send(page, 'Hello');
  await expect.poll(() => stateOf(lastAnswer(page))).toBe('error');
  expect(posts()).toHaveLength(3); // two tries more
  expect(await textOf(lastAnswer(page))).toContain('too busy');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 800 });
  await screenshot(page, 'server_busy');
  server.behavior = {};
  await page.getByTestId('offer-retry').click();
  await expect.poll(() => stateOf(lastAnswer(page))).toBe('done');
});

test('a model of the address that the server does not list: its list is offered', async () => {
  server.behavior = { models: ['first', 'second'] };
  const { page } = await visit(site, `${CHAIN}&server=${server.url}&server-model=gone`, { width: 360, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByTestId('consent-allow').click();
  const trouble = page.getByTestId('server-trouble');
  await expect.poll(() => trouble.textContent()).toContain('Choose one of the models of the server.');
  expect(await trouble.textContent()).toContain('first, second');
  await expect.poll(() => trouble.evaluate((part) => part.getBoundingClientRect().bottom < innerHeight)).toBe(true);
  await screenshot(page, 'server_no_model');
  const names = page.getByTestId('server-model').locator('option');
  expect(await names.allTextContents()).toEqual(['first', 'second']);
  await page.getByTestId('server-model').selectOption('second');
  await page.getByTestId('connect').click();
  await expect.poll(() => state(page)).toBe('ready');
  expect(await page.locator('#model-name').textContent()).toBe('second');
});

test('a page from https: that is given a server at http: says what to do', async () => {
  const context = await site.browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  await page.route('https://vivace.example/**', async (route) => {
    const answer = await fetch(route.request().url().replace('https://vivace.example/', site.url));
    const { status, headers } = answer;
    const body = Buffer.from(await answer.arrayBuffer());
    await route.fulfill({ status, headers: { 'content-type': headers.get('content-type') ?? '' }, body });
  });
  await page.goto(`https://vivace.example/${CHAIN}`);
  await ready(page);
  await connect(page, 'http://203.0.113.7:8080');
  await page.getByTestId('consent-allow').click();
  const trouble = page.getByTestId('server-trouble');
  await expect.poll(() => trouble.textContent()).toContain('Give 203.0.113.7:8080 a certificate');
  await screenshot(page, 'server_mixed');
  await context.close();
});

test('an address that is none, or holds a secret, is not asked', async () => {
  const { page } = await visit(site, CHAIN);
  await ready(page);
  for (const [address, why] of [
    ['', 'Type the address of a server'],
    ['ftp://far', 'Type the address of a server'],
    ['no address at all', 'Type the address of a server'],
    [`http://me:secret@${server.host}`, 'Leave user name, password'],
  ] as const) {
    await connect(page, address);
    expect(await page.getByTestId('server-complaint').textContent()).toContain(why);
  }
  for (const [address, why] of [
    ['ftp://far', 'Type the address of a server'],
    [`http://me:secret@${server.host}`, 'Leave user name, password'],
  ] as const) {
    await page.goto(`${site.url}?model=/page.gguf&server=${encodeURIComponent(address)}`);
    const said = async () => (await page.locator('vivace-notices p').allTextContents()).join();
    await expect.poll(said).toContain(why);
  }
  expect(server.asked).toEqual([]);
  expect(await keptIn(page)).not.toContain('secret@');
});

test('until the model is loaded the server answers; its answer goes on, and a lost one goes on here', async () => {
  const { page } = await visit(site, CHAIN);
  await ready(page);
  await typeServer(page, server.url);
  await page.getByTestId('server-rule').selectOption('remote-until-loaded');
  await page.getByTestId('connect').click();
  await page.getByTestId('consent-allow').click();
  await expect.poll(() => state(page)).toBe('ready');
  await page.getByTestId('close-models').click();
  expect(await line(page).textContent()).toContain('This page answers.');
  const asked = server.asked.length;
  await send(page, 'ab');
  expect(await ended(page)).toBe('done');
  expect(server.asked).toHaveLength(asked);
  // Long conversations go there, and a server that breaks leaves its answer to this page.
  await page.locator('#model').click();
  await page.getByTestId('server-rule').selectOption('longer');
  await page.getByTestId('server-tokens').fill('0');
  await page.getByTestId('connect').click();
  await page.getByTestId('consent-allow').click(); // more goes there than was allowed
  await expect.poll(() => line(page).textContent()).toContain('Conversations of more than 0 tokens');
  await page.getByTestId('close-models').click();
  server.behavior = { words: ['a', 'b', 'c'], waitAfter: 2, cutAfter: 2 };
  await page.getByTestId('new-conversation').click();
  await send(page, 'ab');
  await begun(page); // a browser repeats a request that breaks before its answer
  server.go();
  expect(await ended(page)).toBe('done');
  expect(posts()).toHaveLength(1);
  expect(await textOf(page.getByTestId('remark'))).toContain('The server was lost; this page went on');
  await openPanel(page);
  const legend = page.getByTestId('legend');
  await expect.poll(() => legend.textContent()).toContain('gap before each token: this page');
  expect(await legend.textContent()).toContain('gap before each token: server');
  await screenshot(page, 'server_moved');
});
