// The interface in other languages: by the browser's language, by the page's address, and by the attribute of the tag.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { chat as german } from '../../../src/words/de/chat';
import { page as germanPage } from '../../../src/words/de/page';
import { panel as germanPanel } from '../../../src/words/de/panel';
import { page as japanesePage } from '../../../src/words/ja/page';
import { type Hosts, openHosts, visitHost } from '../embed/host_site';
import { openSite, type Site } from '../site';

const SOON = { timeout: 90_000, interval: 20 };

let site: Site;
let hosts: Hosts;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  hosts = await openHosts();
});

afterAll(async () => {
  await site?.close();
  await hosts?.close();
});

/** Opens the page in a browser of this language. */
async function open(locale: string, address = '') {
  const context = await site.browser.newContext({ locale });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${site.url}?model=/page.gguf${address}`);
  await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  return { page, errors };
}

test('a German browser has a German page', async () => {
  const { page, errors } = await open('de-AT');
  await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('de');
  await expect.poll(() => page.getByTestId('library-new').textContent()).toContain(germanPage.library.fresh);
  await expect.poll(() => page.locator('#theme').getAttribute('aria-label')).toBe(germanPage.theme.auto);
  expect(errors.filter((error) => !/Failed to load resource/.test(error))).toEqual([]);
  await page.context().close();
});

test('the address chooses another language', async () => {
  const { page } = await open('de', '&lang=ja');
  await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('ja');
  await expect.poll(() => page.getByTestId('library-new').textContent()).toContain(japanesePage.library.fresh);
  await page.context().close();
});

test('an English page fetches no texts', async () => {
  const { page } = await open('en-GB');
  await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('en');
  const scripts = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(scripts.filter((name) => /\/(?:de|ja)-[^/]*\.js$/.test(name))).toEqual([]);
  await page.context().close();
});

test('a tag speaks the language that it asks for once it is opened, and its panel, too', async () => {
  const csp = `default-src 'none'; script-src ${hosts.cdn} 'nonce-a'; connect-src ${hosts.cdn}; worker-src blob:; style-src 'nonce-a'; img-src data:; require-trusted-types-for 'script'`;
  const tag = `<script nonce="a" src="${hosts.cdn}embed.js" data-lang="de" data-title="Laden" data-panel data-model="${hosts.cdn}none.gguf"></script>`;
  const { page, requests, said } = await visitHost(hosts, { body: tag, csp });
  const launcher = page.getByTestId('launcher');
  await expect.poll(() => launcher.getAttribute('aria-label')).toBe('Laden öffnen');
  expect(requests.filter((address) => address.includes('embed_'))).toEqual([]);
  await launcher.click();
  await expect.poll(() => page.getByTestId('close').getAttribute('aria-label'), SOON).toBe(german.embed.close);
  await expect.poll(() => page.getByTestId('vivace-embed').getAttribute('lang')).toBe('de');
  await page.getByTestId('panel-button').click();
  const { title, invitation } = germanPanel.toolbar;
  await expect.poll(() => page.getByTestId('metrics').locator('h2').first().textContent(), SOON).toBe(title);
  await expect.poll(() => page.getByTestId('invitation').textContent(), SOON).toBe(invitation);
  expect(said.filter((text) => /Refused|violates|exception|texts of the language/.test(text))).toEqual([]);
  await page.context().close();
});
