// Crashes and closes of the page in mid-answer: the next page shows the answer.

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installScripted } from '../../browser/scripted_engine';
import { ended, lastAnswer, openSite, prompt, type Site, send, stateOf, textOf } from '../../browser/site';

const TEXT = Array.from({ length: 2_000 }, (_, i) => `word${i}`).join(' ');
const SOON = { timeout: 90_000, interval: 20 };

let site: Site;
let context: BrowserContext;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  context = await site.browser.newContext();
  context.setDefaultTimeout(90_000);
});

afterAll(() => site?.close());

/** A tab with an engine that answers slowly enough to be interrupted, and waits after `holdAfter` tokens. */
async function openTab(holdAfter?: number): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(`${site.url}?model=/page.gguf`);
  await expect.poll(() => stateOf(tab.getByTestId('load-progress')), SOON).toBe('error');
  const hold = holdAfter === undefined ? {} : { holdAfter };
  await installScripted(tab, { contextLength: 100_000, answers: [{ text: TEXT, piece: 6, gapMs: 10, ...hold }] });
  await expect.poll(() => tab.evaluate(hasOpened), SOON).toBe(true);
  return tab;
}

/** True once the newest conversation is open, which the page opens by itself. Evaluated in the page. */
function hasOpened(): boolean {
  const { summaries } = document.querySelector('vivace-library')!;
  const { turns } = document.querySelector('vivace-chat')!.conversation;
  return summaries !== null && (summaries.length === 0 || turns.length > 0);
}

/**
 * Asks, and crashes the page as soon as its storage has this many letters of the answer. Returns what storage had then,
 * and all that the page had.
 */
async function crashAt(tab: Page, letters: number): Promise<{ stored: string; all: string }> {
  const crashed = new Promise((resolve) => tab.once('crash', resolve));
  const devtools = await context.newCDPSession(tab);
  let left = { stored: '', all: '' };
  await tab.exposeFunction('crash', (stored: string, all: string) => {
    left = { stored, all };
    void devtools.send('Page.crash').catch(() => {});
  });
  await tab.evaluate((count) => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (value, key) {
      const stored: string = (value.turns?.at(-1) ?? value).answer ?? '';
      const crash = () => {
        const { answer } = document.querySelector('vivace-chat')!.conversation.turns.at(-1)!;
        (window as unknown as { crash(stored: string, all: string): void }).crash(stored, answer);
        for (;;); // nothing more happens in this page
      };
      if (stored.length >= count) this.transaction.addEventListener('complete', crash);
      return put.call(this, value, key);
    };
  }, letters);
  await prompt(tab).fill(`Until ${letters}?`);
  void tab.keyboard.press('Enter').catch(() => {});
  await crashed;
  await tab.close();
  return left;
}

test('a crash in mid-answer costs nothing that storage had, and says so', async () => {
  for (const letters of [1, 444, 1_500]) {
    const crashing = await openTab();
    await crashing.getByTestId('library-new').click();
    const { stored, all } = await crashAt(crashing, letters);
    const tab = await openTab();
    await expect.poll(() => tab.locator('[data-role=user]').allTextContents(), SOON).toEqual([`Until ${letters}?`]);
    const answer = await tab.evaluate(() => document.querySelector('vivace-chat')!.conversation.turns[0].answer);
    expect(answer.startsWith(stored)).toBe(true);
    expect(all.startsWith(answer)).toBe(true);
    await expect
      .poll(() => tab.getByTestId('end').textContent())
      .toMatch(/^Unfinished: the page that wrote this was closed/);
    await installScripted(tab, { answers: [{ text: 'Another.' }] });
    await tab.getByTestId('again').click();
    expect(await ended(tab)).toBe('done');
    await expect.poll(() => textOf(lastAnswer(tab))).toBe('Another.');
    await expect.poll(() => tab.getByTestId('version').allTextContents(), SOON).toEqual(['2/2']);
    await tab.close();
  }
});

test('a page that closes in mid-answer or after the end leaves all of the answer', async () => {
  for (const afterMs of [0, 80, 160]) {
    const tab = await openTab(30);
    await tab.getByTestId('library-new').click();
    await send(tab, `After ${afterMs}?`);
    await expect
      .poll(() => tab.evaluate(() => document.querySelector('vivace-chat')!.conversation.turns[0].answer.length), SOON)
      .toBe(180);
    if (afterMs > 0) {
      await tab.getByTestId('stop').click();
      await ended(tab);
      await tab.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), afterMs);
    }
    await tab.close({ runBeforeUnload: false });
    const next = await openTab();
    await expect.poll(() => next.locator('[data-role=user]').allTextContents(), SOON).toEqual([`After ${afterMs}?`]);
    const turn = await next.evaluate(() => document.querySelector('vivace-chat')!.conversation.turns[0]);
    expect([turn.answer, turn.finishReason]).toEqual([TEXT.slice(0, 180), afterMs > 0 ? 'abort' : 'closed']);
    await next.close();
  }
});

test('a page that closes or reloads while its storage is busy leaves all of the answer and its end', async () => {
  let tab = await context.newPage();
  const open = async () => {
    await tab.goto(`${site.url}?model=/page.gguf`);
    await expect.poll(() => stateOf(tab.getByTestId('load-progress')), SOON).toBe('error');
    await installScripted(tab, { answers: [{ text: 'All of it.' }] });
  };
  await open();
  await tab.getByTestId('library-new').click();
  for (const leaves of ['reload', 'close']) {
    const held = tab.evaluate(holdStorageAtEnd);
    await send(tab, `Then ${leaves}?`);
    await held;
    if (leaves === 'close') {
      await tab.close({ runBeforeUnload: false });
      tab = await context.newPage();
    }
    await open();
    await expect.poll(() => tab.locator('[data-role=user]').last().textContent(), SOON).toBe(`Then ${leaves}?`);
    const turn = await tab.evaluate(() => document.querySelector('vivace-chat')!.conversation.turns.at(-1)!);
    expect([turn.answer, turn.finishReason]).toEqual(['All of it.', 'eos']);
    expect(await tab.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('late')))).toEqual([]);
  }
  await tab.close();
});

/** In the page: lets no other write through from the end of the answer on. Resolves then. */
async function holdStorageAtEnd(): Promise<void> {
  const request = indexedDB.open('vivace-conversations');
  await new Promise((resolve) => {
    request.onsuccess = resolve;
  });
  await new Promise<void>((resolve) => {
    const hold = () => {
      const objects = request.result.transaction('conversations', 'readwrite').objectStore('conversations');
      const again = () => {
        objects.get('').onsuccess = again;
      };
      again();
      resolve();
    };
    document.querySelector('vivace-chat')!.addEventListener('vivace-end', hold, { once: true });
  });
}
