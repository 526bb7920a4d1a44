// `npm run take-pictures [-- --out FOLDER]`: takes the README's pictures of the page, the panel and the script tag on
// this machine.

import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium } from '../lib/browser/chromium';
import { DIST, ensureBuilt } from '../lib/bundle/dist';
import { runTool } from '../lib/command_line/terminal';
import { ROOT } from '../lib/ensure.mjs';
import { serve } from '../lib/serve';

const FLAGS = { out: { kind: 'text', value: 'FOLDER', help: 'default test/browser/screenshots' } } as const;

const WITHIN_MS = 120_000;
const DESKTOP = { width: 1280, height: 800 };
const TALL = { width: 1280, height: 1000 };
const PHONE = { width: 360, height: 740 };
const HOST = { width: 900, height: 720 };
const STORIES = ['a brave cat', 'a sleepy bear', 'a kind dragon'].map((who) => `Tell me a story about ${who}`);

const canSend = (page: Page) =>
  page.waitForFunction(() => document.querySelector('vivace-chat')?.engine, null, { timeout: WITHIN_MS });

/** Waits for the end of the newest answer. */
const answered = (page: Page) =>
  page
    .locator('[data-testid=message][data-role=assistant][data-state=done][aria-busy=false]')
    .last()
    .waitFor({ timeout: WITHIN_MS });

/** Asks in a conversation of its own. */
async function ask(page: Page, question: string) {
  await page.getByTestId('library-new').click();
  await page.getByTestId('prompt').fill(question);
  await page.getByTestId('send').click();
  await answered(page);
}

async function look(page: Page, colorScheme: 'light' | 'dark', viewport: { width: number; height: number }) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
  await page.mouse.move(0, 0);
}

async function takePage(page: Page, file: (name: string) => string) {
  await canSend(page);
  for (const story of STORIES) await ask(page, story);
  await page.locator('#timing').click();
  await look(page, 'light', DESKTOP);
  await page.screenshot({ path: file('light') });
  await look(page, 'light', TALL);
  await page.locator('aside#panel').screenshot({ path: file('panel_light') });
  await look(page, 'light', PHONE);
  await page.screenshot({ path: file('phone') });
}

/** One question to two attentions, each with an empty cache: all figures can be compared. */
async function takeComparison(page: Page, file: (name: string) => string) {
  const [story] = STORIES.slice(-1);
  await canSend(page);
  await page.locator('#timing').click();
  await ask(page, story ?? '');
  await page.getByTestId('pin').click();
  await page.getByTestId('settings').click();
  await page.locator('select#attention').selectOption('eager');
  await page.getByTestId('reload').click();
  await page.keyboard.press('Escape');
  await page.waitForFunction(
    () => document.querySelector('vivace-chat')?.engine?.info.attention.decode === 'eager',
    null,
    {
      timeout: WITHIN_MS,
    },
  );
  await ask(page, story ?? '');
  await look(page, 'dark', TALL);
  await page.screenshot({ path: file('dark') });
  await page.locator('aside#panel').screenshot({ path: file('panel_dark') });
  await look(page, 'light', PHONE);
  await page.getByRole('button', { name: 'Timing' }).click();
  await page.getByTestId('view-histogram').click();
  await page.screenshot({ path: file('panel_phone') });
}

async function takeTag(page: Page, file: (name: string) => string) {
  await page.getByTestId('launcher').click();
  await page.getByTestId('example').first().click({ timeout: WITHIN_MS });
  await answered(page);
  for (const scheme of ['light', 'dark'] as const) {
    await look(page, scheme, HOST);
    await page.screenshot({ path: file(`embed_${scheme}`) });
  }
  await look(page, 'light', PHONE);
  await page.screenshot({ path: file('embed_phone') });
}

await runTool('npm run take-pictures --', FLAGS, async ({ out = 'test/browser/screenshots' }) => {
  await ensureBuilt();
  const folder = path.resolve(ROOT, out);
  const file = (name: string) => path.join(folder, `${name}.png`);
  const server = await serve({ mounts: { '/': DIST } });
  const browser = await launchChromium();
  const scenes = [
    ['', takePage],
    ['', takeComparison],
    ['embed_demo.html', takeTag],
  ] as const;
  try {
    for (const [address, take] of scenes) {
      const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' });
      context.setDefaultTimeout(WITHIN_MS);
      const page = await context.newPage();
      await page.goto(server.url + address);
      await take(page, file);
      await context.close();
    }
  } finally {
    await browser.close();
    await server.close();
  }
  console.log(`Nine pictures are in ${folder}.`);
});
