// The parts of the page that come right after its first paint: a reader who is faster than they are gets what was
// asked for as soon as it is here, and nothing on the page moves.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSite, type Site } from '../site';

let site: Site;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
});

afterAll(() => site?.close());

/** The page, whose late parts wait for `release`. */
async function openSlow() {
  const context = await site.browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/(?:page|list)_parts-/, async (route) => {
    await held;
    await route.continue();
  });
  const asked = ['page_parts', 'list_parts'].map((part) =>
    page.waitForRequest((request) => request.url().includes(part)),
  );
  await page.goto(`${site.url}?model=/page.gguf`);
  await Promise.all(asked); // by themselves
  await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
  return { page, errors, release };
}

test('what is asked for before it is here comes as soon as it is, and nothing moves', async () => {
  const { page, errors, release } = await openSlow();
  const buttons = () =>
    Promise.all(['attach', 'new-conversation'].map((id) => page.getByTestId(id).first().boundingBox()));
  const isThere = (name: string) => page.evaluate((element) => customElements.get(element) !== undefined, name);
  await expect.poll(() => isThere('vivace-settings')).toBe(false);

  await page.getByTestId('library-search').fill('dragon');
  await page.locator('#model').click();
  await expect.poll(() => page.locator('dialog[open]').count()).toBe(0);
  const offered = () =>
    page
      .locator('vivace-next-step')
      .evaluate((step) => Boolean((step as HTMLElement & { offers?: { machine?: unknown } }).offers?.machine));
  await expect.poll(offered).toBe(true);
  // What the page writes after the error may still move them: a trial waits until they stand.
  for (const id of ['attach', 'new-conversation']) await page.getByTestId(id).first().hover({ trial: true });
  const before = await buttons();
  release();
  await page.locator('vivace-models dialog[open]').waitFor();
  await page.getByTestId('library-searched').getByText('No conversation').waitFor();
  await expect.poll(() => isThere('vivace-settings')).toBe(true);
  await expect.poll(() => buttons()).toEqual(before);

  await page.keyboard.press('Escape');
  await page.getByTestId('settings').click();
  await page.getByTestId('system').waitFor();
  expect(errors).toEqual([]);
  await page.context().close();
});
