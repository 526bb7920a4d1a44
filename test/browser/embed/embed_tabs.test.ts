// Tags and elements that share one engine with the other tabs of their site.

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VivaceHandle } from '../../../src/embed/tag/embed';
import { holdAnswers } from '../hold_answers';
import { begun, ended, ready, screenshot, send, sendAndStop } from '../site';
import { type Hosts, openHosts, visitHost } from './host_site';

/** An answer as a page heard it. */
interface Heard {
  text: string;
  tokens: number;
  interruptions: number;
  end: string;
}

interface TabWindow {
  Vivace: VivaceHandle;
  heard: Heard;
}

let hosts: Hosts;
beforeAll(async () => {
  hosts = await openHosts();
});
afterAll(() => hosts?.close());

const tag = (attributes: string) => `<script src="${hosts.cdn}embed.js" data-title="Help" ${attributes}></script>`;
const element = () =>
  `<vivace-chat share model="${hosts.cdn}models/storyteller/storyteller-q8_0.gguf" style="height:500px"></vivace-chat>`;

async function nextTab(context: BrowserContext, body: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(hosts.put({ body }));
  return page;
}

/** Asks through the handle. `heard` of the page has what has come. */
const begin = (page: Page, seed: number) =>
  page.evaluate(async (seed) => {
    const scope = globalThis as unknown as TabWindow;
    const heard: Heard = { text: '', tokens: 0, interruptions: 0, end: '' };
    scope.heard = heard;
    const events = scope.Vivace.chat('Tell me a story about a fox', { seed, maxTokens: 24 });
    void (async () => {
      for await (const event of events) {
        if (event.type === 'token' || event.type === 'done') heard.text += event.text;
        if (event.type === 'token') heard.tokens++;
        if (event.type === 'interrupted') heard.interruptions++;
        if (event.type === 'done') heard.end = event.finishReason;
      }
    })().catch((error) => {
      heard.end = String(error);
    });
  }, seed);
const heard = (page: Page) => page.evaluate(() => (globalThis as unknown as TabWindow).heard);
async function finished(page: Page): Promise<Heard> {
  await expect.poll(async () => (await heard(page)).end, { timeout: 90_000 }).not.toBe('');
  return heard(page);
}

const workers = (pages: readonly Page[]) => pages.map((page) => page.workers().length);

test('a tag and an element in two tabs have one worker; the leading tab is closed in mid-answer, and the other goes on', async () => {
  const { page: first, requests, said } = await visitHost(hosts, { body: tag('data-share') });
  expect(requests.filter((address) => address.includes('embed_tabs'))).toEqual([]); // not before the window opens
  await first.getByTestId('launcher').click();
  await ready(first);
  const context = first.context();
  const second = await nextTab(context, element() + tag('data-share data-position="none"'));
  await second.getByTestId('prompt').click();
  await ready(second);
  await expect.poll(() => workers([first, second])).toEqual([1, 0]);
  // Both answer, in turns.
  const pages = [first, second];
  for (const page of pages) await send(page, 'A hen');
  for (const page of pages) await begun(page);
  for (const page of pages) await page.getByTestId('stop').click();
  expect([await ended(first), await ended(second)]).toEqual(['done', 'done']);
  await screenshot(second, 'embed_tabs_second');
  await begin(first, 3);
  await begin(second, 4);
  const [other, calm] = [await finished(first), await finished(second)];
  expect([other.interruptions, calm.interruptions, other.text === calm.text]).toEqual([0, 0, false]);
  // The leading tab is closed while both run.
  await holdAnswers(first, 8);
  await begin(first, 3);
  await begin(second, 4);
  await expect.poll(async () => (await heard(second)).tokens, { timeout: 90_000, interval: 10 }).toBeGreaterThan(2);
  await first.close();
  const hurt = await finished(second);
  expect(hurt).toEqual({ ...calm, interruptions: 1 });
  await expect.poll(() => workers([second])).toEqual([1]);
  expect(await sendAndStop(second, 'Another hen')).toBe('done');
  await screenshot(second, 'embed_tabs_went_on');
  expect(said).toEqual([]);
  await context.close();
});

test('a tag that does not share, and one whose part does not come, have workers of their own', async () => {
  const { page: first, requests } = await visitHost(hosts, { body: tag('data-share') });
  const context = first.context();
  const second = await nextTab(context, tag(''));
  await context.route('**/embed_tabs.js', (route) => route.abort());
  const third = await nextTab(context, tag('data-share'));
  const pages = [first, second, third];
  for (const page of pages) {
    await page.getByTestId('launcher').click();
    await ready(page);
  }
  await expect.poll(() => workers(pages)).toEqual([1, 1, 1]);
  expect(requests.filter((address) => address.includes('embed_tabs')).length).toBe(2);
  await context.close();
});
