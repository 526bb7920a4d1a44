// A browser without WebGPU: the page says so once and computes on the CPU.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSite, ready, type Site, sendAndStop, textOf, visit } from './site';

let site: Site;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
});

afterAll(() => site?.close());

test('without WebGPU the CPU answers, with a notice', async () => {
  const { page, strangers } = await visit(site);
  const adapter = await page.evaluate(async () => (await navigator.gpu?.requestAdapter()) ?? null);
  expect(adapter, 'this browser should have no WebGPU adapter').toBeNull();
  await ready(page);
  expect(await textOf(page.getByTestId('notice').first())).toMatch(/CPU/i);
  expect(await sendAndStop(page, 'Tell me a story about a bear')).toBe('done');
  expect(await textOf(page.getByTestId('metrics').locator('[data-figure=backend]'))).toBe('cpu');
  expect(strangers).toEqual([]);
});
