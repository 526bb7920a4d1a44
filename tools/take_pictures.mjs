// `node tools/take_pictures.mjs [--out FOLDER]`: takes the README's pictures of the page, the panel and the script tag on this machine.

import path from 'node:path';
import { DIST, ensureBuilt } from './lib/build.mjs';
import { ROOT } from './lib/ensure.mjs';
import { serve } from './lib/serve.mjs';
import { toolMain } from './lib/tool_main.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** @type {Record<string, import('./lib/flags.mjs').Flag>} */
const FLAGS = { out: { kind: 'text', value: 'FOLDER', help: 'default test/browser/screenshots' } };

const WITHIN_MS = 120_000;
const DESKTOP = { width: 1280, height: 800 };
const TALL = { width: 1280, height: 1000 };
const PHONE = { width: 360, height: 740 };
const HOST = { width: 900, height: 720 };
const STORIES = ['a brave cat', 'a sleepy bear', 'a kind dragon'].map((who) => `Tell me a story about ${who}`);

/** @param {Page} page */
const canSend = (page) =>
  page.waitForFunction(() => document.querySelector('vivace-chat')?.engine, null, { timeout: WITHIN_MS });

/** Waits for the end of the newest answer. @param {Page} page */
const answered = (page) =>
  page.locator('[data-testid=message][data-role=assistant][data-state=done]').last().waitFor({ timeout: WITHIN_MS });

/** Asks in a conversation of its own. @param {Page} page @param {string} question */
async function ask(page, question) {
  await page.getByTestId('library-new').click();
  await page.getByTestId('prompt').fill(question);
  await page.getByTestId('send').click();
  await answered(page);
}

/** @param {Page} page @param {'light' | 'dark'} colorScheme @param {{ width: number, height: number }} viewport */
async function look(page, colorScheme, viewport) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
  await page.mouse.move(0, 0);
}

/** @param {Page} page @param {(name: string) => string} file */
async function takePage(page, file) {
  await canSend(page);
  for (const story of STORIES) await ask(page, story);
  await look(page, 'light', DESKTOP);
  await page.screenshot({ path: file('light') });
  await look(page, 'light', TALL);
  await page.locator('aside#panel').screenshot({ path: file('panel_light') });
  await look(page, 'light', PHONE);
  await page.screenshot({ path: file('phone') });
}

/** One question to two attentions, each with an empty cache: all figures can be compared. @param {Page} page @param {(name: string) => string} file */
async function takeComparison(page, file) {
  const [story] = STORIES.slice(-1);
  await canSend(page);
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

/** @param {Page} page @param {(name: string) => string} file */
async function takeTag(page, file) {
  await page.getByTestId('launcher').click();
  await page.getByTestId('example').first().click({ timeout: WITHIN_MS });
  await answered(page);
  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    await look(page, scheme, HOST);
    await page.screenshot({ path: file(`embed_${scheme}`) });
  }
  await look(page, 'light', PHONE);
  await page.screenshot({ path: file('embed_phone') });
}

/** @param {import('./lib/flags.mjs').Values} flags */
async function main(flags) {
  await ensureBuilt();
  const { launchChromium } = await import('./lib/chromium.mjs');
  const folder = path.resolve(ROOT, String(flags.out ?? 'test/browser/screenshots'));
  const file = (/** @type {string} */ name) => path.join(folder, `${name}.png`);
  const server = await serve({ mounts: { '/': DIST } });
  const browser = await launchChromium();
  const scenes = /** @type {const} */ ([
    ['', takePage],
    ['', takeComparison],
    ['embed_demo.html', takeTag],
  ]);
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
}

await toolMain('node tools/take_pictures.mjs', FLAGS, main);
