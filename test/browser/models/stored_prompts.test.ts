// A long system prompt is there after a reload, in a real browser: the answer is the same, the page shows what is kept,
// and what a person deletes is gone.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as Vivace from '../../../src/engine/engine';
import { openSite, type Site, visit } from '../site';

interface PageWindow extends Window {
  vivace: typeof Vivace;
  engine: Vivace.Engine;
}

const SYSTEM = 'You know all letters. '.repeat(20);

let site: Site;
let page: Page;
beforeAll(async () => {
  site = await openSite({ webgpu: false });
  ({ page } = await visit(site, 'favicon.svg'));
});
afterAll(() => site?.close());

/** Opens a page anew, with only the package, and loads the model. Returns the bytes of two pieces. */
async function load(): Promise<number> {
  await page.goto(`${site.url}embed_demo.html`);
  const content = `import * as vivace from '${site.url}lib/vivace.js'; window.vivace = vivace;`;
  await page.addScriptTag({ type: 'module', content });
  await page.waitForFunction(() => 'vivace' in window);
  return page.evaluate(async () => {
    const here = window as unknown as PageWindow;
    here.engine = await here.vivace.Engine.load('/chain/', { backend: 'cpu', contextLength: 1024 });
    const { nLayers, nKvHeads, headDim } = here.engine.info.model;
    return 2 * (40 + 128 * 2 * 4 * nLayers * nKvHeads * headDim);
  });
}

const answer = () =>
  page.evaluate(async (system) => {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'letters' },
    ] as const;
    let text = '';
    for await (const event of (window as unknown as PageWindow).engine.chat(messages, {
      temperature: 0,
      maxTokens: 9,
    })) {
      if (event.type === 'token' || event.type === 'done') text += event.text;
      if (event.type === 'done') return { text, ...event.usage, report: event.metrics.cache?.report };
    }
    throw new Error('no end');
  }, SYSTEM);

const bytes = () => page.evaluate(() => (window as unknown as PageWindow).vivace.storedPromptBytes());

test('a reload finds the system prompt, the page shows and deletes it', async () => {
  const whole = await load();
  const first = await answer();
  expect(first).toMatchObject({ report: 'new', cachedTokens: 0 });
  const written = (timeout: number) => expect.poll(bytes, { timeout }).toBeGreaterThanOrEqual(whole);
  await written(15_000).catch(async () => {
    await answer(); // a machine that was too busy for a quick read looks again after the next answer
    await written(90_000);
  });
  await load();
  const { text, report, storedTokens = 0 } = await answer();
  expect([text, report]).toEqual([first.text, 'stored']);
  expect(storedTokens).toBeGreaterThanOrEqual(128); // the rest, too, where this machine reads as fast as it computes
  await page.goto(`${site.url}?backend=cpu`);
  await page.locator('#model').click();
  await page.getByTestId('delete-prompts').click();
  await expect.poll(() => page.getByTestId('kept-prompts').count()).toBe(0);
});
