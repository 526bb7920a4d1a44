// `?bench=NAME` in the real built page, with a tiny model on the CPU: nothing runs unasked, the card's figures can be
// copied and saved, and nothing of it is loaded otherwise.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSite, type Site, screenshot, textOf, visit } from '../site';

const SOON = { timeout: 90_000, interval: 20 };
const MODEL = '?model=chain/&backend=cpu';

let site: Site;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
});

afterAll(() => site?.close());

test('a press of the button measures, and the card can be sent to somebody', async () => {
  const { page, errors } = await visit(site, `${MODEL}&bench=quick`);
  const card = page.getByTestId('bench');
  const state = () => card.getAttribute('data-state');
  const run = page.getByTestId('run-bench');
  await expect.poll(() => run.isEnabled(), SOON).toBe(true);
  expect(await state()).toBe('idle'); // a link must not use somebody's battery by itself
  await expect.poll(() => textOf(card)).toContain('3 runs of 32 tokens after a prompt of 16');
  await expect.poll(() => textOf(card)).toContain('Uses the processor for a while'); // the cpu backend
  await run.click();
  await expect.poll(state, SOON).toBe('done');
  await expect.poll(() => textOf(card.locator('[data-figure=decode]'))).toMatch(/tok\/s.* – .*tok\/s/s);
  await expect.poll(() => textOf(card.locator('.machine'))).toMatch(/cpu.*Chrome \d+/s);
  await screenshot(page, 'bench_card');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByTestId('copy-link').click();
  await expect.poll(() => textOf(card.getByRole('status')), SOON).toBe('Copied.');
  expect(await copied()).toBe(page.url());
  await page.getByTestId('copy-text').click();
  await expect.poll(copied, SOON).toMatch(/^Vivace quick: 16 \+ 32 tokens, 3 runs[\s\S]*Decode: [\s\S]*bench=quick$/);
  const downloading = page.waitForEvent('download');
  await page.getByTestId('save-bench').click();
  const report = JSON.parse(await readFile(await (await downloading).path(), 'utf8'));
  expect(report).toMatchObject({ format: 'vivace-bench', name: 'quick', times: 3, tokens: 32 });
  expect(report.samples).toHaveLength(3);
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined })); // as without https
  await page.getByTestId('copy-link').click();
  await expect.poll(() => textOf(card.getByRole('status')), SOON).toBe('The browser did not allow copying.');
  await card.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => card.count()).toBe(0);
  expect(errors).toEqual([]);
  await page.context().close();
});

test('an unknown name lists the known ones; a page without the parameter loads nothing of the card', async () => {
  const { page } = await visit(site, `${MODEL}&bench=${encodeURIComponent('<b>warp')}`);
  const card = page.getByTestId('bench');
  await expect.poll(() => textOf(card), SOON).toContain('There is no measurement of this name');
  await expect.poll(() => textOf(card.locator('h2'))).toContain('<b>warp');
  await expect.poll(() => card.locator('a').allTextContents()).toContain('decode-128');
  await expect.poll(() => card.locator('a').first().getAttribute('href')).toContain('backend=cpu');
  await page.context().close();
  const other = await visit(site, MODEL);
  await other.page.getByTestId('prompt').waitFor();
  expect(await other.page.evaluate(() => customElements.get('vivace-bench') === undefined)).toBe(true);
  const scripts = await other.page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(scripts.filter((name) => /bench_card/.test(name))).toEqual([]);
  await other.page.context().close();
});
