// The models that the page offers, from the first screen to an answer, with a list of our own and a hub on this machine:
// get, cancel, resume, run, find it downloaded after a reload; what does not fit, and an entry that is wrong.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../../tools/lib/ensure.mjs';
import type { Handler } from '../../../tools/lib/serve';
import { type FakeHub, fakeHub } from '../../storage/fake_hub';
import { ended, openSite, progress, prompt, ready, type Site, screenshot, send, setting, textOf, visit } from '../site';

const FILE = 'storyteller-q8_0.gguf';
const PIECE = 4 * 1024 * 1024;
const SOON = { timeout: 30_000, interval: 20 };

let site: Site;
let hub: FakeHub;
let page: Page;
let errors: string[];
let size: number;

const license = { name: 'MIT', url: 'https://opensource.org/license/mit' };
const shape = { layers: 8, kvHeads: 2, headDim: 64, contextLength: 1024, license, unverified: ['Not run by anyone.'] };
const small = { ...shape, parameters: 14_162_304, downloadBytes: 15_201_408, bytesPerToken: 15_066_624 };
const large = { ...shape, parameters: 9e9, downloadBytes: 5e9, bytesPerToken: 5e9 };

function listOf(commit: string): string {
  const hosted = (id: string, name: string, repository: string, revision: string, about: string, sizes: object) => ({
    ...sizes,
    id,
    name,
    repository,
    revision,
    file: FILE,
    about: { en: about },
  });
  return JSON.stringify({
    models: [
      {
        ...small,
        id: 'storyteller',
        name: 'Storyteller',
        url: `models/storyteller/${FILE}`,
        tells: 'stories',
        about: { en: 'A tiny model that tells bedtime stories.' },
        unverified: [],
      },
      hosted('short', 'Short Tales', 'tales/short', commit, 'Answers everything with a tale.', small),
      hosted('huge', 'Huge Tales', 'tales/huge', commit, 'Knows all tales there are.', large),
      hosted('gone', 'Lost Tales', 'tales/gone', '0'.repeat(40), 'Nobody knows where it is.', {
        ...small,
        parameters: 15e6,
      }),
      hosted('../x', 'Broken', 'tales/broken', commit, 'Left out.', small),
    ],
  });
}

beforeAll(async () => {
  hub = await fakeHub();
  const file = new Uint8Array(await readFile(path.join(ROOT, 'public/models/storyteller', FILE)));
  for (let at = PIECE / 2; at < file.length; at += PIECE) file[at] ^= 1; // other pieces than the storyteller's
  size = file.length;
  const list = listOf(hub.push('tales/short', { 'README.md': '#', [FILE]: file }));
  const answer: Handler = (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(list);
  site = await openSite({ webgpu: false, handlers: { '/catalogue.json': answer } });
  const address = `?backend=cpu&hub=${encodeURIComponent(hub.url)}`;
  ({ page, errors } = await visit(site, address, { width: 1280, height: 900 }));
});

afterAll(async () => {
  await site?.close();
  hub?.close();
});

const card = (id: string) => page.locator(`[data-testid=card][data-id=${id}]`);
const named = () => textOf(page.locator('#model-name'));
const stateOf = (id: string) => card(id).getAttribute('data-state');

/** Pieces of models in the browser's file system. */
const pieces = () =>
  page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('vivace-pieces');
    let n = 0;
    for await (const [name] of folder.entries()) if (name.length === 64) n++;
    return n;
  });

async function openDialog(): Promise<void> {
  await page.locator('#model').click();
  await card('short').waitFor();
}

test('the first screen says what this is, names the model in words, and offers the next step', async () => {
  await ready(page);
  await expect
    .poll(() => textOf(page.getByTestId('lead')))
    .toBe('A chat that runs on your own device. Nothing you type leaves it.');
  await expect
    .poll(() => textOf(page.getByTestId('model-in-words')))
    .toMatch(/^Storyteller · A tiny model that tells bedtime stories\.$/);
  await expect.poll(() => named()).toBe('Storyteller');
  await expect.poll(() => prompt(page).getAttribute('placeholder')).toBe('Ask for a story…');
  const next = page.getByTestId('next-step');
  await expect.poll(() => textOf(next), SOON).toContain('Get a model that can talk about anything (15.2\u00a0MB)');
  await expect.poll(() => textOf(next)).toContain('Short Tales · Answers everything with a tale.');
  await screenshot(page, 'catalogue_first_screen');
});

test('the cards say what fits and what was not tested; a broken entry is named', async () => {
  await openDialog();
  expect(
    await page.getByTestId('card').evaluateAll((cards) => cards.map((each) => each.getAttribute('data-id'))),
  ).toEqual(['short', 'storyteller', 'huge', 'gone']);
  await expect
    .poll(() => textOf(card('short')))
    .toMatch(/^Recommended for this device.*15\.2 MB.*Should fit this device.*License: MIT.*Not tested by us.*Get$/s);
  await expect.poll(() => textOf(card('huge'))).toMatch(/5\.0 GB.*Needs a GPU.*Try anyway/s);
  await expect.poll(() => textOf(card('storyteller'))).toContain('Running');
  await expect
    .poll(() => textOf(page.getByTestId('catalogue-complaint')))
    .toMatch(/^Some models are missing from the list\.\s+Model 5 of the list is left out: its id/);
  const link = card('short').getByRole('link', { name: 'License: MIT' });
  await expect
    .poll(async () => [
      await link.getAttribute('href'),
      await link.getAttribute('target'),
      await link.getAttribute('rel'),
    ])
    .toEqual([license.url, '_blank', 'noopener noreferrer']);
  await expect.poll(() => textOf(page.getByTestId('kept-total'))).toMatch(/^One model, 15\.2 MB\./);
  expect(await page.getByTestId('kept-none').count()).toBe(0); // the storyteller stands in the list above
  await screenshot(page, 'catalogue_dialog');
});

test('a download is followed, canceled and resumed where it was, and the model runs', async () => {
  hub.faults.hook = (request) => Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0) >= 2 * PIECE;
  await card('short').getByRole('button', { name: 'Get Short Tales (15.2 MB)' }).click();
  await expect.poll(pieces, SOON).toBe(4 + 2);
  await expect.poll(() => textOf(progress(page))).toMatch(/^Short Tales · .* of 15\.\d MB/s);
  await expect.poll(() => page.locator('vivace-next-step').isVisible()).toBe(false);
  await screenshot(page, 'catalogue_loading');
  await openDialog();
  await expect.poll(() => textOf(card('short')), SOON).toMatch(/Downloading, \d+%/);
  await card('short').getByTestId('card-cancel').click();
  await expect.poll(() => stateOf('short'), SOON).toBe('resume');
  await expect.poll(() => textOf(card('short'))).toMatch(/Resume\s*55% downloaded/);
  hub.faults.hook = undefined;
  hub.sent = 0;
  await card('short').getByTestId('card-open').click();
  await ready(page);
  expect(hub.sent).toBe(size - 2 * PIECE);
  expect(new URL(page.url()).search).toMatch(/[?&]model=tales\/short(&|$)/);
  await expect.poll(() => named()).toBe('Short Tales');
  await expect.poll(() => prompt(page).getAttribute('placeholder')).toBe('Ask anything…');
  await expect.poll(() => page.locator('vivace-next-step').isVisible()).toBe(false);
  await setting(page, 'maxTokens', '4');
  await send(page, 'Tell me a story');
  expect(await ended(page)).toBe('done');
});

test('after a reload it opens without a word to the hub, and its card tells a measured speed', async () => {
  hub.requests.length = 0;
  await page.reload();
  await ready(page);
  await openDialog();
  await expect.poll(() => stateOf('short')).toBe('running');
  await card('storyteller').getByTestId('card-open').click();
  await expect.poll(named, SOON).toBe('Storyteller');
  expect(new URL(page.url()).search).not.toContain('model=');
  await openDialog();
  await expect.poll(() => stateOf('short'), SOON).toBe('downloaded');
  await expect.poll(() => textOf(card('short'))).toMatch(/words? per second.*Open\s*Downloaded/s);
  await card('short').getByTestId('card-open').click();
  await expect.poll(named, SOON).toBe('Short Tales');
  expect(hub.requests).toEqual([]);
});

test('a wrong entry is a plain error, and the running model goes on', async () => {
  await openDialog();
  await card('gone').getByTestId('card-open').click();
  await expect.poll(() => progress(page).getAttribute('data-state'), SOON).toBe('error');
  await expect.poll(() => textOf(progress(page))).toMatch(/tales\/gone/);
  await page.getByTestId('load-keep').click();
  await openDialog();
  await expect.poll(() => stateOf('short')).toBe('running');
  await card('short').getByTestId('delete').click();
  await page.keyboard.press('Enter'); // the focus is on the confirmation
  await expect.poll(() => card('short').getByTestId('delete').count(), SOON).toBe(0);
  expect(errors.filter((error) => !/404/.test(error))).toEqual([]);
});
