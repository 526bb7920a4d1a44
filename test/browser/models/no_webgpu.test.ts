// A browser without WebGPU: the page says so once and computes on the CPU, which answers and goes on with what was cut.
// The page lies in a folder of its host, as on GitHub Pages.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  begun,
  ended,
  lastAnswer,
  openSite,
  ready,
  type Site,
  send,
  sendAndStop,
  setting,
  textOf,
  type Visit,
  visit,
} from '../site';

let site: Site;
let visited: Visit;

beforeAll(async () => {
  site = await openSite({ webgpu: false, folder: 'vivace/' });
  visited = await visit(site);
});

afterAll(() => site?.close());

test('without WebGPU the CPU answers, with a notice', async () => {
  const { page, strangers } = visited;
  const adapter = await page.evaluate(async () => (await navigator.gpu?.requestAdapter()) ?? null);
  expect(adapter, 'this browser should have no WebGPU adapter').toBeNull();
  await ready(page);
  await expect.poll(() => textOf(page.getByTestId('notice').first())).toMatch(/CPU/i);
  expect(await sendAndStop(page, 'Tell me a story about a bear')).toBe('done');
  await expect.poll(() => textOf(page.getByTestId('metrics').locator('[data-figure=backend]'))).toBe('cpu');
  expect(strangers).toEqual([]);
});

test('the storyteller goes on with a cut answer, word for word as if it had not been cut', async () => {
  const { page } = visited;
  const story = () => textOf(lastAnswer(page).locator('.text'));
  const ask = async (question: string, most: string) => {
    await setting(page, 'maxTokens', most);
    await send(page, question);
    expect(await ended(page)).toBe('done');
  };
  await page.getByTestId('new-conversation').click();
  await setting(page, 'temperature', '0');
  await ask('Tell me a story about a brave cat', '40');
  const whole = await story();
  await page.getByTestId('new-conversation').click();
  await ask('Tell me a story about a brave cat', '15');
  const part = await story();
  await setting(page, 'maxTokens', '25');
  await page.getByTestId('continue').click();
  await expect.poll(async () => (await story()).length).toBeGreaterThan(part.length);
  expect(await ended(page)).toBe('done');
  expect(part.length).toBeLessThan(whole.length);
  expect(await story()).toBe(whole);
});

test('in its folder the page is kept whole, and answers without a network after it was opened once', async () => {
  const { page, errors } = visited;
  const { scope } = await page.evaluate(async () => ({ scope: (await navigator.serviceWorker.ready).scope }));
  expect(new URL(scope).pathname).toBe('/vivace/');
  await page.context().setOffline(true);
  await page.reload();
  await ready(page);
  await page.getByTestId('new-conversation').click();
  await send(page, 'Tell me a story about a fox');
  await begun(page);
  expect(await ended(page)).toBe('done');
  expect(errors).toEqual([]);
});
