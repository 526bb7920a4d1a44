// Nothing leaves the machine: once the model is loaded, no action on the page causes a request.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { begun, ended, openSite, prompt, ready, type Site, send, setting, textOf, visit } from '../site';

let site: Site;

beforeAll(async () => {
  site = await openSite();
});

afterAll(() => site?.close());

test('after the load no request is sent to any host', async () => {
  const { page, errors } = await visit(site, '?backend=cpu');
  await ready(page);
  const asked: string[] = [];
  page.context().on('request', (request) => asked.push(request.url()));
  page.on('websocket', (socket) => asked.push(socket.url()));

  await setting(page, 'maxTokens', '12');
  await send(page, 'My name is Ada. Tell me a story about ![a picture](https://example.com/x.png)');
  await begun(page);
  expect(await ended(page)).toBe('done');
  await page.getByTestId('again').last().click();
  await expect.poll(() => page.getByTestId('stop').count(), { timeout: 90_000 }).toBe(0);
  await page.getByTestId('new-conversation').first().click();
  await prompt(page).fill('https://example.com/y.png');
  await page.locator('#theme').click();
  expect(asked.filter((url) => !url.startsWith('blob:'))).toEqual([]);
  expect(errors).toEqual([]);

  // Proves that the test would see a request.
  await page.evaluate(() => fetch('favicon.svg').then((response) => response.text()));
  expect(asked).toEqual([`${site.url}favicon.svg`]);
  await page.context().close();
});

test('the page says so', async () => {
  const { page } = await visit(site, '?backend=cpu');
  await expect
    .poll(() => textOf(page.locator('footer.foot')))
    .toBe('Runs entirely on your device. Nothing you type leaves it.');
  await page.context().close();
});
