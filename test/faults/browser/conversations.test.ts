// Crashes and closes of the page in mid-answer: the next page shows the answer.

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installScripted } from '../../browser/scripted_engine';
import { ended, lastAnswer, openSite, prompt, type Site, send, stateOf, textOf } from '../../browser/site';

/** What a reader may lose of an answer, in milliseconds. */
const LOST_MS = 250;
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
  return tab;
}

/** Crashes the page after the event that shows this many letters. Returns the text shown `LOST_MS` before. */
async function crashAt(tab: Page, letters: number): Promise<{ old: string; all: string }> {
  const crashed = new Promise((resolve) => tab.once('crash', resolve));
  const devtools = await context.newCDPSession(tab);
  let shown = { old: '', all: '' };
  await tab.exposeFunction('crash', (old: string, all: string) => {
    shown = { old, all };
    void devtools.send('Page.crash').catch(() => {});
  });
  await tab.evaluate(
    ([count, lostMs]) => {
      const chat = document.querySelector('vivace-chat')!;
      const seen: { at: number; text: string }[] = [];
      chat.addEventListener('vivace-event', () => {
        setTimeout(() => {
          const text = chat.conversation.turns.at(-1)!.answer;
          const at = performance.now();
          seen.push({ at, text });
          if (text.length < count) return;
          const old = seen.findLast((shot) => shot.at <= at - lostMs)?.text ?? '';
          (window as unknown as { crash(old: string, all: string): void }).crash(old, text);
          for (;;); // nothing more happens in this page
        });
      });
    },
    [letters, LOST_MS] as const,
  );
  await prompt(tab).fill(`Until ${letters}?`);
  void tab.keyboard.press('Enter').catch(() => {});
  await crashed;
  await tab.close();
  return shown;
}

test('a crash in mid-answer costs at most what was shown in the last 250 ms, and says so', async () => {
  for (const letters of [60, 444, 1_500]) {
    const crashing = await openTab();
    await crashing.getByTestId('library-new').click();
    const { old, all } = await crashAt(crashing, letters);
    const tab = await openTab();
    await expect.poll(() => tab.locator('[data-role=user]').allTextContents(), SOON).toEqual([`Until ${letters}?`]);
    const answer = await tab.evaluate(() => document.querySelector('vivace-chat')!.conversation.turns[0].answer);
    expect(answer.startsWith(old)).toBe(true);
    expect(all.startsWith(answer)).toBe(true);
    await expect
      .poll(() => tab.getByTestId('end').textContent())
      .toMatch(/^Unfinished: the page that wrote this was closed/);
    await installScripted(tab, { answers: [{ text: 'Another.' }] });
    await tab.getByTestId('again').click();
    expect(await ended(tab)).toBe('done');
    await expect.poll(() => textOf(lastAnswer(tab))).toBe('Another.');
    // An answer that began less than 250 ms before the crash may be lost whole: nothing is there to be a version.
    const versions = answer === '' ? [] : ['2/2'];
    await expect.poll(() => tab.getByTestId('version').allTextContents(), SOON).toEqual(versions);
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
