// The page in several tabs: one engine, which goes on in another tab, and what a tab does on its own.

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { says } from '../../chain/chain_model';
import { holdAnswers } from '../hold_answers';
import {
  answers,
  begun,
  chainHandlers,
  ended,
  lastAnswer,
  openSite,
  ready,
  type Site,
  screenshot,
  send,
  textOf,
  visit,
} from '../site';

const CHAIN = '?model=chain/&backend=cpu&context=1024';

let site: Site;
let context: BrowserContext;
let first: Page;
let second: Page;

beforeAll(async () => {
  const other = Object.entries(chainHandlers()).map(([path, handler]) => [path.replace('chain', 'other'), handler]);
  site = await openSite({ webgpu: false, handlers: Object.fromEntries(other) });
  const visited = await visit(site, CHAIN);
  first = visited.page;
  context = first.context();
});
afterAll(() => site?.close());

async function tab(address = CHAIN): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.url + address);
  await ready(page);
  return page;
}

const workers = (...pages: Page[]) => pages.map((page) => page.workers().length);
const named = (page: Page) => textOf(page.locator('#model-name'));

async function answersHello(page: Page): Promise<void> {
  const count = await answers(page).count();
  await send(page, 'Hi');
  await expect.poll(() => answers(page).count()).toBe(count + 1);
  expect(await ended(page)).toBe('done');
  expect(await textOf(lastAnswer(page))).toContain(says('hello'));
}

async function loadAddress(page: Page, address: string): Promise<void> {
  await page.locator('#model').click();
  await page.getByTestId('models').waitFor();
  await page.getByTestId('model-address').fill(address);
  await page.keyboard.press('Enter');
}

test('the second tab is ready without a worker of its own; one with share=off has its own', async () => {
  await ready(first);
  second = await tab();
  await expect.poll(() => workers(first, second)).toEqual([1, 0]);
  await answersHello(first);
  await answersHello(second);
  const alone = await tab(`${CHAIN}&share=off`);
  await expect.poll(() => workers(first, second, alone)).toEqual([1, 0, 1]);
  await answersHello(alone);
  await alone.close();
});

test('another model in the second tab is an engine of its own; with the first model it follows again', async () => {
  await loadAddress(second, `${site.url}other/`);
  await expect.poll(() => named(second)).toBe('other');
  await ready(second);
  await expect.poll(() => workers(first, second)).toEqual([1, 1]);
  await answersHello(second);
  await answersHello(first);
  // A model that is none leaves the tab where it was.
  await loadAddress(second, `${site.url}page.gguf`);
  await second.getByTestId('load-keep').click();
  await answersHello(second);
  await loadAddress(second, `${site.url}chain/`);
  await expect.poll(() => named(second)).toBe('chain');
  await ready(second);
  await expect.poll(() => workers(first, second)).toEqual([1, 0]);
  await answersHello(second);
});

test('the first tab goes elsewhere and comes back: the second one has the model meanwhile, and keeps it', async () => {
  await first.goto(`${site.url}favicon.svg`);
  await expect.poll(() => workers(first, second)).toEqual([0, 1]);
  await answersHello(second);
  await first.goBack();
  await ready(first);
  await expect.poll(() => workers(first, second)).toEqual([0, 1]);
  await answersHello(first);
});

test('the leading tab is closed in mid-answer: the other one goes on, and says so', async () => {
  await first.getByTestId('new-conversation').click();
  await holdAnswers(second, 20); // the leading tab
  await send(first, 'An endless answer');
  await begun(first);
  await second.close();
  expect(await ended(first)).toBe('done'); // at the end of the model's context
  await expect.poll(() => workers(first)).toEqual([1]);
  expect(await textOf(first.getByTestId('remark'))).toContain('The tab that ran the model is gone');
  await screenshot(first, 'page_tabs_went_on');
  const text = await textOf(first.locator('vivace-turn .text').last());
  expect(says('endless').repeat(300).startsWith(text)).toBe(true);
  expect(text.split(' ').length).toBeGreaterThan(400);
});
