// A hub's model in the page: loaded by name once, available when the hub is gone, and fetched once by two tabs.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DIST } from '../../../tools/lib/bundle/dist';
import { ROOT } from '../../../tools/lib/ensure.mjs';
import { serve } from '../../../tools/lib/serve';
import { syntheticModel } from '../../../tools/lib/synthetic_model';
import { type FakeHub, fakeHub } from '../../storage/fake_hub';
import { ended, openSite, ready, type Site, send, setting, textOf, visit } from '../site';

const STORYTELLER = path.join(ROOT, 'public/models/storyteller/storyteller-q8_0.gguf');
const PIECE = 4 * 1024 * 1024;
const SOON = { timeout: 90_000, interval: 20 };

let site: Site;
let hub: FakeHub;
let file: Uint8Array;
let size: number;

beforeAll(async () => {
  [site, hub] = await Promise.all([openSite({ webgpu: false }), fakeHub()]);
  file = new Uint8Array(await readFile(STORYTELLER));
  size = file.length;
  hub.push('tales/short', { 'README.md': '#', 'storyteller-q8_0.gguf': file });
});

afterAll(async () => {
  await site?.close();
  hub?.close();
});

/** Runs as text in a page of its own, because the build rewrites imports here. */
const LOAD = `import('/lib/vivace.js').then(({ Engine }) =>
  Engine.load('hf:big/model', { hubUrl: location.origin, backend: 'cpu', cache: false, contextLength: 16 }).then(
    (engine) => engine.unload().then(() => 'loaded'),
    (error) => error.message,
  ),
)`;

const query = (model: string) => `?backend=cpu&hub=${encodeURIComponent(hub.url)}&model=${model}`;

async function answers(page: Page): Promise<void> {
  await setting(page, 'maxTokens', '4');
  await send(page, 'Tell me a story');
  expect(await ended(page)).toBe('done');
}

test('two tabs that open it concurrently share one download, which answers when the hub is gone', async () => {
  const { page, errors } = await visit(site, query('tales/short'));
  const second = await page.context().newPage();
  await second.goto(site.url + query('hf:tales/short'));
  await Promise.all([ready(page), ready(second)]);
  expect(hub.sent).toBe(size);
  await answers(page);
  await second.close();

  const commit = hub.push('tales/short', { 'README.md': '# newer', 'storyteller-q8_0.gguf': file });
  hub.requests.length = 0;
  await page.locator('#model').click();
  await page.getByTestId('update').click();
  await expect.poll(() => hub.requests.some((line) => line.includes(commit)), SOON).toBe(true);
  await ready(page);
  expect(hub.sent).toBeLessThan(size + PIECE + 1); // asked for its version only

  hub.close();
  hub.requests.length = 0;
  await page.reload();
  await ready(page);
  await answers(page);
  expect(hub.requests).toEqual([]);
  await page.locator('#model').click();
  const kept = page.getByTestId('kept-model');
  await expect.poll(() => textOf(kept), SOON).toMatch(/storyteller-q8_0\.gguf.*running.*15\.\d MB · last used/s);
  expect(errors).toEqual([]);
});

test('a large file is hashed by a second worker, and refused for a wrong hash', async () => {
  const commit = 'c'.repeat(40);
  const model = syntheticModel(40e6, `/big/model/resolve/${commit}/`);
  let sha256 = '0'.repeat(64);
  const siblings = () => [
    { rfilename: 'config.json' },
    { rfilename: 'tokenizer.json' },
    { rfilename: 'model.safetensors', lfs: { sha256 } },
  ];
  const server = await serve({
    mounts: { '/lib/': path.join(DIST, 'lib') },
    handlers: {
      ...model.handlers,
      '/api/models/big/model/revision/main': (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ sha: commit, siblings: siblings() })),
      '/': (_, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Hub</title>'),
    },
  });
  const { page: other } = await visit(site, '?backend=cpu');
  const page = await other.context().newPage();
  let workers = 0;
  page.on('worker', () => workers++);
  await page.goto(server.url);
  const load = () => page.evaluate<string>(LOAD);
  expect(await load()).toContain(`${model.sha256()} and should have ${sha256}`);
  sha256 = model.sha256();
  expect(await load()).toBe('loaded');
  // Two of each load. A busy machine adds one that finds out whether another hangs.
  expect(workers).toBeGreaterThanOrEqual(4);
  await expect.poll(() => page.workers().length, SOON).toBe(0);
  await page.close();
  await server.close();
});
