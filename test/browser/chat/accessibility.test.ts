// axe-core on the whole interface: the page with its dialogs, drawers and panel, and the embed; light and dark, wide
// and narrow.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installScripted, release, type Script, visitScripted } from '../scripted_engine';
import { answers, ended, openSite, type Site, send } from '../site';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let site: Site;
let axe: string;
let page: Page;

beforeAll(async () => {
  axe = await readFile(AXE, 'utf8');
  site = await openSite({ webgpu: false });
  ({ page } = await visitScripted(site, { answers: [] }));
});

afterAll(() => site?.close());

/** A new conversation on a screen of this size. */
async function open(script: Script, viewport = DESKTOP): Promise<void> {
  await page.setViewportSize(viewport);
  await installScripted(page, script);
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  await expect.poll(() => answers(page).count(), { interval: 10 }).toBe(0);
}

/**
 * axe's serious and critical findings, one per line. In dark mode only contrast is checked, since nothing else changes.
 */
async function findings(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const all = await run(page, {});
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const dark = await run(page, { runOnly: ['color-contrast'] });
  return [...all, ...dark.map((line) => `in dark, ${line}`)];
}

async function run(page: Page, options: RunOptions): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(axe);
  const { violations } = await page.evaluate(
    (options) => {
      const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } };
      return axe.run(options);
    },
    { ...options, resultTypes: ['violations'] as 'violations'[] },
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.flat().join(' ')).join(', ')}`);
}

const TEXT = `# A heading

A paragraph with **strong**, *emphasised* and \`code\` words, and a [link](https://example.com).

| animal | legs |
|---|---|
| cat | 4 |

1. first
2. second

\`\`\`js
const answer = 42;
\`\`\`
`;

for (const [width, viewport] of [
  ['wide', DESKTOP],
  ['on a phone', PHONE],
] as const) {
  test(`the page ${width}: empty, in conversation, its settings, its models, its drawers`, async () => {
    await open({ answers: [{ text: TEXT }] }, viewport);
    expect(await findings(page)).toEqual([]);

    await send(page, 'Tell me about cats');
    expect(await ended(page)).toBe('done');
    expect(await findings(page)).toEqual([]);

    await page.getByTestId('settings').click();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await page.locator('#model').click();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');

    for (const part of viewport === PHONE ? ['#conversations', '#timing'] : ['#timing']) {
      await page.locator(part).click(); // a drawer, or the panel beside the chat
      expect(await findings(page)).toEqual([]);
      if (viewport === PHONE) await page.keyboard.press('Escape');
      else await page.locator(part).click();
    }
  });
}

test('thinking while it runs and afterwards, unfolded; its switch; calls', async () => {
  const calls = [{ name: 'weather', arguments: '{}' }];
  await open({ thinking: 'optional', answers: [{ thought: TEXT, text: TEXT, calls, holdAfter: 40 }] });
  await send(page, 'Think about cats');
  await page.getByTestId('thought').click();
  expect(await findings(page)).toEqual([]);
  await release(page);
  expect(await ended(page)).toBe('done');
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('thinking').click();
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('thinking').click();
});

test('in forced colors every focused element shows a ring', async () => {
  await open({ thinking: 'optional', answers: [{ thought: 'Cats.', text: TEXT }] });
  await send(page, 'Tell me about cats');
  expect(await ended(page)).toBe('done');
  await page.emulateMedia({ forcedColors: 'active' });
  await page.getByTestId('prompt').focus();
  for (let stops = 0; stops < 4; stops++) await page.keyboard.press('Tab'); // to the last one of the dock
  const without: string[] = [];
  const names: string[] = [];
  for (let stops = 0; stops < 60; stops++) {
    const found = await page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      if (!element || element === document.body) return null;
      const ringed = [element, element.parentElement].some((at) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(at!);
        return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
      });
      return { name: element.getAttribute('data-testid') ?? element.id ?? element.localName, ringed };
    });
    if (!found) break;
    names.push(found.name);
    if (!found.ringed) without.push(found.name);
    await page.keyboard.press('Shift+Tab');
  }
  expect(names).toEqual(
    expect.arrayContaining(['thinking', 'settings', 'prompt', 'again', 'copy', 'thought', 'model', 'library-new']),
  );
  expect(without).toEqual([]);
  await page.emulateMedia({ forcedColors: null });
});

test('an answer that failed', async () => {
  const error = { code: 'device-lost', message: 'The GPU device was lost. Load the model again.' };
  await open({ answers: [{ text: TEXT, errorAfter: 3, error }] });
  await send(page, 'Fail');
  expect(await ended(page)).toBe('error');
  expect(await findings(page)).toEqual([]);
});

test('an attached file beside an edited question, and a schema that cannot be used', async () => {
  await open({ answers: [{ text: TEXT, finishReason: 'length' }] });
  await send(page, 'What is in it?');
  expect(await ended(page)).toBe('done');
  await page.getByTestId('edit').first().click();
  await page.getByTestId('attach-files').setInputFiles([
    { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Cats') },
    { name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from([137, 80, 78, 71]) },
  ]);
  await page.getByTestId('attach-complaint').waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('edit-cancel').click();

  await page.getByTestId('settings').click();
  await page.getByTestId('answer-form').selectOption('schema');
  await page.getByTestId('schema').fill('{ "type": "cat" }');
  await page.getByTestId('schema-problem').waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('answer-form').selectOption('text');
  await page.keyboard.press('Escape');
});

test('the list of conversations: found words, the menu, what was deleted', async () => {
  await open({ answers: [{ text: TEXT }] });
  await send(page, 'Tell me about cats');
  expect(await ended(page)).toBe('done');
  await page.getByTestId('library-search').fill('cats');
  await page.getByTestId('library-result').first().waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('library-search-clear').click();
  const row = page.getByTestId('library-row').first();
  await row.hover();
  await row.getByTestId('library-more').click();
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('library-delete').click();
  await page.getByTestId('library-undo').hover(); // under the pointer the note stays
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('library-undo').click();
  await expect.poll(() => answers(page).count()).toBe(1);
});

test('the panel over the whole window', async () => {
  await open({ answers: [{ text: TEXT }] });
  await send(page, 'Tell me about cats');
  expect(await ended(page)).toBe('done');
  await page.locator('#timing').click();
  await page.getByTestId('large-chart').click();
  await page.getByTestId('large').waitFor();
  expect(await findings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.locator('#timing').click();
});

test('the embed, closed and open', async () => {
  const context = await site.browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.url}embed_demo.html`);
  expect(await findings(page)).toEqual([]);
  await page.getByTestId('launcher').click();
  await page.getByTestId('prompt').waitFor();
  expect(await findings(page)).toEqual([]);
  await context.close();
});

test('axe finds a button without a name and text without contrast', async () => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(() => {
    const paragraph = document.createElement('p');
    paragraph.textContent = 'hard to read';
    paragraph.style.color = '#ddd';
    document.body.append(document.createElement('button'), paragraph);
  });
  expect((await run(page, {})).map((line) => line.split(':')[0])).toEqual(['button-name', 'color-contrast']);
});
