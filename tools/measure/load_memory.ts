// `npm run load-memory [-- --gb 1]`: the time that a model of any size takes to load, and the memory that the browser
// holds meanwhile. A server on this machine makes the model's bytes on request; Chromium loads it twice, from the
// server and from its own storage: once for the times, watched by nothing, and once for the memory, since whoever
// watches copies what is fetched. The heap counts script objects and array buffers together, in the page and in the
// worker; resident memory also counts a software GPU's weights.

import { type BrowserContext, chromium } from 'playwright-core';
import { type BareAnswers, bareAnswers } from '../lib/browser/bare_browser';
import { askPage, blankPage } from '../lib/browser/blank_page';
import { chromiumFlags } from '../lib/browser/chromium';
import { type HeapPeak, type Peaks, watchMemory } from '../lib/browser/memory_watch';
import { ensureBuilt } from '../lib/bundle/dist';
import type { Values } from '../lib/command_line/flags';
import { runTool } from '../lib/command_line/terminal';
import { ensureChromium } from '../lib/ensure.mjs';
import { PAGE_MOUNTS } from '../lib/generate/generate_in_page';
import { type Handler, type Served, serve } from '../lib/serve';
import { syntheticModel } from '../lib/synthetic_model';
import { inTemporaryFolder } from '../lib/temporary_folder';
import type { LoadRequest, TimedLoad } from '../page/time_load';

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

/** The memory of a load in a page of its own. */
async function watch(context: BrowserContext, url: string, profile: string, request: LoadRequest): Promise<Peaks> {
  const page = await context.newPage();
  await page.goto(url);
  const stop = await watchMemory(page, profile);
  await askPage<{ loaded: TimedLoad }>(page, { task: 'load', ...request });
  const peaks = stop();
  await page.close();
  return peaks;
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

/** A load with its times, and the memory of another that was like it. */
type Run = TimedLoad & { peaks: Peaks };

function describe(name: string, run: Run): string {
  const { page, workers, resident } = run.peaks;
  const rate = run.bytes / 1e6 / run.weightsSeconds;
  const speed = `weights at ${rate.toFixed(0)} MB/s, ${megabytes(run.cachedBytes)} from storage`;
  const [first, second] = run.ttftMs.map((ms) => ms.toFixed(0));
  return [
    `${name}: ${run.seconds.toFixed(2)} s, ${speed}`,
    `  first token after another ${first} ms, of a second answer after ${second} ms`,
    `  peak heap   worker ${heapText(workers)}, page ${heapText(page)}`,
    resident
      ? `  resident    renderer ${megabytes(resident.renderer)}, GPU ${megabytes(resident.gpu)}, whole browser ${megabytes(resident.all)}`
      : '  resident    this system does not tell',
    ...run.warnings.map(({ code, message }) => `  ${code}: ${message}`),
  ].join('\n');
}

/** Both loads in a browser of their own, or the first alone. */
interface Loads {
  server: Served;
  request: LoadRequest;
  backend: 'webgpu' | 'cpu';
  times: number;
}

async function timeLoads(bare: BareAnswers, { server, request, backend, times }: Loads): Promise<TimedLoad[]> {
  return inProfile(async (profile) => {
    const timed: TimedLoad[] = [];
    for (let i = 0; i < times; i++) {
      const asked = { task: 'load', ...request };
      const { loaded } = await bare.ask<{ loaded: TimedLoad }>(server.url, profile, backend === 'webgpu', asked);
      timed.push(loaded);
    }
    return timed;
  });
}

async function watchLoads({ server, request, backend, times }: Loads): Promise<Peaks[]> {
  return inProfile(async (profile) => {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: ensureChromium(),
      headless: true,
      handleSIGINT: false, // the folder's end is the browser's, too
      args: chromiumFlags(process.env, backend === 'webgpu'),
    });
    try {
      const peaks: Peaks[] = [];
      for (let i = 0; i < times; i++) peaks.push(await watch(context, server.url, profile, request));
      return peaks;
    } finally {
      await context.close();
    }
  });
}

/** A profile on disk: without one, Chromium keeps files in its own memory. */
const inProfile = <T>(work: (profile: string) => Promise<T>) => inTemporaryFolder('vivace-load-', work);

async function measure(flags: Values<typeof FLAGS>) {
  const prefix = flags.hub ? `/${REPOSITORY}/resolve/${COMMIT}/` : '/model/';
  const model = syntheticModel((flags.gb ?? 1) * 1e9, prefix, !flags['no-ranges']);
  const listing: Record<string, Handler> = flags.hub
    ? { [`/api/models/${REPOSITORY}/revision/main`]: listingOf(model.sha256()) }
    : {};
  const bare = bareAnswers('/tools.js');
  const handlers = { ...model.handlers, ...listing, ...bare.handlers, '/': blankPage('/tools.js') };
  const server = await serve({ mounts: PAGE_MOUNTS, handlers });
  const backend = flags.backend ?? 'webgpu';
  const load = { hubUrl: server.url, cache: !flags['no-cache'], backend };
  const request: LoadRequest = { model: flags.hub ? `hf:${REPOSITORY}` : prefix, load };
  try {
    const loads: Loads = { server, request, backend, times: load.cache ? 2 : 1 };
    const timed = await timeLoads(bare, loads);
    const sentBytes = model.sent();
    const peaks = await watchLoads(loads);
    return { bytes: model.bytes, sentBytes, runs: timed.map((run, i): Run => ({ ...run, peaks: peaks[i] })) };
  } finally {
    await server.close();
  }
}

const NAMES = ['from the server', 'from storage'];

await runTool('npm run load-memory --', FLAGS, async (flags) => {
  await ensureBuilt();
  const report = await measure(flags);
  if (flags.json) return console.log(JSON.stringify(report));
  const { bytes, sentBytes, runs } = report;
  console.log(`${gigabytes(bytes)} on ${runs[0].adapter ?? 'the CPU'}`);
  for (const [i, run] of runs.entries()) console.log(describe(NAMES[i], run));
  console.log(`the server sent ${gigabytes(sentBytes)} for ${runs.length === 1 ? 'one load' : 'both loads'}`);
});
