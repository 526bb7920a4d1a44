// `node tools/load_memory.mjs [--gb 1]`: how long a model of any size takes to load, and what the browser holds meanwhile. A server on this
// machine makes the model's bytes as they are asked for; Chromium loads it twice, from the server and from its own storage. The heap is what script
// objects and array buffers take together, in the page and in the worker; resident memory counts a software GPU's weights, too.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DIST, ensureBuilt } from './lib/build.mjs';
import { ensureChromium } from './lib/ensure.mjs';
import { watchMemory } from './lib/memory_watch.mjs';
import { serve } from './lib/serve.mjs';
import { syntheticModel } from './lib/synthetic_model.mjs';
import { toolMain } from './lib/tool_main.mjs';

/** @type {Record<string, import('./lib/flags.mjs').Flag>} */
const FLAGS = {
  gb: { kind: 'number', value: 'N', help: 'size of the model in 1e9 bytes (default 1)' },
  hub: { kind: 'switch', help: 'as a repository of a hub, whose SHA-256 is checked while it loads' },
  'no-ranges': { kind: 'switch', help: 'from a server that sends files whole, whatever part is asked for' },
  'no-cache': { kind: 'switch', help: 'keep nothing, and load once' },
  backend: { kind: 'text', words: ['webgpu', 'cpu'], help: 'default webgpu' },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
};

const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Load</title>';
const COMMIT = 'c'.repeat(40);
const REPOSITORY = 'synthetic/model';

/** Runs in the page. @param {{ model: string, hubUrl: string, cache: boolean, backend: 'webgpu' | 'cpu' }} options */
async function loadInPage({ model: asked, ...options }) {
  /** @type {typeof import('../src/engine/engine')} */
  const { Engine } = await import(/** @type {string} */ ('/lib/vivace.js'));
  const started = performance.now();
  let cachedBytes = 0;
  const engine = await Engine.load(asked, {
    ...options,
    contextLength: 64,
    onProgress: (progress) => {
      cachedBytes = progress.cachedBytes ?? 0;
    },
  });
  const seconds = (performance.now() - started) / 1000;
  const { loadMs, warnings, adapter, model } = engine.info;
  await engine.unload();
  return { seconds, weightsSeconds: loadMs.weights / 1000, cachedBytes, warnings, adapter, bytes: model.fileBytes };
}

/**
 * @param {import('playwright-core').BrowserContext} context @param {string} url @param {string} profile
 * @param {Parameters<typeof loadInPage>[0]} options
 */
async function measure(context, url, profile, options) {
  const page = await context.newPage();
  await page.goto(url);
  const stop = await watchMemory(page, profile);
  const loaded = await page.evaluate(loadInPage, options);
  const peaks = stop();
  await page.close();
  return { ...loaded, megabytesPerSecond: loaded.bytes / 1e6 / loaded.weightsSeconds, peaks };
}

/** What a hub tells of the repository. @param {string} sha256 @returns {import('./lib/serve.mjs').Handler} */
function listingOf(sha256) {
  const siblings = [
    { rfilename: 'config.json' },
    { rfilename: 'tokenizer.json' },
    { rfilename: 'model.safetensors', lfs: { sha256 } },
  ];
  return (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ sha: COMMIT, siblings }));
}

/** @param {string} name @param {Awaited<ReturnType<typeof measure>>} run */
function describe(name, { seconds, megabytesPerSecond, cachedBytes, warnings, peaks }) {
  const mb = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
  const heap = (/** @type {import('./lib/memory_watch.mjs').HeapPeak} */ { script, buffers, both }) =>
    `${mb(both)} (script ${mb(script)}, buffers ${mb(buffers)})`;
  const { page, workers, resident } = peaks;
  return [
    `${name}: ${seconds.toFixed(1)} s, weights at ${megabytesPerSecond.toFixed(0)} MB/s, ${mb(cachedBytes)} from storage`,
    `  peak heap   worker ${heap(workers)}, page ${heap(page)}`,
    resident
      ? `  resident    renderer ${mb(resident.renderer)}, GPU ${mb(resident.gpu)}, whole browser ${mb(resident.all)}`
      : '  resident    this system does not tell',
    ...warnings.map(({ code, message }) => `  ${code}: ${message}`),
  ].join('\n');
}

/** @param {import('./lib/flags.mjs').Values} flags */
async function main(flags) {
  await ensureBuilt();
  const { chromium } = await import('playwright-core');
  const { chromiumFlags } = await import('./lib/chromium.mjs');
  const prefix = flags.hub ? `/${REPOSITORY}/resolve/${COMMIT}/` : '/model/';
  const model = syntheticModel(Number(flags.gb ?? 1) * 1e9, prefix, !flags['no-ranges']);
  /** @type {Record<string, import('./lib/serve.mjs').Handler>} */
  const listing = flags.hub ? { [`/api/models/${REPOSITORY}/revision/main`]: listingOf(model.sha256()) } : {};
  const server = await serve({
    mounts: { '/lib/': path.join(DIST, 'lib') },
    handlers: {
      ...model.handlers,
      ...listing,
      '/': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(HTML),
    },
  });
  // A profile on disk: without one, Chromium keeps files in its own memory.
  const profile = await mkdtemp(path.join(tmpdir(), 'vivace-load-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: ensureChromium(),
    headless: true,
    args: chromiumFlags(process.env, flags.backend !== 'cpu'),
  });
  try {
    const options = {
      model: flags.hub ? `hf:${REPOSITORY}` : prefix,
      hubUrl: server.url,
      cache: !flags['no-cache'],
      backend: /** @type {'webgpu' | 'cpu'} */ (flags.backend ?? 'webgpu'),
    };
    const first = await measure(context, server.url, profile, options);
    const sentBytes = model.sent();
    const second = options.cache ? await measure(context, server.url, profile, options) : null;
    const report = { bytes: model.bytes, sentBytes, sentAgainBytes: model.sent() - sentBytes, first, second };
    if (flags.json) return console.log(JSON.stringify(report));
    console.log(`${(model.bytes / 1e9).toFixed(2)} GB on ${first.adapter ?? 'the CPU'}`);
    console.log(describe('from the server', first));
    if (second) console.log(describe('from storage', second));
    console.log(
      `the server sent ${(sentBytes / 1e9).toFixed(2)} GB, then ${(report.sentAgainBytes / 1e9).toFixed(2)} GB`,
    );
  } finally {
    await context.close();
    await server.close();
    await rm(profile, { recursive: true, force: true });
  }
}

await toolMain('node tools/load_memory.mjs', FLAGS, main);
