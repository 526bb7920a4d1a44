// Runs as documents in the real built page, on a scripted engine: an answer's line opens its run, and the run is
// renamed, kept over a reload, exported, imported, compared and deleted.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitScripted } from '../scripted_engine';
import { lastAnswer, openSite, type Site, send, stateOf, textOf } from '../site';
import { panelReady, showPanel } from './shown_panel';

const SOON = { timeout: 90_000, interval: 20 };
const SCRIPT = { answers: [{ text: 'Once upon a time there was a small dragon. '.repeat(4), gapMs: 4 }] };

let site: Site;

beforeAll(async () => {
  site = await openSite();
});

afterAll(() => site?.close());

test('the line of an answer opens its run, which outlasts the page and travels as a file', async () => {
  const { page, errors } = await visitScripted(site, SCRIPT);
  await panelReady(page);
  const rows = page.getByTestId('run-row');
  const opened = page.getByTestId('opened-run');
  const points = () => page.getByTestId('metrics').getAttribute('data-points');
  for (const question of ['One', 'Two']) {
    await send(page, question);
    await expect.poll(() => stateOf(lastAnswer(page)), SOON).toBe('done');
  }
  await expect.poll(() => rows.count(), SOON).toBe(2);
  const gaps = await points();

  // The first answer's line opens the earlier run.
  await page.getByTestId('timing').first().click();
  await expect.poll(() => textOf(opened)).toContain('Earlier run');
  await expect.poll(() => rows.nth(1).locator('[aria-current=true]').count(), SOON).toBe(1);
  await expect.poll(() => points()).toBe(gaps);

  // By keyboard: renamed.
  await rows.nth(1).getByTestId('open-run').focus();
  await page.keyboard.press('F2');
  await page.getByTestId('run-name').fill('The first one');
  await page.keyboard.press('Enter');
  await expect.poll(() => textOf(rows.nth(1)), SOON).toContain('The first one');

  // Pinned for comparison, and still there after a reload.
  const pin = rows.nth(1).getByTestId('pin-run');
  await pin.click();
  await expect.poll(() => textOf(page.getByTestId('comparison')), SOON).toContain('The first one');
  await expect.poll(() => pin.getAttribute('aria-pressed'), SOON).toBe('true'); // once it is stored
  await page.reload();
  await expect.poll(() => rows.count(), SOON).toBe(2);
  await page.getByTestId('comparison').waitFor();
  await expect.poll(() => textOf(rows.nth(1))).toContain('The first one');
  await showPanel(page);
  await rows.nth(1).getByTestId('open-run').click();
  await expect.poll(() => textOf(opened), SOON).toContain('The first one');
  await expect.poll(() => points()).toBe(gaps);

  // Exported, deleted, put back, deleted, imported.
  const download = page.waitForEvent('download');
  await page.getByTestId('json').click();
  const file = await (await download).path();
  const document = JSON.parse(await readFile(file, 'utf8'));
  expect(document).toMatchObject({ format: 'vivace-run', name: 'The first one', seed: 1 });
  await rows.nth(1).getByTestId('open-run').focus();
  await page.keyboard.press('Delete');
  await expect.poll(() => rows.count(), SOON).toBe(1);
  await page.getByTestId('undo-run').click();
  await expect.poll(() => rows.count(), SOON).toBe(2);
  // Neither a second click nor a key that is held down takes the way back.
  await rows
    .nth(1)
    .getByTestId('delete-run')
    .evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
  await expect.poll(() => rows.count(), SOON).toBe(1);
  await page.getByTestId('undo-run').click();
  await expect.poll(() => rows.count(), SOON).toBe(2);
  await rows.nth(1).getByTestId('open-run').focus();
  await page.keyboard.down('Delete');
  await expect.poll(() => rows.count(), SOON).toBe(1);
  await page.keyboard.down('Delete');
  await page.keyboard.up('Delete');
  await page.getByTestId('undo-run').click();
  await expect.poll(() => rows.count(), SOON).toBe(2);
  await rows.nth(1).getByTestId('delete-run').click();
  await expect.poll(() => rows.count(), SOON).toBe(1);
  const input = page.locator('vivace-runs input[type=file]');
  await input.setInputFiles({ name: 'no.json', mimeType: 'application/json', buffer: Buffer.from('{"a":1}') });
  await expect
    .poll(() => textOf(page.getByTestId('runs-note')), SOON)
    .toBe('This file is not a run that Vivace exported.');
  await input.setInputFiles(file);
  await expect.poll(() => rows.count(), SOON).toBe(2);
  await expect.poll(() => textOf(opened), SOON).toContain('The first one');
  // The same file again makes no second row, also where the list holds the run under another id.
  const note = page.getByTestId('runs-note');
  for (const again of [document, { ...document, id: document.id.replace(/./g, '0') }]) {
    await rows.nth(0).getByTestId('open-run').focus();
    await input.setInputFiles({
      name: 'a.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(again)),
    });
    await expect.poll(() => textOf(note), SOON).toBe('This run is already in the list.');
    await expect.poll(() => rows.nth(1).locator('.open:focus').count(), SOON).toBe(1);
    await input.setInputFiles({ name: 'no.json', mimeType: 'application/json', buffer: Buffer.from('{"a":1}') });
    await expect.poll(() => textOf(note), SOON).toBe('This file is not a run that Vivace exported.');
  }
  const broken = (name: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from('{"a":1}') });
  await input.setInputFiles(['a.json', 'b.json', 'c.json', 'd.json'].map(broken));
  const why = 'This file is not a run that Vivace exported.';
  await expect
    .poll(() => textOf(note), SOON)
    .toBe(`a.json: ${why} b.json: ${why} c.json: ${why} 1 more file was not imported.`);
  // A file that is dropped anywhere on the page is the same file.
  await page.locator('#timing').click();
  await expect.poll(() => page.locator('aside#panel').isVisible(), SOON).toBe(false);
  await page.evaluate((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], 'run.json', { type: 'application/json' }));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, JSON.stringify(document));
  await expect.poll(() => textOf(note), SOON).toBe('This run is already in the list.');
  await expect.poll(() => page.locator('aside#panel').isVisible(), SOON).toBe(true);
  // Nor does a run that never left the list.
  await rows.nth(0).getByTestId('open-run').click();
  await expect.poll(() => rows.nth(0).locator('[aria-current=true]').count(), SOON).toBe(1);
  const saved = page.waitForEvent('download');
  await page.getByTestId('json').click();
  await input.setInputFiles(await (await saved).path());
  await expect.poll(() => textOf(note), SOON).toBe('This run is already in the list.');
  expect(await rows.count()).toBe(2);
  expect(errors.filter((error) => !error.includes('page.gguf'))).toEqual([]);
  await page.context().close();
});
