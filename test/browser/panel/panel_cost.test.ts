// The panel must not disturb the worker that it measures, so this file counts its drawings and renderings. `npm run
// panel-cost` measures their effect on decode speed.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPanel, openSite, type Site, visit } from '../site';
import { feed } from './panel_feed';

const TOKENS = 700;
const BURSTS = 5;
/** More than the longest wait between two drawings. */
const MOST_WAIT_MS = 2000;

let site: Site;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
});

afterAll(() => site?.close());

interface Work {
  /** Clearings of canvases, one per drawing of a chart. */
  drawings: number;
  /** Renderings of the panel's own elements. */
  renderings: number;
}

interface CountingWindow extends Window {
  __work: Work;
}

/** Runs in the page, so it must not use anything outside. */
function countWork(): void {
  const work: Work = { drawings: 0, renderings: 0 };
  (window as unknown as CountingWindow).__work = work;
  const { prototype } = CanvasRenderingContext2D;
  const clear = prototype.clearRect;
  prototype.clearRect = function (...rect) {
    work.drawings++;
    clear.apply(this, rect);
  };
  for (const name of ['vivace-metrics', 'vivace-chart']) {
    const element = customElements.get(name)!.prototype as { performUpdate(): void };
    const { performUpdate } = element;
    element.performUpdate = function () {
      work.renderings++;
      performUpdate.call(this);
    };
  }
}

/** Records a burst of tokens in one task. Returns the work of the panel during that task. */
function record(page: Page, from: number): Promise<Work> {
  return page.evaluate(
    ({ from, tokens }) => {
      const panel = document.querySelector('vivace-metrics')!;
      const { __work: work } = window as unknown as CountingWindow;
      const before = { ...work };
      for (let id = from; id < from + tokens; id++) {
        const atMs = performance.timeOrigin + 2 * id;
        const tbtMs = id === 0 ? null : 2;
        panel.record({
          type: 'token',
          id,
          text: ' word',
          tbtMs,
          position: 17 + id,
          atMs,
          inFlightMs: 2,
          workerMs: tbtMs,
        });
      }
      return {
        drawings: work.drawings - before.drawings,
        renderings: work.renderings - before.renderings,
      };
    },
    { from, tokens: TOKENS },
  );
}

const workOf = (page: Page) => page.evaluate(() => ({ ...(window as unknown as CountingWindow).__work }));

test('a token draws nothing when it is recorded, and a burst of tokens is drawn once', async () => {
  const { page } = await visit(site, '?model=/page.gguf');
  await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  await openPanel(page);
  await feed(page, { gaps: Array(100).fill(2) }); // creates the canvas
  await expect.poll(() => page.getByTestId('metrics').getAttribute('data-points')).toBe('100');
  await page.evaluate(countWork);
  // Frames and timers of the page come when the test runs its clock. An hour is later than any machine gets here.
  await page.clock.install({ time: '2026-01-01T10:00:00Z' });
  await page.clock.pauseAt('2026-01-01T11:00:00Z');
  await page.evaluate(() => document.querySelector('vivace-metrics')!.reset());
  await record(page, 0); // a new run has a new chart
  await page.clock.runFor(MOST_WAIT_MS);
  for (let burst = 1; burst < BURSTS; burst++) {
    const before = await workOf(page);
    expect(await record(page, burst * TOKENS)).toEqual({ drawings: 0, renderings: 0 });
    await page.clock.runFor(MOST_WAIT_MS);
    const after = await workOf(page);
    // The chart once, and each of the two elements once.
    expect(after).toEqual({ drawings: before.drawings + 1, renderings: before.renderings + 2 });
    const points = String((burst + 1) * TOKENS - 1);
    expect(await page.getByTestId('metrics').getAttribute('data-points')).toBe(points);
  }
  await page.context().close();
});
