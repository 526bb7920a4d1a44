// An attention kernel or a decode step forced in the page's address: it answers and the panel names it, or an error
// offers a way back.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ended,
  lastAnswer,
  openSite,
  progress,
  ready,
  type Site,
  send,
  setting,
  stateOf,
  textOf,
  visit,
} from '../site';

const SIBLINGS = ['cpu', 'eager', 'chunked', 'flash_prefill', 'flash_prefill_q8', 'fused_decode', 'split_kv_decode'];

let site: Site;

beforeAll(async () => {
  site = await openSite();
});

afterAll(() => site?.close());

const attentionOf = (page: Page, what: string) =>
  textOf(page.getByTestId('metrics').locator(`[data-figure=attention-${what}]`));

// The only kernel that needs the page's CPU in each layer. bench.test.ts forces the others.
test('?attention=cpu answers, and the panel names the kernel and the reason', async () => {
  const { page, errors } = await visit(site, '?attention=cpu&context=256');
  await ready(page);
  await setting(page, 'temperature', '0');
  await setting(page, 'maxTokens', '6');
  await send(page, 'Tell me a story about a cat');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(lastAnswer(page))).toMatch(/\w/);
  await expect
    .poll(async () => [await attentionOf(page, 'prefill'), await attentionOf(page, 'decode')])
    .toEqual(['cpu', 'cpu']);
  await expect.poll(() => attentionOf(page, 'reason')).toContain('asked for by name');
  await expect.poll(() => page.getByTestId('tune').isDisabled()).toBe(true);
  await expect.poll(() => page.getByTestId('tune').getAttribute('title')).toContain('cpu by name');
  expect(errors).toEqual([]);
  await page.context().close();
});

test('the settings list and describe all seven kernels', async () => {
  const { page } = await visit(site, '?backend=cpu');
  await page.getByTestId('settings').click();
  const options = await page.locator('select#attention option').allTextContents();
  expect(options.map((text) => text.split(':')[0]?.trim())).toEqual(['auto', ...SIBLINGS]);
  expect(options.every((text) => /: \w.{10,}/.test(text))).toBe(true);
  await page.locator('select#attention').selectOption('eager');
  await expect.poll(() => textOf(page.locator('#attention-help:visible'))).toContain('unfused baseline');
  await page.context().close();
});

test('a kernel that cannot run is an error, and one click goes back to auto', async () => {
  const { page } = await visit(site, '?attention=eager&backend=cpu');
  await expect.poll(() => stateOf(progress(page)), { timeout: 90_000 }).toBe('error');
  await expect.poll(() => textOf(progress(page))).toMatch(/"eager" cannot run here: .*cpu backend.*Auto/s);
  await page.getByTestId('load-auto-attention').click();
  await ready(page);
  expect(new URL(page.url()).search).toBe('?backend=cpu');
  await page.context().close();
});

test('a decode step that cannot run is an error, and the settings go back to auto', async () => {
  const { page } = await visit(site, '?step=fused&backend=cpu');
  await expect.poll(() => stateOf(progress(page)), { timeout: 90_000 }).toBe('error');
  await expect
    .poll(() => textOf(progress(page)))
    .toMatch(/"fused" cannot run here: the CPU has no fused step.*settings/s);
  await page.getByTestId('settings').click();
  await page.locator('select#step').selectOption('auto');
  await page.getByTestId('reload').click();
  await page.keyboard.press('Escape');
  await ready(page);
  expect(new URL(page.url()).search).toBe('?backend=cpu');
  await expect.poll(() => textOf(page.getByTestId('metrics').locator('[data-figure=step]'))).toBe('plain');
  await page.context().close();
});
