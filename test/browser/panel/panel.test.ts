// The panel in the real built page, on synthetic runs: views, readout by mouse and keyboard, stalls, pinned runs,
// files, and no drawing while hidden. No model is loaded.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPanel, openSite, type Site, screenshot, textOf, type Visit, visit } from '../site';
import { feed } from './panel_feed';

const SOON = { timeout: 90_000, interval: 20 };
/** 100 gaps of equal length, with one stall before token 57. */
const STALLED = Array.from({ length: 100 }, (_, i) => (i === 55 ? 60 : 5 + (i % 5) / 10));
const FUSED = { name: 'fused', reason: 'measured when the model loaded', gain: 0.38, giveUps: 2 };
const EVEN = Array.from({ length: 120 }, (_, i) => 10 + (i % 3) / 10);

let site: Site;

beforeAll(async () => {
  site = await openSite();
});

afterAll(() => site?.close());

const panel = (page: Page) => page.getByTestId('metrics');
const plot = (page: Page) => page.getByTestId('plot');
const readout = (page: Page) => textOf(page.getByTestId('readout'));
const spoken = (page: Page) => textOf(panel(page).locator('vivace-chart [role=status]'));
const points = (page: Page) => panel(page).getAttribute('data-points');

async function open(viewport?: { width: number; height: number }): Promise<Visit> {
  const visited = await visit(site, '?model=/page.gguf', viewport);
  await visited.page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  if (!viewport) await openPanel(visited.page);
  return visited;
}

/** Counts the clearings of canvases, one per drawing. */
async function countDrawings(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const { prototype } = CanvasRenderingContext2D;
    const clear = prototype.clearRect;
    Object.assign(window, { __drawn: 0 });
    prototype.clearRect = function (...rect) {
      (window as unknown as { __drawn: number }).__drawn++;
      clear.apply(this, rect);
    };
  });
  return () => page.evaluate(() => (window as unknown as { __drawn: number }).__drawn);
}

/** The number of colors on the chart's canvas that are far from gray. */
function colorsOf(page: Page): Promise<number> {
  return plot(page)
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let n = 0;
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b, a] = [data[i], data[i + 1], data[i + 2], data[i + 3]];
        if (a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 60) n++;
      }
      return n;
    });
}

describe('one run after the other', () => {
  let visited: Visit;

  beforeAll(async () => {
    visited = await open();
    await feed(visited.page, { gaps: STALLED, texts: ['Once', ' "upon"\n\u202e', ' a'] });
    await panel(visited.page).and(visited.page.locator('[data-points="100"]')).waitFor();
  });

  afterAll(() => visited?.page.context().close());

  test('the mouse reads a token with its text and its stages', async () => {
    const { page } = visited;
    await expect.poll(() => colorsOf(page), SOON).toBeGreaterThan(100);
    const over = await plot(page).locator('.u-over').boundingBox();
    await page.mouse.move(over!.x + 1, over!.y + 60);
    await expect.poll(() => readout(page), SOON).toContain('before token 2, position 18');
    await expect.poll(() => readout(page)).toContain(String.raw`" \"upon\"\n\u{202e}"`);
    await expect
      .poll(() => readout(page))
      .toMatch(/in flight\s*12\.1 ms\s*GPU step\s*0\.60 ms\s*worker\s*0\.25 ms\s*to page\s*[\d.]+ m?s/);
    await expect.poll(() => readout(page), SOON).toMatch(/to paint\s*[\d.]+ m?s/);
    await page.mouse.move(over!.x + over!.width - 1, over!.y + 60);
    await expect.poll(() => readout(page), SOON).toContain('before token 101, position 117');
    await expect.poll(() => spoken(page)).toBe(''); // the pointer does not speak
    await page.mouse.move(5, 5);
    await expect.poll(() => readout(page), SOON).toContain('Point at the chart');
  });

  test('the keyboard goes from token to token, and what it reads is spoken', async () => {
    const { page } = visited;
    await plot(page).focus();
    await page.keyboard.press('End');
    await expect
      .poll(() => spoken(page), SOON)
      .toMatch(/^\d.* before token 101, position 117, " a"; in flight 12\.1 ms, .*to page/);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => readout(page), SOON).toContain('before token 100');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => spoken(page), SOON).toContain('before token 3');
  });

  test('a stall is listed with its cause, ringed, and explained where the cursor stands on it', async () => {
    const { page } = visited;
    const stalls = page.getByTestId('stalls').locator('li');
    await expect.poll(() => stalls.count()).toBe(1);
    await expect.poll(() => textOf(stalls.first())).toMatch(/^60\.0 ms before token 57\. \w.{10,}\.$/);
    await plot(page).focus();
    await page.keyboard.press('Home');
    for (let i = 2; i < 57; i++) await page.keyboard.press('ArrowRight');
    const cause = (await textOf(stalls.first())).split('57. ')[1];
    await expect.poll(() => readout(page), SOON).toContain(cause);
    await expect.poll(() => spoken(page)).toContain(cause);
  });

  test('a stall chosen in the list is read out, also from the histogram, which has no place for it', async () => {
    const { page } = visited;
    await plot(page).focus();
    await page.keyboard.press('Home');
    await page.getByTestId('view-histogram').click();
    await page.getByTestId('stalls').getByRole('button').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => spoken(page), SOON).toContain('before token 57');
    await expect.poll(() => readout(page)).toContain('before token 57');
    await expect.poll(() => panel(page).getByRole('tab', { selected: true }).textContent()).toBe('Over tokens');
  });

  test('tabs show three views; arrow keys go round', async () => {
    const { page } = visited;
    const tab = panel(page).getByRole('tab', { selected: true });
    const selected = async () => {
      // The focus follows the choice after the tabs are rendered.
      const isFocused = () => tab.evaluate((one) => (one.getRootNode() as ShadowRoot).activeElement === one);
      await expect.poll(isFocused, SOON).toBe(true);
      return tab.textContent();
    };
    await expect.poll(() => tab.textContent()).toBe('Over tokens');
    await page.getByTestId('view-tokens').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => selected()).toBe('Over context');
    await plot(page).focus();
    await page.keyboard.press('Home');
    await expect.poll(() => spoken(page), SOON).toContain('before token 2, position 18');
    await page.getByTestId('view-context').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => selected()).toBe('Histogram');
    await plot(page).focus();
    await page.keyboard.press('End');
    await expect
      .poll(() => spoken(page), SOON)
      .toMatch(/^1 of 100 gaps \(1\.0%\) from [\d.]+ ms to 60\.0 ms: before token 57$/);
    await page.getByTestId('view-histogram').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => selected()).toBe('Over tokens');
  });

  test('the decode step stands with its gain, its give-ups and its reason, and is left out where it is not known', async () => {
    const { page } = visited;
    const section = panel(page).locator('section', { hasText: 'Decode step' });
    const step = { name: 'plain', reason: 'the adapter has no subgroups', gain: null, giveUps: 0 };
    await expect.poll(() => textOf(section), SOON).toMatch(/Decode step\s*Step\s*plain\s*the adapter has no subgroups/);
    await feed(page, { gaps: EVEN, step: FUSED });
    const fused = /Step\s*fused, 38% faster than plain here, gave up 2 times\s*measured when the model loaded/;
    await expect.poll(() => textOf(section), SOON).toMatch(fused);
    await feed(page, { gaps: EVEN, step: null });
    await expect.poll(() => section.count(), SOON).toBe(0);
    await feed(page, { gaps: STALLED, step });
    await expect.poll(() => section.count(), SOON).toBe(1);
  });

  test('a pinned run stands beside the next one, with ratios, and can be unpinned', async () => {
    const { page } = visited;
    await page.getByTestId('pin').click();
    await expect.poll(() => page.getByTestId('pin').isDisabled()).toBe(true);
    await feed(page, { gaps: EVEN, attention: 'eager', step: FUSED, kvCache: 'f32', from: 150 });
    const comparison = page.getByTestId('comparison');
    const row = (key: string) => textOf(comparison.locator(`tr[data-row=${key}]`));
    await expect.poll(() => row('p50'), SOON).toMatch(/p50\s+5\.20 ms\s*10\.1 ms ×1\.94/);
    expect(await row('max')).toMatch(/60\.0 ms\s*10\.2 ms ×0\.17/);
    expect(await row('prefill')).toMatch(
      /548 tok\/s\s*17 new\s*548 tok\/s\s*150 new\s*not compared: 150 new tokens, not 17/,
    );
    const legend = await comparison.locator('li').allTextContents();
    expect(legend.map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(
        /^A flash_prefill \/ fused_decode, plain step, KV f16.*webgpu, 101 tokens, n = 100 gaps Unpin$/,
      ),
      expect.stringMatching(/^Now flash_prefill \/ eager, fused step, KV f32.*webgpu, 121 tokens, n = 120 gaps$/),
    ]);
    expect(
      new Set(
        await comparison.locator('path').evaluateAll((all) => all.map((path) => path.getAttribute('stroke-dasharray'))),
      ).size,
    ).toBe(2);
    await page.getByTestId('view-context').click();
    await screenshot(page, 'panel_compared');
    await page.getByRole('button', { name: 'Unpin run A' }).click();
    await expect.poll(() => comparison.count(), SOON).toBe(0);
  });

  test('the GPU’s times reach their run even if the next one has begun', async () => {
    const { page } = visited;
    await feed(page, { gaps: STALLED, isTimed: false });
    await page.getByTestId('pin').click();
    await page.evaluate(() => {
      // biome-ignore lint/suspicious/noExplicitAny: the panel of a built page has no types
      const panel = document.querySelector('vivace-metrics') as any;
      panel.reset();
      panel.record({ type: 'gpuTimes', gpuMs: { p50: 0.25, perToken: [0.25] } });
    });
    await feed(page, { gaps: STALLED, gpuMs: 0.5 });
    const row = page.getByTestId('comparison').locator('tr[data-row=gpu]');
    await expect.poll(() => textOf(row), SOON).toMatch(/0\.250? ms\s*0\.50+ ms ×2/);
    await page.getByRole('button', { name: 'Unpin run A' }).click();
  });

  test('three runs can be pinned, not four', async () => {
    const { page } = visited;
    for (const gaps of [EVEN, STALLED, EVEN]) {
      await feed(page, { gaps });
      await page.getByTestId('pin').click();
    }
    await feed(page, { gaps: STALLED });
    await expect.poll(() => page.getByTestId('pin').getAttribute('title'), SOON).toContain('unpin one first');
    await expect.poll(() => page.getByTestId('pin').isDisabled()).toBe(true);
    await expect
      .poll(() => page.getByTestId('comparison').locator('thead th').allTextContents())
      .toEqual(['A', 'B', 'C', 'Now']);
    await page.getByRole('button', { name: 'Unpin run B' }).click();
    await page.getByTestId('pin').click();
    await expect
      .poll(() => page.getByTestId('comparison').locator('thead th').allTextContents(), SOON)
      .toEqual(['A', 'B', 'C']);
  });

  test('the roofline is measured at a press, once the GPU is free, and the figure follows', async () => {
    const { page } = visited;
    const button = page.getByTestId('roofline');
    await expect.poll(() => button.isDisabled()).toBe(true); // no engine
    await page.evaluate(() => {
      const readings = [{ readGBps: 250, clock: 'gpu' }];
      const roofline = async () => readings.pop() ?? Promise.reject(new Error('No memory is left. Close other tabs.'));
      Object.assign(document.querySelector('vivace-metrics')!, { engine: { roofline } });
    });
    const result = () => textOf(page.getByTestId('roofline-result'));
    await button.click();
    await expect.poll(result, SOON).toMatch(/250 GB\/s at most, by the GPU’s clock/);
    await expect.poll(() => textOf(panel(page).locator('[data-figure=roofline]')), SOON).toMatch(/^\d.*%$/);
    await button.click();
    await expect.poll(result, SOON).toBe('No memory is left. Close other tabs.');
  });

  test('JSON and CSV are saved', async () => {
    const { page } = visited;
    const saved = async (button: string) => {
      const downloading = page.waitForEvent('download');
      await page.getByTestId(button).click();
      return readFile(await (await downloading).path(), 'utf8');
    };
    const report = JSON.parse(await saved('json'));
    expect(report.tbtMs.perToken).toEqual(STALLED);
    expect([report.backend, report.ids.length]).toEqual(['webgpu', 101]);
    const lines = (await saved('csv')).trim().split('\n');
    expect(lines).toHaveLength(102);
    expect(lines[0]).toMatch(/^token,id,position,tbt_ms,gpu_ms/);
    expect(lines[57]).toMatch(/^57,56,73,60,0\.6,/);
  });

  test('a warning in the middle of an answer is listed, and nothing of the run is lost', async () => {
    const { page } = visited;
    const warnings = panel(page).locator('section', { hasText: 'Warnings' });
    await expect.poll(() => warnings.count()).toBe(0);
    await feed(page, { gaps: STALLED, warning: 'A step gave up once.' });
    await expect.poll(() => warnings.locator('li').allInnerTexts(), SOON).toEqual(['A step gave up once.']);
    await expect.poll(() => points(page)).toBe('100');
    await expect.poll(() => textOf(page.getByTestId('gaps'))).toBe('n = 100 gaps.');
    await feed(page, { gaps: STALLED });
  });

  test('percentiles of few gaps are faint and say so, and a stall has no cause before the GPU’s times', async () => {
    const { page } = visited;
    const note = () => textOf(page.getByTestId('gaps'));
    const tile = panel(page).locator('.tiles [data-figure=p99]');
    const color = () => tile.evaluate((each) => getComputedStyle(each).color);
    await expect.poll(note, SOON).toBe('n = 100 gaps.');
    const enough = await color();
    await feed(page, { gaps: STALLED.slice(0, 60), isDone: false });
    await expect.poll(note, SOON).toBe('n = 60 gaps. p99 needs 100.');
    expect(await color()).not.toBe(enough);
    await expect
      .poll(() => tile.getAttribute('aria-describedby'))
      .toBe(await page.getByTestId('gaps').getAttribute('id'));
    const stall = () => textOf(page.getByTestId('stalls').locator('li'));
    await expect.poll(stall, SOON).toMatch(/^60\.0 ms before token 57\. The cause is told when the answer is over/);
    await page.evaluate(() => (document.querySelector('vivace-metrics') as unknown as { end(): void }).end());
    await expect.poll(stall, SOON).toMatch(/before token 57\. Nothing in the engine explains it/);
    await feed(page, { gaps: STALLED });
  });

  test('after a load no figure of the run before stands beside those of the new engine', async () => {
    const { page } = visited;
    const figure = (key: string) => textOf(panel(page).locator(`[data-figure=${key}]`));
    await expect.poll(() => points(page), SOON).toBe('100');
    await page.evaluate(() => {
      const metrics = document.querySelector('vivace-metrics') as unknown as { info: object; loaded(): void };
      metrics.info = { ...metrics.info, contextLength: 512 };
      metrics.loaded();
    });
    await expect.poll(() => points(page), SOON).toBe('0');
    await expect.poll(() => figure('context'), SOON).toMatch(/^512/);
    await expect.poll(() => panel(page).getByTestId('run-row').count()).toBeGreaterThan(0);
    await feed(page, { gaps: STALLED });
  });

  test('pictures for people: light and dark, all views, and a logarithm', async () => {
    const { page } = visited;
    await page.setViewportSize({ width: 1280, height: 1400 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const view of ['tokens', 'context', 'histogram']) {
        await page.getByTestId(`view-${view}`).click();
        await expect.poll(() => colorsOf(page), SOON).toBeGreaterThan(100);
        await screenshot(page, `panel_${view}_${colorScheme}`);
      }
      await page.getByTestId('log').click();
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('no errors on the console, and no requests to other hosts', () => {
    expect(visited.errors).toEqual([]);
    expect(visited.strangers).toEqual([]);
  });
});

describe('a phone', () => {
  let visited: Visit;

  beforeAll(async () => {
    visited = await open({ width: 360, height: 740 });
  });

  afterAll(() => visited?.page.context().close());

  test('a closed drawer draws nothing while a run goes on, and shows all of it when it opens', async () => {
    const { page } = visited;
    const drawn = await countDrawings(page);
    await feed(page, { gaps: STALLED });
    await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 400)));
    expect(await drawn()).toBe(0);
    await page.getByRole('button', { name: 'Timing' }).click();
    await expect.poll(() => points(page), SOON).toBe('100');
    await expect.poll(drawn, SOON).toBeGreaterThan(0);
  });

  test('nothing is wider than the screen, with a comparison, too', async () => {
    const { page } = visited;
    await page.getByTestId('pin').click();
    await feed(page, { gaps: EVEN, attention: 'split_kv_decode', step: FUSED });
    await page.getByTestId('comparison').locator('table').waitFor();
    await screenshot(page, 'panel_phone');
    const overflow = await page.evaluate(() => {
      const drawer = document.getElementById('panel')!;
      return [document.documentElement.scrollWidth - innerWidth, drawer.scrollWidth - drawer.clientWidth];
    });
    expect(Math.max(...overflow)).toBeLessThanOrEqual(0);
  });
});
