// One engine for all tabs of an origin, in a real browser. `npm run tabs-search` closes and crashes many more.

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { begin, crash, ended, leads, ready, TabSite, tokens } from '../../../tools/checks/tabs_site';
import { holdAnswers } from '../hold_answers';

let site: TabSite;
let context: BrowserContext;
let tabs: Page[];
beforeAll(async () => {
  site = await TabSite.open();
  context = await site.browser.newContext();
  tabs = [];
  for (let i = 0; i < 4; i++) {
    tabs.push(await site.tab(context));
    await ready(tabs[i]);
  }
});
afterAll(() => site?.close());

const question = (seed: number) => ({ prompt: 'endless', seed, maxTokens: 400 });

async function leader(): Promise<Page> {
  const leading: Page[] = [];
  for (const tab of tabs) if (await leads(tab)) leading.push(tab);
  expect(leading).toHaveLength(1);
  return leading[0];
}

const others = (page: Page) => tabs.filter((tab) => tab !== page);

test('four tabs have one worker, and answer in turns with the texts of the tab that leads', async () => {
  const leading = await leader();
  await expect.poll(() => tabs.map((tab) => tab.workers().length)).toEqual([1, 0, 0, 0]);
  for (const [i, tab] of tabs.entries()) await begin(tab, 'together', question(i));
  const together = await Promise.all(tabs.map((tab) => ended(tab, 'together')));
  for (const i of tabs.keys()) {
    await begin(leading, `alone ${i}`, question(i));
    const alone = await ended(leading, `alone ${i}`);
    expect(together[i]).toMatchObject({ text: alone.text, ids: alone.ids, end: alone.end, done: 1, interruptions: 0 });
  }
  expect(new Set(together.map(({ text }) => text)).size).toBe(4);
});

test('a stop in one tab leaves the answers of the others', async () => {
  const [first, second] = others(await leader());
  const long = { ...question(7), maxTokens: 8_000 };
  for (const tab of [first, second]) await begin(tab, 'stopped', long);
  await tokens(first, 'stopped', 3);
  await first.evaluate("stop('stopped')");
  const stopped = await ended(first, 'stopped');
  await tokens(second, 'stopped', stopped.ids.length + 20);
  await second.evaluate("stop('stopped')");
  const later = await ended(second, 'stopped');
  expect([stopped.end, later.end]).toEqual(['abort', 'abort']);
  expect(later.ids.length).toBeGreaterThan(stopped.ids.length);
  expect(later.ids.slice(0, stopped.ids.length)).toEqual(stopped.ids);
});

test('a page of another origin hears nothing of the tabs, and reaches none', async () => {
  const leading = await leader();
  const name = await leading.evaluate(async () =>
    (await navigator.locks.query()).held?.[0]?.name?.replace(/ tab .*/, ''),
  );
  const listen = ({ name }: { name: string }) => {
    const channel = new BroadcastChannel(name);
    const received: unknown[] = [];
    channel.onmessage = ({ data }) => received.push(data);
    Object.assign(window, { channel, received });
  };
  const hello = (from: string) =>
    (window as unknown as { channel: BroadcastChannel }).channel.postMessage({ type: 'hello', from });
  const stranger = await context.newPage();
  await stranger.goto(site.url.replace('localhost', '127.0.0.1').replace(/\/$/, '/tab.js'));
  expect(new URL(stranger.url()).origin).not.toBe(new URL(leading.url()).origin);
  const [member] = others(leading);
  for (const page of [stranger, member]) await page.evaluate(listen, { name: name ?? '' });
  await stranger.evaluate(hello, 'e'.repeat(32));
  await member.evaluate(hello, 'f'.repeat(32));
  await member.waitForFunction("received.some(({ type }) => type === 'state')");
  const hellos = (await member.evaluate('received')) as { from?: string }[];
  expect(hellos.some(({ from }) => from === 'e'.repeat(32))).toBe(false);
  expect(await stranger.evaluate('received')).toEqual([]);
  await stranger.close();
});

/** Takes the lock of the lead away, as any script of the origin can, and lets it go. */
const rob = (page: Page) =>
  page.evaluate(async () => {
    const { held = [] } = await navigator.locks.query();
    const name = held.map((lock) => lock.name ?? '').find((name) => !/ tab /.test(name));
    await navigator.locks.request(name ?? '', { steal: true }, () => {});
  });
const turn = (page: Page, type: 'pagehide' | 'pageshow') =>
  page.evaluate((type) => {
    dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
  }, type);

test.each([
  ['is robbed of the lead', rob, async () => {}],
  ['goes into the history', (page: Page) => turn(page, 'pagehide'), (page: Page) => turn(page, 'pageshow')],
])(
  'a leading tab that %s in mid-answer: another leads, and all answers go on with the same text',
  async (_, end, back) => {
    const leading = await leader();
    await begin(leading, 'calm', question(13));
    const calm = await ended(leading, 'calm');
    await holdAnswers(leading, 20); // however late this test is, no answer has ended
    for (const tab of tabs) await begin(tab, 'moved', question(13));
    await tokens(leading, 'moved', 5);
    await end(leading);
    const rest = others(leading);
    await Promise.all(rest.map((tab) => ended(tab, 'moved')));
    await back(leading);
    for (const tab of tabs) {
      const { text, ids, end, done, interruptions } = await ended(tab, 'moved');
      expect({ text, ids, end, done }).toEqual({ text: calm.text, ids: calm.ids, end: 'length', done: 1 });
      expect(interruptions).toBe(1);
    }
    await holdAnswers(leading, Number.POSITIVE_INFINITY);
    const next = await leader();
    expect(next).not.toBe(leading);
    await expect.poll(() => tabs.map((tab) => tab.workers().length)).toEqual(tabs.map((tab) => (tab === next ? 1 : 0)));
  },
);

test.each([
  ['closed', (page: Page) => page.close()],
  ['crashed', crash],
])('a leading tab that is %s in mid-answer: another goes on with the same text', async (_, end) => {
  const leading = await leader();
  const [first, second] = others(leading);
  await begin(leading, 'calm', question(11));
  const calm = await ended(leading, 'calm');
  await holdAnswers(leading, 20); // however late this test is, no answer has ended
  for (const tab of [first, second]) await begin(tab, 'hurt', question(11));
  await tokens(first, 'hurt', 1);
  await end(leading);
  tabs = others(leading);
  const hurt = await Promise.all([first, second].map((tab) => ended(tab, 'hurt')));
  for (const { text, ids, end, done } of hurt) {
    expect({ text, ids, end, done }).toEqual({ text: calm.text, ids: calm.ids, end: 'length', done: 1 });
  }
  expect(hurt[0].interruptions).toBe(1);
});
