// The script tag and the element in the clothes of their host: variables, texts, what a visitor may change, and a size
// that a page need not give.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hosts, openHosts, visitHost } from './host_site';

let hosts: Hosts;
let page: Page;

const tag = (attributes: string) => `<script src="${hosts.cdn}embed.js" ${attributes}></script>`;
const NO_MODEL = 'data-model="/none/model.gguf"';

beforeAll(async () => {
  hosts = await openHosts();
  const style =
    '<style>:root { --vivace-accent: rgb(1, 2, 3); --vivace-font: serif; --v-accent: red; --v-ink: red }</style>';
  const attributes = `${NO_MODEL} data-open data-placeholder="Ask the shop" data-footer="<b>May be wrong</b>" data-icon="/icon.png"`;
  ({ page } = await visitHost(hosts, { head: style, body: tag(attributes) }));
  await page.getByTestId('window').waitFor();
});

afterAll(() => hosts?.close());

const style = (id: string, name: string) =>
  page.getByTestId(id).evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), name);

test('wears the accent and the font of the page, and no other variable', async () => {
  expect(await style('launcher', 'background-color')).toBe('rgb(1, 2, 3)');
  expect(await style('window', 'font-family')).toBe('serif');
  expect(await style('window', 'color')).not.toBe('rgb(255, 0, 0)');
});

test('shows the texts of the tag as text', async () => {
  await expect.poll(() => page.getByTestId('prompt').getAttribute('placeholder')).toBe('Ask the shop');
  await expect.poll(() => page.getByTestId('footer').textContent()).toBe('<b>May be wrong</b>');
});

test('lets a visitor change how answers are sampled, and names no kernel', async () => {
  await page.getByTestId('settings').click();
  await expect.poll(() => page.locator('#panel').innerText()).toContain('Temperature');
  await expect.poll(() => page.locator('#panel').innerText()).not.toMatch(/Attention|Model/);
  await expect.poll(() => page.getByTestId('system').count()).toBe(0);
  const [inner, outer] = [await page.locator('#panel').boundingBox(), await page.getByTestId('window').boundingBox()];
  expect(inner!.x).toBeGreaterThan(outer!.x);
  expect(inner!.x + inner!.width).toBeLessThan(outer!.x + outer!.width);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('#panel').isVisible()).toBe(false);
  await expect.poll(() => page.getByTestId('window').isVisible()).toBe(true);
  await page.getByTestId('close').click();
  await expect
    .poll(() => page.locator('.launcher img').getAttribute('src'))
    .toBe(`${new URL(page.url()).origin}/icon.png`);
});

test('settings can be off, and an element without a height has a good one', async () => {
  const element = '<vivace-chat model="/none/model.gguf" placeholder="Go" settings="off"></vivace-chat>';
  const tall = '<vivace-chat class="tall" style="height: 300px" model="/none/model.gguf"></vivace-chat>';
  const visited = await visitHost(hosts, { body: element + tall + tag(`${NO_MODEL} data-open data-settings="off"`) });
  const chats = visited.page.locator('body > vivace-chat');
  await expect.poll(() => chats.first().getByTestId('prompt').getAttribute('placeholder')).toBe('Go');
  await expect.poll(() => visited.page.getByTestId('settings').count()).toBe(1); // of the second element alone
  const heights = await chats.evaluateAll((all) => all.map((chat) => chat.getBoundingClientRect().height));
  expect(heights).toEqual([600, 300]);
  await visited.page.context().close();
});

test('an element that names no model says so to its page, and the window of the tag does not', async () => {
  const chat = '<vivace-chat></vivace-chat>';
  const { page: bare, said } = await visitHost(hosts, { body: chat + tag(`${NO_MODEL} data-open`) });
  await expect.poll(() => said.filter((text) => text.includes('answers nothing'))).toHaveLength(1);
  await bare.context().close();
});
