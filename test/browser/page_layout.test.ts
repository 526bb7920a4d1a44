// The shape of the page: its header, the panel's place and width, drawers, and windows from 320 to 1440 pixels. One
// page with a scripted engine is resized.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installScripted, release, type Script, visitScripted } from './scripted_engine';
import { begun, ended, openSite, type Site, send, textOf } from './site';

const SOON = { timeout: 10_000, interval: 20 };
const WIDE = { width: 1440, height: 900 };
const LAPTOP = { width: 1024, height: 768 };
const PHONE = { width: 390, height: 844 };
const ANSWER = 'The wind was strong, and Tom was not afraid. '.repeat(8);

let site: Site;
let page: Page;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  ({ page } = await visitScripted(site, { answers: [] }, WIDE));
});

afterAll(() => site?.close());

const widthOf = async (selector: string) => Math.round((await page.locator(selector).boundingBox())?.width ?? 0);
const isShown = (selector: string) => page.locator(selector).isVisible();
const focused = () => page.evaluate(() => document.activeElement?.id ?? '');
const kept = () => page.evaluate(() => localStorage.getItem('vivace-panel'));

async function talk(script: Script): Promise<void> {
  await installScripted(page, script);
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  await send(page, 'Tell me a story');
}

test('a person finds the panel closed; the button opens it, and an empty one is one sentence', async () => {
  expect([await isShown('#shelf'), await isShown('aside#panel'), await isShown('#edge')]).toEqual([true, false, false]);
  await page.locator('#timing').click();
  expect(await page.locator('#timing').getAttribute('aria-expanded')).toBe('true');
  const panel = page.locator('aside#panel');
  expect(await panel.getByTestId('invitation').isVisible()).toBe(true);
  expect(await panel.getByTestId('plot').isVisible()).toBe(false);
  expect(await panel.locator('dd:visible', { hasText: '–' }).count()).toBe(0);
  await page.locator('#timing').click();
  expect(await isShown('aside#panel')).toBe(false);
});

test('the width of the panel follows keyboard and pointer, within bounds, and is kept with its state', async () => {
  await page.locator('#timing').click();
  const before = await widthOf('aside#panel');
  await page.locator('#edge').focus();
  await page.keyboard.press('ArrowLeft');
  expect(await widthOf('aside#panel')).toBe(before + 16);
  await page.keyboard.press('Home');
  expect([await widthOf('aside#panel'), await page.locator('#edge').getAttribute('aria-valuenow')]).toEqual([
    320,
    '320',
  ]);
  await page.keyboard.press('End');
  expect(String(await widthOf('aside#panel'))).toBe(await page.locator('#edge').getAttribute('aria-valuemax'));
  const edge = await page.locator('aside#panel').boundingBox();
  await page.mouse.move(edge?.x ?? 0, 300);
  await page.mouse.down();
  await page.mouse.move(WIDE.width - 500, 300);
  await page.mouse.up();
  expect(Math.abs((await widthOf('aside#panel')) - 500)).toBeLessThanOrEqual(2);
  const width = await widthOf('aside#panel');
  await page.mouse.move(600, 300); // the edge is let go
  expect(await widthOf('aside#panel')).toBe(width);
  expect(JSON.parse((await kept()) ?? '')).toEqual({ isOpen: true, width });
});

test('list, chat and panel fit a window of 1024 pixels', async () => {
  await page.setViewportSize(LAPTOP);
  expect([await isShown('#shelf'), await isShown('aside#panel'), await isShown('#conversations')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(await widthOf('vivace-chat')).toBeGreaterThanOrEqual(380);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});

test('on a phone both are drawers: the page behind takes nothing, and closing gives the focus back', async () => {
  await page.setViewportSize(PHONE);
  const shown = async () => [await isShown('#shelf'), await isShown('aside#panel')];
  await expect.poll(shown, SOON).toEqual([false, false]);
  for (const [opener, drawer] of [
    ['conversations', 'shelf'],
    ['timing', 'panel'],
  ]) {
    const isOpen = async () => [await isShown(`main > #${drawer}`), await isShown('#scrim')];
    const chatIsInert = () => page.evaluate(() => document.querySelector('vivace-chat')?.inert);
    await page.locator(`#${opener}`).click();
    expect([...(await isOpen()), await chatIsInert(), await focused()]).toEqual([true, true, true, `close-${drawer}`]);
    await page.keyboard.press('Escape');
    await expect.poll(isOpen, SOON).toEqual([false, false]);
    expect([await chatIsInert(), await focused()]).toEqual([false, opener]);

    await page.locator(`#${opener}`).click();
    const beside = drawer === 'shelf' ? PHONE.width - 8 : 8;
    await page.mouse.click(beside, 500);
    await expect.poll(isOpen, SOON).toEqual([false, false]);
    expect(await focused()).toBe(opener);
  }
  // A window that grows has room, and nothing stays inert.
  await page.locator('#conversations').click();
  await page.setViewportSize(WIDE);
  await expect.poll(() => page.evaluate(() => document.querySelectorAll('[inert]').length), SOON).toBe(0);
  expect([await isShown('#shelf'), await isShown('aside#panel'), await isShown('#scrim')]).toEqual([true, true, false]);
});

test('the note swings while tokens come, rests afterwards, and the rate stands beside it', async () => {
  const swings = () => page.locator('#mark:is(.left, .right)').count();
  await talk({ answers: [{ text: ANSWER, holdAfter: 20 }] });
  await begun(page);
  await expect.poll(swings, SOON).toBe(1);
  await release(page);
  expect(await ended(page)).toBe('done');
  await expect.poll(swings, SOON).toBe(0);
  expect(await textOf(page.locator('#tempo'))).toMatch(/^= [\d.]+ tok\/s$/);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(() => document.getElementById('mark')?.classList.add('left'));
  const transform = () => page.locator('#mark').evaluate((mark) => getComputedStyle(mark).transform);
  await expect.poll(transform, SOON).toBe('none'); // a swing under way comes to its end
  await page.emulateMedia({ reducedMotion: null });
});

test('the button names a model only while one loads or runs', async () => {
  expect(await textOf(page.locator('#model-name'))).toBe('Choose a model'); // the page's own load failed
});

test('the panel opens as it was left, and anything else that is stored leaves it closed', async () => {
  const reopened = async (state: string) => {
    await page.evaluate((state) => localStorage.setItem('vivace-panel', state), state);
    await page.reload();
    await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
    return (await isShown('aside#panel')) ? widthOf('aside#panel') : null;
  };
  expect(await reopened('{"isOpen":true,"width":444}')).toBe(444);
  expect(await reopened('{"isOpen":"yes","width":1e9}')).toBe(null);
});
