// `npm run load-memory [-- --gb 1]`: the time that a model of any size takes to load, and the memory that the browser
// holds meanwhile. A server on this machine makes the model's bytes on request; Chromium loads it twice, from the
// server and from its own storage. The heap counts script objects and array buffers together, in the page and in the
// worker; resident memory also counts a software GPU's weights.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { askPage, blankPage } from './lib/blank_page';
import { chromiumFlags } from './lib/chromium';
import { ensureBuilt } from './lib/dist';
import { ensureChromium } from './lib/ensure.mjs';
import type { Values } from './lib/flags';
import { PAGE_MOUNTS } from './lib/generate_in_page';
import { type HeapPeak, watchMemory } from './lib/memory_watch';
import { type Handler, type Served, serve } from './lib/serve';
import { type Synthetic, syntheticModel } from './lib/synthetic_model';
import { runTool } from './lib/terminal';
import type { LoadRequest, TimedLoad } from './page/time_load';

const FLAGS = {
  gb: { kind: 'number', value: 'N', help: 'size of the model in 1e9 bytes (default 1)' },
  hub: { kind: 'switch', help: 'as a repository of a hub, whose SHA-256 is checked while it loads' },
  'no-ranges': { kind: 'switch', help: 'from a server that sends files whole, whatever part is asked for' },
  'no-cache': { kind: 'switch', help: 'keep nothing, and load once' },
  backend: { kind: 'text', words: ['webgpu', 'cpu'], help: 'default webgpu' },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
} as const;

const COMMIT = 'c'.repeat(40);
const REPOSITORY = 'synthetic/model';

/** Loads the model in a page of its own. */
async function measure(context: BrowserContext, url: string, profile: string, request: LoadRequest) {
  const page = await context.newPage();
  await page.goto(url);
  const stop = await watchMemory(page, profile);
  const { loaded } = await askPage<{ loaded: TimedLoad }>(page, { task: 'load', ...request });
  const peaks = stop();
  await page.close();
  return { ...loaded, megabytesPerSecond: loaded.bytes / 1e6 / loaded.weightsSeconds, peaks };
}

/** A hub's listing of the repository. */
function listingOf(sha256: string): Handler {
  const siblings = [
    { rfilename: 'config.json' },
    { rfilename: 'tokenizer.json' },
    { rfilename: 'model.safetensors', lfs: { sha256 } },
  ];
  return (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ sha: COMMIT, siblings }));
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
const heapText = ({ script, buffers, both }: HeapPeak) =>
  `${megabytes(both)} (script ${megabytes(script)}, buffers ${megabytes(buffers)})`;

function describe(name: string, run: Awaited<ReturnType<typeof measure>>): string {
  const { page, workers, resident } = run.peaks;
  const speed = `weights at ${run.megabytesPerSecond.toFixed(0)} MB/s, ${megabytes(run.cachedBytes)} from storage`;
  return [
    `${name}: ${run.seconds.toFixed(1)} s, ${speed}`,
    `  peak heap   worker ${heapText(workers)}, page ${heapText(page)}`,
    resident
      ? `  resident    renderer ${megabytes(resident.renderer)}, GPU ${megabytes(resident.gpu)}, whole browser ${megabytes(resident.all)}`
      : '  resident    this system does not tell',
    ...run.warnings.map(({ code, message }) => `  ${code}: ${message}`),
  ].join('\n');
}

function serveModel(model: Synthetic, asHub: boolean): Promise<Served> {
  const listing: Record<string, Handler> = asHub
    ? { [`/api/models/${REPOSITORY}/revision/main`]: listingOf(model.sha256()) }
    : {};
  return serve({ mounts: PAGE_MOUNTS, handlers: { ...model.handlers, ...listing, '/': blankPage('/tools.js') } });
}

async function measureTwice(flags: Values<typeof FLAGS>, context: BrowserContext, profile: string) {
  const prefix = flags.hub ? `/${REPOSITORY}/resolve/${COMMIT}/` : '/model/';
  const model = syntheticModel((flags.gb ?? 1) * 1e9, prefix, !flags['no-ranges']);
  const server = await serveModel(model, flags.hub === true);
  try {
    const cache = !flags['no-cache'];
    const load = { hubUrl: server.url, cache, backend: flags.backend ?? 'webgpu' };
    const request: LoadRequest = { model: flags.hub ? `hf:${REPOSITORY}` : prefix, load };
    const first = await measure(context, server.url, profile, request);
    const sentBytes = model.sent();
    const second = cache ? await measure(context, server.url, profile, request) : null;
    return { bytes: model.bytes, sentBytes, sentAgainBytes: model.sent() - sentBytes, first, second };
  } finally {
    await server.close();
  }
}

await runTool('npm run load-memory --', FLAGS, async (flags) => {
  await ensureBuilt();
  // A profile on disk: without one, Chromium keeps files in its own memory.
  const profile = await mkdtemp(path.join(tmpdir(), 'vivace-load-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: ensureChromium(),
    headless: true,
    args: chromiumFlags(process.env, flags.backend !== 'cpu'),
  });
  try {
    const report = await measureTwice(flags, context, profile);
    if (flags.json) return console.log(JSON.stringify(report));
    const { bytes, sentBytes, sentAgainBytes, first, second } = report;
    console.log(`${gigabytes(bytes)} on ${first.adapter ?? 'the CPU'}`);
    console.log(describe('from the server', first));
    if (second) console.log(describe('from storage', second));
    console.log(`the server sent ${gigabytes(sentBytes)}, then ${gigabytes(sentAgainBytes)}`);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
});
