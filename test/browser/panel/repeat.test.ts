// The newest run again and again, in the real built page with a scripted engine: progress, a question that waits,
// cancel, and a table with medians, ranges and verdicts.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asked, installScripted, release, visitScripted } from '../scripted_engine';
import { answers, ended, openSite, type Site, screenshot, send, textOf, type Visit } from '../site';
import { showPanel } from './shown_panel';

const SOON = { timeout: 60_000, interval: 20 };

let site: Site;
let visited: Visit;

const button = (page: Page) => page.getByTestId('repeat');
const table = (page: Page) => page.getByTestId('repeat-table');
const row = (page: Page, key: string) => textOf(table(page).locator(`[data-row=${key}]`));

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  visited = await visitScripted(
    site,
    { answers: [{ text: 'Once upon a time there was a cat.', gapMs: 3 }] },
    { width: 1280, height: 1400 },
  );
  await showPanel(visited.page);
});

afterAll(() => site?.close());

test('without a run there is nothing to repeat', async () => {
  await expect.poll(() => button(visited.page).isVisible()).toBe(false);
});

test('a run is repeated five times with its prompt, sampling and seed, and an empty cache', async () => {
  const { page } = visited;
  await send(page, 'A story');
  await ended(page);
  await expect.poll(() => button(page).isEnabled(), SOON).toBe(true);
  await button(page).click();
  await expect.poll(() => row(page, 'decode'), SOON).toMatch(/Decode\s+[\d.]+ tok\/s\s*[\d.]+ – [\d.]+ tok\/s/);
  const [first, ...repeated] = await asked(page);
  expect(repeated).toHaveLength(6); // the first is not counted
  for (const { prompt, options } of repeated) {
    expect(prompt).toEqual([1]);
    const { temperature, topK } = first!.options;
    expect(options).toMatchObject({ temperature, topK, seed: 1, ignoreEos: true, reuseCache: false, maxTokens: 9 });
  }
  expect(await row(page, 'p50')).toMatch(/p50\s+[\d.]+ ms\s*[\d.]+ – [\d.]+ ms/);
  await expect.poll(() => table(page).locator('[data-row=p99]').count()).toBe(0); // of eight gaps
});

test('a second measurement stands beside the first, with a verdict', async () => {
  const { page } = visited;
  await page.getByTestId('repeat-other').selectOption('one-step');
  await button(page).click();
  await expect.poll(() => page.locator('vivace-repeat .series b').allTextContents(), SOON).toEqual(['A', 'B', 'C']);
  const options = (await asked(page)).slice(-10).map((each) => each.options.runAhead);
  expect(options).toEqual(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? undefined : 1)));
  await expect.poll(() => page.getByTestId('repeat-other').inputValue()).toBe('one-step'); // the choice stays
  const verdicts = await table(page).locator('[data-verdict]').allTextContents();
  expect(verdicts.length).toBeGreaterThanOrEqual(4);
  for (const verdict of verdicts) expect(verdict).toMatch(/^(better ×|worse ×|no difference beyond the spread)/);
  await page.locator('vivace-repeat').scrollIntoViewIfNeeded();
  await screenshot(page, 'repeat');
});

test('a question waits for the measurement, and a cancel from the chat lets it through', async () => {
  const text = 'Once upon a time there was a cat.';
  const { page } = await visitScripted(site, { answers: [{ text }, { text, holdAfter: 2 }, { text }] });
  await showPanel(page);
  await send(page, 'A story');
  await ended(page);
  await expect.poll(() => button(page).isEnabled(), SOON).toBe(true);
  await button(page).click();
  const strip = page.getByTestId('tuning');
  await expect.poll(() => textOf(strip), SOON).toContain('Measuring, run 1 of 5');
  await send(page, 'Another');
  await page.getByText('a measurement is under way').waitFor();
  expect(await asked(page)).toHaveLength(2);
  await strip.getByRole('button', { name: 'Cancel the measurement' }).click();
  await ended(page);
  await expect.poll(() => textOf(answers(page).last())).toContain(text);
  await expect.poll(() => textOf(page.locator('vivace-repeat [role=status]'))).toContain('Canceled');
  expect((await asked(page)).map(({ messages }) => messages !== null)).toEqual([true, false, true]);
  await page.context().close();
});

test('by keyboard, the focus moves from the button that starts to the one that cancels, and back', async () => {
  const text = 'Once upon a time there was a cat.';
  const { page } = await visitScripted(site, { answers: [{ text }, { text, holdAfter: 2 }] });
  await showPanel(page);
  await send(page, 'A story');
  await ended(page);
  await expect.poll(() => button(page).isEnabled(), SOON).toBe(true);
  const focused = () =>
    page
      .locator('vivace-repeat')
      .evaluate(({ shadowRoot }) => (shadowRoot?.activeElement as HTMLElement | null)?.dataset.testid);
  await button(page).focus();
  await page.keyboard.press('Enter');
  await expect.poll(focused, SOON).toBe('cancel-repeat');
  await page.keyboard.press('Enter');
  await expect.poll(focused, SOON).toBe('repeat');
  await page.context().close();
});

test('while a message is answered, the section says that it waits', async () => {
  const { page } = await visitScripted(site, { answers: [{ text: 'Once upon a time', holdAfter: 3 }] });
  await showPanel(page);
  await send(page, 'A story');
  const note = page.locator('vivace-repeat .note');
  await expect.poll(() => textOf(note), SOON).toBe('Wait until the answer has ended: its run is what is repeated.');
  await expect.poll(() => button(page).isEnabled()).toBe(false);
  await expect.poll(() => textOf(answers(page).last()), SOON).toContain('Once upon a'); // it waits for its release
  await release(page);
  await ended(page);
  await expect.poll(() => button(page).isEnabled(), SOON).toBe(true);
  await page.context().close();
});

test('after a reload with a pinned run nothing runs, so the section asks for a message', async () => {
  const script = { answers: [{ text: 'Once upon a time there was a cat.', gapMs: 1 }] };
  const { page } = await visitScripted(site, script);
  await showPanel(page);
  await send(page, 'A story');
  await ended(page);
  await page.getByTestId('pin').click();
  await expect.poll(() => page.getByTestId('pin-run').getAttribute('aria-pressed'), SOON).toBe('true');
  await page.reload();
  await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  await installScripted(page, script);
  await showPanel(page);
  await page.getByTestId('comparison').waitFor();
  const note = page.locator('vivace-repeat .note');
  await expect.poll(() => textOf(note), SOON).toBe('Send a message first: its run is what is repeated.');
  await send(page, 'Another');
  await ended(page);
  await expect.poll(() => button(page).isEnabled(), SOON).toBe(true);
  await page.context().close();
});

test('the table can be cleared', async () => {
  const { page } = visited;
  await page.getByTestId('repeat-clear').click();
  await expect.poll(() => table(page).count(), SOON).toBe(0);
});

test('no errors on the console', () => {
  expect(visited.errors).toEqual([]);
});
