// Opening, keeping and deleting models in one visit: a second load fetches no weights, an interrupted load continues,
// and kept models are listed until deleted.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { catalogue as germanWords } from '../../../src/words/de/catalogue';
import { ROOT } from '../../../tools/lib/ensure.mjs';
import { type Served, serve } from '../../../tools/lib/serve';
import {
  answers as answersOf,
  ended,
  lastAnswer,
  openSite,
  progress,
  ready,
  type Site,
  send,
  setting,
  textOf,
  type Visit,
  visit,
} from '../site';

const MODEL = 'models/storyteller/storyteller-q8_0.gguf';
const CPU = '?backend=cpu'; // loads in a second without a GPU
const PIECE = 4 * 1024 * 1024;
/** Limits on a busy machine. */
const SOON = { timeout: 90_000, interval: 20 };

let site: Site;
let visited: Visit;
let page: Page;
/** First bytes of the requests to the page's own server. */
let asked: number[] = [];

/**
 * Another origin with the storyteller, and with a twin of other weights. Requests past `opensUntil` bytes never end.
 */
let other: Served;
let opensUntil = Number.POSITIVE_INFINITY;
let otherAsked: number[] = [];
/** Answers with the start of a file that have one bit flipped. */
let damagedStarts = 0;

const firstByte = (range: string | undefined) => Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1]);

async function serveOther(): Promise<Served> {
  const file = await readFile(path.join(ROOT, 'public', MODEL));
  const twin = Buffer.from(file);
  for (let at = PIECE / 2; at < twin.length; at += PIECE) twin[at] ^= 1; // changes every piece
  const handlerOf =
    (bytes: Buffer): NonNullable<Parameters<typeof serve>[0]['handlers']>[string] =>
    (request, response) => {
      const first = firstByte(request.headers.range);
      otherAsked.push(first);
      if (first >= opensUntil) return;
      const part = Buffer.from(bytes.subarray(first, first + PIECE));
      if (first === 0 && damagedStarts > 0) {
        damagedStarts--;
        part[0] ^= 1;
      }
      const cors = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag, Content-Range' };
      const range = `bytes ${first}-${first + part.length - 1}/${bytes.length}`;
      response.writeHead(206, { ...cors, etag: '"1"', 'content-range': range }).end(part);
    };
  return serve({ mounts: {}, handlers: { '/story.gguf': handlerOf(file), '/twin.gguf': handlerOf(twin) } });
}

beforeAll(async () => {
  [site, other] = await Promise.all([openSite({ webgpu: false }), serveOther()]);
  visited = await visit(site, CPU);
  page = visited.page;
  await page.context().addInitScript(() => {
    // The loader's messages, which disappear with the loaded model.
    const said: string[] = [];
    Object.assign(globalThis, { said });
    const { attachShadow } = Element.prototype;
    Element.prototype.attachShadow = function (init) {
      const root = attachShadow.call(this, init);
      const look = () => {
        const bytes = root.querySelector('.bytes')?.textContent;
        if (bytes) said.push(bytes);
      };
      if (this.localName === 'vivace-loader')
        new MutationObserver(look).observe(root, { subtree: true, childList: true, characterData: true });
      return root;
    };
  });
  page.context().on('request', (request) => {
    if (request.url() === site.url + MODEL) asked.push(firstByte(request.headers().range));
  });
});

afterAll(async () => {
  await other?.close();
  await site?.close();
});

beforeEach(() => {
  opensUntil = Number.POSITIVE_INFINITY;
  otherAsked = [];
  asked = [];
});

/** Answers of four tokens, the same on every run: a drawn one may be shorter than a word. */
async function briefly(): Promise<void> {
  await setting(page, 'maxTokens', '4');
  await setting(page, 'temperature', '0');
}

async function answers(): Promise<void> {
  const before = await answersOf(page).count();
  await send(page, 'Tell me a story about a brave cat');
  await expect.poll(() => answersOf(page).count()).toBeGreaterThan(before); // else the end is that of the one before
  expect(await ended(page)).toBe('done');
  await expect.poll(async () => (await textOf(lastAnswer(page))).length).toBeGreaterThan(3);
}

async function openDialog(): Promise<void> {
  await page.locator('#model').click();
  await page.getByTestId('models').waitFor();
}

async function loadAddress(address: string): Promise<void> {
  await openDialog();
  await page.getByTestId('model-address').fill(address);
  await page.keyboard.press('Enter');
}

const named = () => textOf(page.locator('#model-name'));
const notice = (code: string) => page.locator(`[data-testid=notice][data-code=${code}]`);

/** Drops a file on the page, with this text or the contents of an address. */
function drop(name: string, text: string | null, address = ''): Promise<void> {
  return page.evaluate(
    async ([fileName, content, from]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content ?? (await (await fetch(from!)).blob())], fileName!));
      const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
      document.querySelector('main')!.dispatchEvent(event);
    },
    [name, text, address] as const,
  );
}

const kept = (name = '') => page.getByTestId('kept-model').filter({ hasText: name }).first();
const nKept = () => page.getByTestId('kept-model').count();

/** Names and lengths of the files in the browser's file system. */
const pieces = () =>
  page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('vivace-pieces');
    const found: [name: string, size: number][] = [];
    for await (const [name, handle] of folder.entries()) {
      if (name.length > 64) continue; // being written
      found.push([name, (await (handle as FileSystemFileHandle).getFile()).size]);
    }
    return found.sort((a, b) => b[1] - a[1]);
  });

test('a model that was loaded once loads without the network', async () => {
  await ready(page);
  asked = [];
  await page.route('**/*.gguf', (route) => route.abort());
  await page.reload();
  await ready(page);
  await page.unroute('**/*.gguf');
  await briefly();
  await answers();
  expect(asked).toEqual([]);
  const said = await page.evaluate(() => (globalThis as unknown as { said: string[] }).said.join());
  expect(said).toContain('from this browser’s storage');
});

test('an altered piece is the only one fetched again', async () => {
  const before = await pieces();
  expect(before).toHaveLength(4);
  for (const [name] of before) expect(name).toMatch(/^[0-9a-f]{64}$/);
  await page.evaluate(async (name) => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('vivace-pieces');
    const file = await (await folder.getFileHandle(name)).createWritable({ keepExistingData: true });
    await file.write({ type: 'write', position: 1000, data: new Uint8Array([1, 2, 3, 4]) });
    await file.close();
  }, before[3][0]);
  await page.reload();
  await ready(page);
  await briefly();
  expect(asked).toEqual([3 * PIECE]);
  await expect.poll(() => pieces()).toEqual(before);
});

test('a model keeps answering until the next one is known to be valid', async () => {
  await briefly();
  const name = await named();
  expect(name).toBe('Storyteller');
  opensUntil = 0;
  await loadAddress(`${other.url}story.gguf`);
  await expect.poll(() => otherAsked, SOON).toContain(0);
  await answers();
  await page.getByTestId('cancel-load').click();
  await expect.poll(() => progress(page).count(), SOON).toBe(0);
  await loadAddress('/page.gguf');
  await expect.poll(() => textOf(progress(page)), SOON).toMatch(/web page|HTML/);
  await expect.poll(() => named()).toBe(name);
  expect(page.url()).not.toContain('page.gguf');
  await answers();
  await page.getByTestId('load-keep').click();
  await expect.poll(() => progress(page).count(), SOON).toBe(0);
  await drop('photo.png', '\0PNG'); // no text, which would be attached
  await expect.poll(() => textOf(notice('no-model')), SOON).toContain('“photo.png” isn’t a text file, a model');
  await drop('m.gguf', '<!doctype html>');
  await expect.poll(() => textOf(notice('no-model')), SOON).toContain('“m.gguf” isn’t a valid GGUF file');
  await expect.poll(() => named()).toBe(name);
  await answers();
});

test('an invalid address is reported beside the field; Escape closes and returns the focus', async () => {
  await loadAddress('javascript:alert(1)');
  await expect.poll(() => page.getByTestId('address-help').textContent()).toContain('begin with https://');
  await expect.poll(() => page.getByTestId('model-address').getAttribute('aria-invalid')).toBe('true');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByTestId('models').isVisible(), SOON).toBe(false);
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('model');
});

test('the dialog loads an address; a canceled load continues where it was', async () => {
  opensUntil = 2 * PIECE;
  await loadAddress(`${other.url}twin.gguf`);
  await expect.poll(async () => (await pieces()).length, SOON).toBe(4 + 2);
  await expect.poll(() => named()).toBe('Loading twin.gguf');
  await page.getByTestId('cancel-load').click();
  await expect.poll(() => progress(page).getAttribute('data-state'), SOON).toBe('canceled');
  await openDialog();
  await expect.poll(() => textOf(kept('twin')), SOON).toMatch(/5\d% of 15\.\d MB here/);
  await page.keyboard.press('Escape');
  opensUntil = Number.POSITIVE_INFINITY;
  otherAsked = [];
  await page.getByTestId('load-retry').click();
  await ready(page);
  expect(otherAsked.sort((a, b) => a - b)).toEqual([2 * PIECE, 3 * PIECE]);
  await answers();
  await openDialog();
  await expect.poll(() => textOf(kept('twin')), SOON).toMatch(/twin\.gguf.*running.*15\.\d MB · last used \w+/s);
});

test('a failed deletion is told in the language of the page, with the error in a fold', async () => {
  const german = await page.context().newPage();
  await german.goto(`${site.url}${CPU}&lang=de`);
  await ready(german); // its workers have started
  await german.locator('#model').click();
  const row = german.getByTestId('kept-model').filter({ hasText: 'twin' });
  await row.getByTestId('delete').click();
  await german.evaluate(() => {
    const { Worker } = globalThis;
    globalThis.Worker = class {
      constructor() {
        globalThis.Worker = Worker;
        throw new Error('no worker today');
      }
    } as unknown as typeof Worker;
  });
  await row.getByTestId('confirm-delete').click();
  const models = german.locator('vivace-models');
  const said = models.locator('.inside > [role=status]');
  await expect.poll(() => textOf(said), SOON).toBe(germanWords.notDeleted('twin.gguf'));
  expect(await said.getAttribute('class')).toBe('complaint');
  await expect.poll(() => textOf(models.getByTestId('advice-detail'))).toContain('no worker today');
  expect(await row.count()).toBe(1);
  await german.close();
});

test("deleting asks first, and removes only this model's pieces", async () => {
  await expect.poll(() => nKept()).toBe(1); // the storyteller stands in the list of models
  await expect.poll(() => pieces()).toHaveLength(8);
  await kept('twin').getByTestId('delete').click();
  await kept('twin').getByTestId('keep').click();
  await expect.poll(() => nKept()).toBe(1);
  await kept('twin').getByTestId('delete').click();
  await page.keyboard.press('Enter'); // the focus is on the confirmation
  await expect.poll(nKept, SOON).toBe(0);
  const storyteller = page.locator('[data-testid=card][data-id=storyteller]');
  await expect.poll(() => textOf(storyteller)).toContain('Downloaded');
  await expect
    .poll(() => textOf(page.getByTestId('kept-total')))
    .toMatch(/^One model, 15\.\d MB\. This browser allows this site/);
  await expect.poll(() => pieces()).toHaveLength(4);
  await storyteller.getByTestId('delete').click();
  await storyteller.getByTestId('confirm-delete').click();
  await expect.poll(() => textOf(storyteller), SOON).toContain('Comes with this page');
  await expect.poll(() => pieces()).toEqual([]);
  await page.getByTestId('close-models').click();
});

test('a damaged start is not kept; retrying works with a correct server, once automatically', async () => {
  damagedStarts = 2;
  await loadAddress(`${other.url}twin.gguf`);
  await page.getByTestId('load-retry').waitFor();
  expect(otherAsked.filter((first) => first === 0)).toHaveLength(2);
  expect(damagedStarts).toBe(0);
  damagedStarts = 1;
  await page.getByTestId('load-retry').click();
  await notice('fetched-again').waitFor();
  expect(otherAsked.filter((first) => first === 0)).toHaveLength(4);
  await expect.poll(() => named()).toMatch(/^twin\.gguf/);
  await expect.poll(() => pieces()).toHaveLength(4);
  await openDialog();
  await kept('twin').getByTestId('delete').click();
  await kept('twin').getByTestId('confirm-delete').click();
  await page.getByTestId('kept-none').waitFor();
  await page.getByTestId('close-models').click();
});

test('full storage is a notice with both sizes; the model answers, and the stored part is used', async () => {
  const limited: CDPSession = await page.context().newCDPSession(page);
  const { origin } = new URL(site.url);
  await limited.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 10_000_000 });
  await loadAddress(`${other.url}story.gguf`);
  await expect.poll(named, SOON).toMatch(/^story\.gguf/);
  await answers();
  await expect
    .poll(() => textOf(notice('cache-full')))
    .toMatch(/of the 15\.\d MB that this model needs, [1-9]\.\d MB are kept/);
  await limited.send('Storage.overrideQuotaForOrigin', { origin });
});

test('a .gguf file dropped on the page is loaded and not kept', async () => {
  const before = await pieces();
  await drop('dropped.gguf', null, MODEL);
  await expect.poll(named, SOON).toMatch(/^dropped\.gguf/);
  await ready(page);
  await answers();
  await expect.poll(() => pieces()).toEqual(before);
  expect(visited.errors.filter((error) => !error.includes('ERR_FAILED'))).toEqual([]);
});
