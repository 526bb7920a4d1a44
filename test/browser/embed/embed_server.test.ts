// The script tag and the element with a server of the site: consent within the chat, the answer, where text goes, and a
// key that comes from the site's script alone.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { VivaceHandle } from '../../../src/embed/tag/embed';
import { type ModelServer, modelServer } from '../models/model_server';
import { ended, lastAnswer, ready, screenshot, send, sendAndStop, textOf } from '../site';
import { type Hosts, openHosts, visitHost } from './host_site';

const KEY = 'sk-secret-0123456789';

let hosts: Hosts;
let server: ModelServer;

beforeAll(async () => {
  hosts = await openHosts();
});
afterAll(() => hosts?.close());
beforeEach(async () => {
  server = await modelServer();
});
afterEach(() => server.close());

const visit = (attributes: string, more = '') =>
  visitHost(hosts, { body: `<script src="${hosts.cdn}embed.js" data-title="Help" ${attributes}></script>${more}` });
const line = (page: Page) => page.getByTestId('server-line');
const posts = () => server.asked.filter(({ path }) => path === '/v1/chat/completions');

test('a tag with a server loads no model, asks for consent, and answers with the key of the script', async () => {
  const give = `<script>Vivace.useServerKey(async () => '${KEY}')</script>`;
  const { page, requests } = await visit(
    `data-server="${server.url}" data-server-model="far-model" data-remember`,
    give,
  );
  server.behavior = { key: KEY };
  await page.getByTestId('launcher').click();
  const consent = page.getByTestId('consent');
  await consent.waitFor();
  expect(await consent.textContent()).toContain(server.host);
  expect(await page.getByTestId('load-progress').count()).toBe(0); // nothing loads
  await screenshot(page, 'embed_server_consent');
  expect(server.asked).toEqual([]);
  await page.getByTestId('consent-refuse').click();
  expect(await textOf(page.getByTestId('consent-refused'))).toContain(
    `Nothing is sent to ${server.host}, so nothing answers here.`,
  );
  expect(server.asked).toEqual([]);
  await page.getByTestId('consent-again').click();
  await page.getByTestId('consent-allow').click();
  await expect.poll(() => line(page).textContent()).toBe(`What you write goes to ${server.host}, which answers.`);
  expect(await textOf(page.locator('.empty'))).toBe('Help'); // no word of stories, and none of a device that nothing leaves
  expect(await page.getByTestId('prompt').getAttribute('placeholder')).toBe('Ask anything…');
  await send(page, 'Hello');
  expect(await ended(page)).toBe('done');
  expect(await textOf(lastAnswer(page))).toContain('Far away answer.');
  await screenshot(page, 'embed_server');
  expect(posts().map(({ key, referer }) => [key, referer])).toEqual([[KEY, undefined]]);
  expect(requests.filter((address) => /\.gguf|worker/.test(address))).toEqual([]);
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  expect([stored.includes(server.host), stored.includes(KEY)]).toEqual([true, false]); // the consent, by data-remember
  // The settings take the consent back, and the chat asks anew.
  await page.getByTestId('settings').click();
  await page.getByTestId('withdraw').click();
  await consent.waitFor();
  expect(await line(page).count()).toBe(0);
  const text = await page.evaluate(() => (globalThis as unknown as { Vivace: VivaceHandle }).Vivace.destroy());
  expect(text).toBeUndefined();
});

test('a server that fails is told, and asked again; an attribute gives no key', async () => {
  const { page, said } = await visit(`data-server="${server.url}" data-server-key="${KEY}" data-settings="all"`);
  server.behavior = { status: 500 };
  await page.getByTestId('launcher').click();
  await page.getByTestId('consent-allow').click();
  await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  const trouble = page.getByTestId('load-progress');
  expect(await trouble.textContent()).toContain('the log of the server says why');
  expect(await trouble.textContent()).toContain('The chat isn’t available right now.');
  expect(await page.getByTestId('consent-refused').count()).toBe(0);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 700 });
  await screenshot(page, 'embed_server_failed');
  server.behavior = {};
  await page.getByTestId('load-retry').click();
  await line(page).waitFor();
  expect(server.asked.map(({ key }) => key)).toEqual([undefined, undefined]);
  expect(said.join()).toContain('data-server-key is left out');
  expect(said.join()).not.toContain(KEY);
});

test('an element with a server, and its property for the key', async () => {
  const element = `<vivace-chat server="${server.url}" style="height:500px"></vivace-chat>
    <script>document.querySelector('vivace-chat').serverKey = () => '${KEY}'</script>`;
  const { page } = await visit('data-position="none"', element);
  await page.getByTestId('prompt').click();
  await page.getByTestId('consent-allow').click();
  await line(page).waitFor();
  await send(page, 'Hello');
  expect(await ended(page)).toBe('done');
  expect(await textOf(lastAnswer(page))).toContain('Far away answer.');
  expect(posts().map(({ key }) => key)).toEqual([KEY]);
  await screenshot(page, 'element_server');
});

test('until the model is loaded the server answers, then this page; a long conversation goes to the server', async () => {
  const { page } = await visit(`data-server="${server.url}" data-server-rule="remote-until-loaded"`);
  let bring = () => {};
  const comes = new Promise<void>((resolve) => {
    bring = resolve;
  });
  await page.route('**/*.gguf', async (route) => {
    await comes;
    await route.continue();
  });
  await page.getByTestId('launcher').click();
  await page.getByTestId('consent-allow').click();
  await expect.poll(() => line(page).textContent()).toContain('answers until the model is loaded');
  await send(page, 'Hello');
  expect(await ended(page)).toBe('done');
  expect(await textOf(lastAnswer(page))).toContain('Far away answer.');
  bring();
  await expect.poll(() => line(page).textContent(), { timeout: 90_000 }).toContain('This page answers.');
  expect(await sendAndStop(page, 'Tell me a story')).toBe('done');
  expect(posts()).toHaveLength(1);
  const { page: other } = await visit(`data-server="${server.url}" data-server-rule="longer-than-3"`);
  await other.getByTestId('launcher').click();
  await other.getByTestId('consent-allow').click();
  await expect.poll(() => line(other).textContent()).toContain('Conversations of more than 3 tokens');
  await ready(other); // the model counts the tokens
  await send(other, 'Tell me a story');
  expect(await ended(other)).toBe('done');
  expect(posts()).toHaveLength(2);
});
