// Tuning in the page: one button in the panel, progress, cancellation, tables of results, and a profile for the next
// visit. A short context limits the software GPU's share.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ended,
  openPanel,
  openSite,
  ready,
  type Site,
  screenshot,
  send,
  setting,
  textOf,
  type Visit,
  visit,
} from '../site';

const TUNED_WITHIN_MS = 600_000;

let site: Site;

beforeAll(async () => {
  site = await openSite();
});

afterAll(() => site?.close());

const panel = (page: Page) => page.getByTestId('metrics');
const tune = (page: Page) => page.getByTestId('tune');
const progress = (page: Page) => page.getByTestId('tune-progress');
const outcome = (page: Page) => textOf(panel(page).locator('vivace-tune .outcome'));
const attentionOf = (page: Page, what: string) => textOf(panel(page).locator(`[data-figure=attention-${what}]`));
const measured = async (page: Page) => Number(await progress(page).getAttribute('data-done'));

async function measuring(page: Page, least: number): Promise<void> {
  await expect.poll(() => measured(page), { timeout: 120_000, interval: 50 }).toBeGreaterThanOrEqual(least);
}

describe('one visit, and the next', () => {
  let visited: Visit;
  let before: string;

  beforeAll(async () => {
    visited = await visit(site, '?context=256');
    await openPanel(visited.page);
  });

  afterAll(() => visited?.page.context().close());

  test('before tuning, the panel names the kernel and says that it was not tuned', async () => {
    const { page } = visited;
    await ready(page);
    await setting(page, 'temperature', '0');
    await setting(page, 'maxTokens', '8');
    before = await attentionOf(page, 'reason');
    await expect.poll(() => attentionOf(page, 'prefill')).toMatch(/^\w+$/);
    await expect.poll(() => attentionOf(page, 'decode')).toMatch(/^\w+$/);
    expect(before).toContain('not tuned');
  });

  test('the keyboard starts tuning, and candidates are counted and named', async () => {
    const { page } = visited;
    await tune(page).focus();
    await page.keyboard.press('Enter');
    await progress(page).waitFor();
    await measuring(page, 1);
    await expect.poll(() => textOf(progress(page))).toMatch(/\d+ of \d+/);
    // Any candidate: a loaded machine reads the newest late.
    await expect.poll(() => textOf(progress(page).locator('.last'))).toMatch(/^(prefill|decode).*: \w+/);
    const focused = () =>
      page.evaluate(() =>
        document
          .querySelector('vivace-metrics')
          ?.shadowRoot?.activeElement?.shadowRoot?.activeElement?.textContent?.trim(),
      );
    await expect.poll(() => focused()).toBe('Cancel');
  });

  test('a question during tuning waits, and is answered once the tuning is canceled', async () => {
    const { page } = visited;
    await expect.poll(() => textOf(page.getByTestId('tuning'))).toMatch(/Tuning your GPU \(\d+ of \d+\)/);
    await send(page, 'Tell me a story about a cat');
    await expect
      .poll(() => textOf(page.locator('vivace-turn .reading').last()))
      .toContain('Waiting: this GPU is being tuned');
    await page.getByTestId('cancel-tuning').click();
    expect(await ended(page)).toBe('done');
    await expect.poll(() => page.getByTestId('tuning').count()).toBe(0);
    await expect.poll(() => outcome(page)).toMatch(/^Canceled after \d+ of \d+/);
    await expect.poll(() => attentionOf(page, 'reason')).toBe(before);
    await expect.poll(() => panel(page).getAttribute('data-points')).toBe('7');
  });

  test('a waiting question can be withdrawn, and the tuning continues', async () => {
    const { page } = visited;
    await tune(page).click();
    await measuring(page, 1);
    await send(page, 'Tell me a story about a dog');
    await page.getByTestId('stop').click();
    expect(await ended(page)).toBe('done');
    await progress(page).waitFor();
  });

  test('a whole run gives the eight combinations with one winner, and decode by cache length', {
    timeout: TUNED_WITHIN_MS + 30_000,
  }, async () => {
    const { page } = visited;
    await tune(page).waitFor({ timeout: TUNED_WITHIN_MS });
    await expect.poll(() => outcome(page)).toBe('Kept for this GPU and browser; used from now on.');
    const table = page.getByTestId('tune-prefill');
    for (const letter of 'ABCDEFGH') {
      const cells = await table.locator(`tr[data-candidate=${letter}] td`).allTextContents();
      expect(cells.slice(0, 3).join(' '), letter).toMatch(/^\d+ \d+ \d+$/);
      expect(cells.slice(3).join(' ').trim(), letter).toMatch(/^(refused|[\d.]+ ([+−]?[\d,]+%|–))$/);
    }
    await expect.poll(() => table.locator('tr.winner').count()).toBe(1);
    await expect.poll(() => table.getByRole('img', { name: 'winner' }).count()).toBe(1);
    const lengths = page.getByTestId('tune-decode').locator('details');
    await expect.poll(() => lengths.count()).toBeGreaterThan(0);
    for (const length of await lengths.all()) {
      await expect.poll(() => textOf(length.locator('summary'))).toMatch(/^\d[\d,]* keys\s+\w+\s+[\d.]+ ms$/);
      await expect.poll(() => length.locator('tr.winner').count()).toBe(1);
    }
    await expect.poll(() => attentionOf(page, 'reason')).toContain('tuned on this GPU');
  });

  test('matrix products follow, by shape, each with its winner', async () => {
    const shapes = visited.page.getByTestId('tune-products').locator('details');
    const names = await shapes.evaluateAll((all) =>
      all.map((each) => each.getAttribute('data-product')?.split(' ')[0]),
    );
    // o alone, and o that merges the splits of attention
    expect(names.slice(0, 6)).toEqual(['qkv', 'o', 'o', 'gate_up', 'down', 'head']);
    for (const shape of await shapes.all()) {
      await expect.poll(() => textOf(shape.locator('summary'))).toMatch(/×[\s\S]*(default|[+−]\d+%|0%)\s+[\d.]+ µs$/);
      await expect.poll(() => shape.locator('tr.winner').count()).toBe(1);
    }
  });

  test('the results are saved as JSON', async () => {
    const { page } = visited;
    const downloading = page.waitForEvent('download');
    await page.getByTestId('tune-json').click();
    const { results, attention, stored, info } = JSON.parse(await readFile(await (await downloading).path(), 'utf8'));
    expect(results.filter((r: { combination?: string | null }) => typeof r.combination === 'string')).toHaveLength(8);
    expect([stored, info.backend]).toEqual([true, 'webgpu']);
    expect(attention.reason).toContain('tuned on this GPU');
  });

  test('it fits light and dark screens, and phones without sideways scrolling', async () => {
    const { page } = visited;
    await page.setViewportSize({ width: 1280, height: 1500 });
    await page.getByTestId('tune-decode').locator('summary').first().click();
    await page.emulateMedia({ colorScheme: 'light' });
    await screenshot(page, 'tuned_light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await screenshot(page, 'tuned_dark');
    await page.setViewportSize({ width: 360, height: 1500 });
    await page.getByRole('button', { name: 'Timing' }).click();
    await screenshot(page, 'tuned_phone');
    const overflow = await page.evaluate(() => {
      const drawer = document.getElementById('panel')!;
      return [document.documentElement.scrollWidth - innerWidth, drawer.scrollWidth - drawer.clientWidth];
    });
    expect(Math.max(...overflow)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('the next visit uses the profile, and says so before and after an answer', async () => {
    const { page } = visited;
    const found = [await attentionOf(page, 'prefill'), await attentionOf(page, 'decode')];
    await page.reload();
    await ready(page);
    await expect.poll(() => attentionOf(page, 'reason')).toContain('tuned on this GPU');
    await expect
      .poll(async () => [await attentionOf(page, 'prefill'), await attentionOf(page, 'decode')])
      .toEqual(found);
    await setting(page, 'maxTokens', '8');
    await send(page, 'Tell me a story about a cat');
    expect(await ended(page)).toBe('done');
    await expect.poll(() => attentionOf(page, 'reason')).toContain('tuned on this GPU');
  });

  test('during an answer the button is disabled with the reason', async () => {
    const { page } = visited;
    await setting(page, 'maxTokens', '200');
    await send(page, 'Tell me a long story about a dragon');
    await expect.poll(() => tune(page).getAttribute('title')).toContain('answer is running');
    await expect.poll(() => tune(page).isDisabled()).toBe(true);
    await page.getByTestId('stop').click();
    expect(await ended(page)).toBe('done');
    await expect.poll(() => tune(page).isEnabled()).toBe(true);
  });

  test('no console messages and no requests to other hosts', () => {
    expect(visited.errors).toEqual([]);
    expect(visited.strangers).toEqual([]);
  });
});

test('without a model, and with the cpu backend, the button is disabled with the reason', async () => {
  for (const [address, reason] of [
    ['?backend=cpu&model=/absent.gguf', 'no model'],
    ['?backend=cpu', 'cpu backend'],
  ]) {
    const { page } = await visit(site, address);
    if (reason !== 'no model') await ready(page);
    await expect.poll(() => tune(page).isDisabled()).toBe(true);
    await expect.poll(() => tune(page).getAttribute('title')).toContain(reason);
    await page.context().close();
  }
});
