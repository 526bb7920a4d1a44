// `npm run crash-cost [-- --gb 2.5]`: what a crash of the GPU process in mid-answer costs the reader, beyond a load
// from storage. A server on this machine makes the model's bytes on request; Chromium keeps them, and each round is a
// new browser with the same profile, because Chromium keeps a page from the GPU for two minutes after a second crash.

import { type BrowserContext, chromium } from 'playwright-core';
import { askPage, blankPage } from '../lib/browser/blank_page';
import { chromiumFlags } from '../lib/browser/chromium';
import { ensureBuilt } from '../lib/bundle/dist';
import { runTool } from '../lib/command_line/terminal';
import { ensureChromium } from '../lib/ensure.mjs';
import { PAGE_MOUNTS } from '../lib/generate/generate_in_page';
import { serve } from '../lib/serve';
import { syntheticModel } from '../lib/synthetic_model';
import { inTemporaryFolder } from '../lib/temporary_folder';
import type { CrashRequest, OutlivedCrash } from '../page/outlive_crash';

const FLAGS = {
  gb: { kind: 'number', value: 'N', help: 'size of the model in BF16, in 1e9 bytes (default 2.5)' },
  quantize: { kind: 'text', words: ['none', 'q8', 'q4'], help: 'what its weights become (default q4)' },
  prompt: { kind: 'count', value: 'N', help: 'tokens of the prompt (default 512)' },
  tokens: { kind: 'count', value: 'N', help: 'tokens of the answer (default 512)' },
  rounds: { kind: 'count', value: 'N', help: 'browsers (default 3)' },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
} as const;

const PREFIX = '/model/';

/** One answer through a crash, in a new browser. */
async function measure(profile: string, url: string, request: CrashRequest): Promise<OutlivedCrash> {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: ensureChromium(),
    headless: true,
    handleSIGINT: false, // the folder's end is the browser's, too
    args: chromiumFlags(process.env, true),
  });
  try {
    const page = await context.newPage();
    await page.exposeFunction('vivaceTell', () => crashGpu(context));
    await page.goto(url);
    const { outlived } = await askPage<{ outlived: OutlivedCrash }>(page, { task: 'crash', ...request });
    return outlived;
  } finally {
    await context.close();
  }
}

async function crashGpu(context: BrowserContext): Promise<void> {
  const cdp = await context.browser()?.newBrowserCDPSession();
  await cdp?.send('Browser.crashGpuProcess').catch(() => {}); // its answer dies with the process
}

const seconds = (value: number | null) => (value === null ? 'never' : `${value.toFixed(2)} s`);

function describe({ loadSeconds, pauseSeconds, recoverySeconds, equalTokens, tokens }: OutlivedCrash): string {
  return [
    `load from storage ${seconds(loadSeconds)}, recovery ${seconds(recoverySeconds)}`,
    `pause between two tokens ${seconds(pauseSeconds)}, which is ${seconds(pauseSeconds - loadSeconds)} beyond the load`,
    `${equalTokens} of ${tokens} tokens as in the undisturbed answer`,
  ].join('; ');
}

await runTool('npm run crash-cost --', FLAGS, async (flags) => {
  await ensureBuilt();
  const { gb = 2.5, quantize = 'q4', prompt = 512, tokens = 512, rounds = 3 } = flags;
  const model = syntheticModel(gb * 1e9, PREFIX);
  const server = await serve({ mounts: PAGE_MOUNTS, handlers: { ...model.handlers, '/': blankPage('/tools.js') } });
  const crashAfter = Math.ceil(tokens / 2);
  const load = { backend: 'webgpu', quantize, contextLength: prompt + tokens } as const;
  const run = async (profile: string) => {
    // The first browser loads from the server and keeps the model; its figures do not count.
    await measure(profile, server.url, { model: PREFIX, load, prompt, tokens: 1, crashAfter: 2 });
    const measured: OutlivedCrash[] = [];
    for (let round = 0; round < rounds; round++) {
      measured.push(await measure(profile, server.url, { model: PREFIX, load, prompt, tokens, crashAfter }));
      if (!flags.json) console.log(describe(measured[round]));
    }
    if (flags.json) console.log(JSON.stringify({ bytes: model.bytes, quantize, prompt, tokens, measured }));
    else console.log(`${(model.bytes / 1e9).toFixed(2)} GB, ${quantize}, on ${measured[0]?.adapter ?? 'the CPU'}`);
  };
  try {
    await inTemporaryFolder('vivace-crash-', run);
  } finally {
    await server.close();
  }
});
