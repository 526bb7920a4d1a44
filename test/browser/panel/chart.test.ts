// The chart in the real built page, on synthetic runs: it fills the window, zooms and moves by mouse, wheel, keys and
// fingers, names what it shows, and does not jump while a run goes on. No model is loaded.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSite, type Site, screenshot, textOf, type Visit, visit } from '../site';
import { feed } from './panel_feed';
import { showPanel } from './shown_panel';

const SOON = { timeout: 60_000, interval: 20 };
/** 200 gaps with two stalls, before tokens 57 and 182. */
const GAPS = Array.from({ length: 200 }, (_, i) => (i === 55 ? 60 : i === 180 ? 90 : 5 + ((i * 7) % 11) / 4));

let site: Site;
let visited: Visit;

const chart = (page: Page) => page.locator('vivace-chart');
const plot = (page: Page) => page.getByTestId('plot');
const large = (page: Page) => page.getByTestId('large');
const range = (page: Page) => textOf(page.getByTestId('range'));
const spoken = (page: Page) => textOf(chart(page).locator('[role=status]'));
const over = async (page: Page) => (await plot(page).locator('.u-over').boundingBox())!;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  visited = await visit(site, '?model=/page.gguf', { width: 1440, height: 900 });
  await visited.page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  await showPanel(visited.page);
});

afterAll(() => site?.close());

beforeEach(async () => {
  await feed(visited.page, { gaps: GAPS });
  await expect.poll(() => plot(visited.page).locator('canvas').count(), SOON).toBe(1);
});

/** Drags between two parts of the plot's width. */
async function drag(page: Page, from: number, to: number): Promise<void> {
  const { x, y, width, height } = await over(page);
  await page.mouse.move(x + from * width, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + ((from + to) / 2) * width, y + height / 2);
  await page.mouse.move(x + to * width, y + height / 2);
  await page.mouse.up();
}

describe('a part of the axis', () => {
  test('a drag shows a range with its own statistics, Shift-drag moves it, a double click shows everything', async () => {
    const { page } = visited;
    await expect.poll(() => page.getByTestId('range').count()).toBe(0);
    await drag(page, 0.25, 0.5);
    await expect.poll(() => range(page), SOON).toMatch(/^Tokens \d+ to \d+ of 201\s+n = (4|5)\d\s+p50 [\d.]+ ms/);
    await expect.poll(() => range(page)).toMatch(/p99 [\d.]+ ms \(too few\)\s+max 60\.0 ms/);
    await expect.poll(() => plot(page).getAttribute('aria-label')).toMatch(/\. Tokens \d+ to \d+ of 201\./);
    await screenshot(page, 'chart_range');
    await page.keyboard.down('Shift');
    await drag(page, 0.9, 0.1);
    await page.keyboard.up('Shift');
    await expect.poll(() => range(page), SOON).not.toContain('max 60.0 ms');
    const { x, y, width } = await over(page);
    await page.mouse.dblclick(x + width / 2, y + 30);
    await expect.poll(() => page.getByTestId('range').count(), SOON).toBe(0);
  });

  test('keys zoom, move and reset, and say what is shown', async () => {
    const { page } = visited;
    await plot(page).focus();
    await page.keyboard.press('+');
    await expect.poll(() => spoken(page), SOON).toMatch(/^Tokens 51 to 151 of 201: n = 101, p50 .*, max 60\.0 ms\.$/);
    await page.keyboard.press('Shift+ArrowRight');
    await expect.poll(() => spoken(page), SOON).toContain('Tokens 76 to 176 of 201');
    await page.keyboard.press('End'); // the cursor takes the range along
    await expect.poll(() => range(page), SOON).toContain('Tokens 101 to 201');
    await page.keyboard.press('0');
    await expect.poll(() => spoken(page), SOON).toBe('Showing everything.');
    await expect.poll(() => page.getByTestId('range').count()).toBe(0);
  });

  test('the wheel zooms with Ctrl, and scrolls the panel without', async () => {
    const { page } = visited;
    const { x, y, width } = await over(page);
    await page.mouse.move(x + width / 2, y + 40);
    await page.mouse.wheel(0, -1);
    await expect.poll(() => page.getByTestId('range').count()).toBe(0);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await expect.poll(() => range(page), SOON).toContain('of 201');
    await page.getByTestId('reset-zoom').click();
    await expect.poll(() => page.getByTestId('range').count(), SOON).toBe(0);
  });

  test('a stall out of sight comes into sight, and a growing run moves nothing', async () => {
    const { page } = visited;
    await feed(page, { gaps: GAPS, isDone: false });
    await drag(page, 0.1, 0.2);
    await expect.poll(() => range(page), SOON).toMatch(/^Tokens/);
    const before = (await range(page)).match(/Tokens \d+ to \d+/)?.[0];
    await page.evaluate(() => {
      const panel = document.querySelector('vivace-metrics')!;
      for (let id = 201; id < 500; id++) {
        const atMs = performance.timeOrigin + performance.now();
        const token = { id, text: ' x', tbtMs: 6, position: 17 + id, atMs, inFlightMs: 1, workerMs: 0 };
        panel.record({ type: 'token', ...token });
      }
    });
    await expect.poll(() => range(page), SOON).toContain('of 500');
    await expect.poll(() => range(page)).toContain(before);
    await page.getByTestId('stalls').getByRole('button', { name: 'before token 182' }).click();
    await expect.poll(() => range(page), SOON).toMatch(/max 90\.0 ms/);
    await expect.poll(() => spoken(page)).toContain('before token 182');
  });
});

describe('the whole window', () => {
  test('the chart fills it, the readout and the stalls beside it, and Escape gives everything back', async () => {
    const { page } = visited;
    const small = await over(page);
    await page.getByTestId('large-chart').click();
    await large(page).waitFor();
    await expect.poll(async () => (await over(page)).width, SOON).toBeGreaterThan(2 * small.width);
    expect((await over(page)).height).toBeGreaterThan(2 * small.height);
    const [dialog, stalls] = [await large(page).boundingBox(), await page.getByTestId('stalls').boundingBox()];
    expect(dialog).toEqual({ x: 0, y: 0, width: 1440, height: 900 });
    expect(stalls!.x).toBeGreaterThan((await over(page)).x + (await over(page)).width);
    const font = await plot(page).evaluate((each) => getComputedStyle(each).fontSize);
    expect(font).toBe('14px');
    await screenshot(page, 'chart_large');
    const { x, y, width } = await over(page);
    await page.mouse.move(x + width / 4, y + 200);
    await page.mouse.wheel(0, -600);
    await expect.poll(() => range(page), SOON).toContain('of 201');
    await page.mouse.move(x + width / 2, y + 200);
    await expect.poll(() => textOf(page.getByTestId('readout')), SOON).toContain('before token');
    await screenshot(page, 'chart_large_zoomed');
    await page.keyboard.press('Escape');
    await expect.poll(() => large(page).count(), SOON).toBe(0);
    await expect.poll(async () => (await over(page)).width, SOON).toBeCloseTo(small.width, -1);
    const focused = () => chart(page).evaluate((each) => each.shadowRoot?.activeElement?.id);
    await expect.poll(() => focused()).toBe('large');
    await expect.poll(() => range(page)).toContain('of 201'); // the range stays
  });

  test('the window may change its size, and the close button closes', async () => {
    const { page } = visited;
    await page.getByTestId('large-chart').click();
    await large(page).waitFor();
    await page.setViewportSize({ width: 700, height: 620 });
    await expect.poll(async () => (await over(page)).width, SOON).toBeLessThan(700);
    await expect.poll(async () => (await page.getByTestId('stalls').boundingBox())!.y, SOON).toBeGreaterThan(300);
    const wider = await large(page).evaluate((each) => each.scrollWidth - each.clientWidth);
    expect(wider).toBeLessThanOrEqual(0);
    await screenshot(page, 'chart_large_narrow');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Close (Escape)' }).click();
    await expect.poll(() => large(page).count(), SOON).toBe(0);
  });

  test('two fingers zoom', async () => {
    const { page } = visited;
    await page.getByTestId('large-chart').click();
    await expect.poll(() => plot(page).locator('.u-over').count(), SOON).toBe(1);
    await plot(page)
      .locator('.u-over')
      .evaluate((each) => {
        const { left, top, width } = each.getBoundingClientRect();
        const touch = (type: string, pointerId: number, share: number) =>
          each.dispatchEvent(
            new PointerEvent(type, {
              pointerId,
              pointerType: 'touch',
              clientX: left + share * width,
              clientY: top + 50,
              bubbles: true,
            }),
          );
        touch('pointerdown', 1, 0.4);
        touch('pointerdown', 2, 0.6);
        touch('pointermove', 1, 0.3);
        touch('pointermove', 2, 0.7);
        touch('pointerup', 1, 0.3);
        touch('pointerup', 2, 0.7);
      });
    await expect.poll(() => range(page), SOON).toMatch(/^Tokens [3-6]\d to 1[3-6]\d of 201/);
    await page.keyboard.press('Escape');
    await expect.poll(() => large(page).count(), SOON).toBe(0);
  });
});

test('a legend names what each view shows', async () => {
  const { page } = visited;
  const legend = async () =>
    (await page.getByTestId('legend').locator('li').allInnerTexts()).map((text) => text.trim());
  await expect.poll(legend, SOON).toEqual(['gap before each token', 'p50, p95, p99', 'first token', 'stalls']);
  await page.getByTestId('view-context').click();
  await expect.poll(legend, SOON).toContain('running median of 25 gaps');
  await page.getByTestId('view-histogram').click();
  await expect.poll(legend, SOON).toEqual(['number of gaps', 'p50, p99']);
  await page.getByTestId('view-tokens').click();
});

test('a panel that moves in the document draws its chart again', async () => {
  const { page } = visited;
  await page.evaluate(() => {
    const panel = document.querySelector('vivace-metrics')!;
    panel.parentElement!.append(panel);
  });
  await expect.poll(() => plot(page).locator('canvas').count(), SOON).toBe(1);
});

test('the letters on the canvas follow the language, also of a run that is over', async () => {
  const { page } = visited;
  const speak = (language: string) =>
    page.evaluate((language) => {
      Object.defineProperty(navigator, 'languages', { value: [language], configurable: true });
      dispatchEvent(new Event('languagechange'));
    }, language);
  await page.evaluate(() => {
    const drawn: string[] = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      drawn.push(text);
      fillText.call(this, text, ...place);
    };
    Object.assign(globalThis, { drawn });
  });
  await speak('de');
  const drawn = () => page.evaluate(() => (globalThis as unknown as { drawn: string[] }).drawn);
  await expect.poll(drawn, SOON).toContain('ms zwischen Tokens');
  await speak('en');
  await expect.poll(async () => (await drawn()).slice(-100), SOON).toContain('ms between tokens');
});

test('no errors on the console', () => {
  expect(visited.errors).toEqual([]);
});
