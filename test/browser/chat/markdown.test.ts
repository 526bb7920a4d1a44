// Code, math, tables and footnotes of an answer in a real page, under its strict policy: what is drawn, and what a
// selection copies.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitScripted } from '../scripted_engine';
import { ended, lastAnswer, openSite, type Site, screenshot, send } from '../site';

const ANSWER = [
  'The roots of $ax^2 + bx + c$ cost $5 and $6, said Euler[^1]:',
  '',
  '$$x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}$$',
  '',
  '```python',
  '# Both roots.',
  'def roots(a, b, c):',
  '    return [(-b + s * (b * b - 4 * a * c) ** 0.5) / (2 * a) for s in (1, -1)], "done"',
  '```',
  '',
  '| who | how many |',
  '|:--|--:|',
  '| cats | 12 |',
  '| dogs | 7 |',
  '',
  '[^1]: Or somebody else.',
].join('\n');

let site: Site;
let page: Page;
let errors: string[];

beforeAll(async () => {
  site = await openSite();
  ({ page, errors } = await visitScripted(site, { answers: [{ text: ANSWER }] }));
});

afterAll(() => site?.close());

const text = () => lastAnswer(page).locator('.text').last();

test('formulas are drawn, money stays money, and nothing is refused by the policy', async () => {
  await send(page, 'Go');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => text().locator('math').count()).toBe(2);
  const heights = await text()
    .locator('mfrac, msqrt, math')
    .evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().height));
  for (const height of heights) expect(height).toBeGreaterThan(10);
  await expect.poll(() => text().locator('p').first().innerText()).toContain('cost $5 and $6');
  expect(errors).toEqual([]);
});

test('code has colors, and numbers stand right', async () => {
  await expect.poll(() => text().locator('.code-keyword').allTextContents()).toContain('return');
  const colors = await text()
    .locator('.code-keyword, .code-string, .code-comment')
    .evaluateAll((nodes) => new Set(nodes.map((node) => getComputedStyle(node).color)).size);
  expect(colors).toBe(3);
  expect(
    await text()
      .locator('td')
      .nth(1)
      .evaluate((cell) => getComputedStyle(cell).textAlign),
  ).toBe('right');
  await screenshot(page, 'markdown_light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await screenshot(page, 'markdown_dark');
});

test('a selection copies the source of a formula once', async () => {
  const copied = await text().evaluate((element) => {
    getSelection()?.selectAllChildren(element.querySelector('p')!);
    return String(getSelection());
  });
  // Chromium ends a line after MathML, though nothing of it can be selected. Markdown reads that as a space.
  expect(copied.replace(/\s+/g, ' ')).toMatch(/^The roots of \$ax\^2 \+ bx \+ c\$ cost \$5 and \$6/);
});

test('a footnote takes the focus, and gives it back', async () => {
  await text().getByRole('button', { name: 'Footnote 1' }).click();
  const focused = () => text().evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement?.className);
  await expect.poll(() => focused()).toBe('note-back');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused()).toBe('note');
});
