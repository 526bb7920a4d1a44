// A long system prompt is there after a reload, in a real browser: the answer is the same, the page shows what is kept,
// and what a person deletes is gone.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as Vivace from '../../src/engine/engine';
import { openSite, type Site, visit } from './site';

interface PageWindow extends Window {
  vivace: typeof Vivace;
}

const MODEL = 'models/storyteller/storyteller-q8_0.gguf';
const SYSTEM = 'You tell stories of a brave cat that sails over the wide sea. '.repeat(17); // a few more than 256 tokens
/** Bytes of 128 tokens. */
const PIECE = 1_048_616;

let site: Site;
let page: Page;
beforeAll(async () => {
  site = await openSite({ webgpu: false });
  ({ page } = await visit(site, 'favicon.svg'));
});
afterAll(() => site?.close());

/** Opens a page anew, with only the package. */
async function openBare(): Promise<void> {
  await page.goto(`${site.url}embed_demo.html`);
  const content = `import * as vivace from '${site.url}lib/vivace.js'; window.vivace = vivace;`;
  await page.addScriptTag({ type: 'module', content });
  await page.waitForFunction(() => 'vivace' in window);
}

/** Loads the model and answers once. The worker stays, so that it may write. */
const answer = () =>
  page.evaluate(
    async ({ model, system }) => {
      const { vivace } = window as unknown as PageWindow;
      const engine = await vivace.Engine.load(model, { backend: 'cpu', contextLength: 512 });
      const messages = [
        { role: 'system', content: system },
        { role: 'user', content: 'And now?' },
      ] as const;
      let text = '';
      for await (const event of engine.chat(messages, { temperature: 0, maxTokens: 4 })) {
        if (event.type === 'token' || event.type === 'done') text += event.text;
        if (event.type === 'done') return { text, ...event.usage, report: event.metrics.cache?.report };
      }
      throw new Error('no end');
    },
    { model: MODEL, system: SYSTEM },
  );

const bytes = () => page.evaluate(() => (window as unknown as PageWindow).vivace.storedPromptBytes());

test('a reload finds the system prompt, the page shows and deletes it', async () => {
  await openBare();
  const first = await answer();
  expect(first).toMatchObject({ report: 'new', cachedTokens: 0 });
  await expect.poll(bytes).toBe(2 * PIECE);
  await openBare();
  const again = await answer();
  expect(again).toMatchObject({ text: first.text, report: 'stored', storedTokens: 256 });
  await page.goto(`${site.url}?backend=cpu`);
  await page.locator('#model').click();
  await page.getByTestId('delete-prompts').click();
  await expect.poll(() => page.getByTestId('kept-prompts').count()).toBe(0);
});
