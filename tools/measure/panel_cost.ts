// `npm run panel-cost [-- flags]`: the part of decode speed that the panel takes. In one page of one browser, answers
// alternate: with the panel on the screen and recording, and with the panel off the page. Prints both and their
// difference.

import { launchChromium } from '../lib/browser/chromium';
import { DIST, ensureBuilt } from '../lib/bundle/dist';
import { runTool } from '../lib/command_line/terminal';
import { serve } from '../lib/serve';
import { comparePanel } from '../page/panel_cost';

const FLAGS = {
  rounds: { kind: 'count', value: 'N', help: 'answers with and without the panel (default 20 each)' },
  'run-ahead': { kind: 'whole', words: ['auto'], value: 'auto|N', help: 'steps in flight on the GPU (default auto)' },
  backend: { kind: 'text', words: ['webgpu', 'cpu'], help: 'default webgpu' },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
} as const;

const READY_WITHIN_MS = 120_000;
const PROMPT = 'Tell me a story about a brave cat';

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

const range = (all: readonly number[]) => `${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)}`;

await runTool('npm run panel-cost --', FLAGS, async (flags) => {
  await ensureBuilt();
  const server = await serve({ mounts: { '/': DIST } });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${server.url}?backend=${flags.backend ?? 'webgpu'}`);
    await page.waitForFunction(() => document.querySelector('vivace-chat')?.engine, null, { timeout: READY_WITHIN_MS });
    await page.locator('#timing').click();
    const { rounds = 20, 'run-ahead': runAhead = 'auto' } = flags;
    const measured = await page.evaluate(comparePanel, { rounds, prompt: PROMPT, runAhead });
    const [on, off] = [median(measured.on), median(measured.off)];
    const cost = (1 - on / off) * 100;
    const report = { browser: `Chromium ${browser.version()}`, ...measured, medians: { on, off }, costPercent: cost };
    if (flags.json) return console.log(JSON.stringify(report));
    console.log(`${report.browser}, ${measured.adapter ?? 'cpu'}, ${measured.tokens} tokens an answer, tok/s:`);
    console.log(`panel on   median ${on.toFixed(1)}   (${range(measured.on)})`);
    console.log(`panel off  median ${off.toFixed(1)}   (${range(measured.off)})`);
    console.log(`the panel costs ${cost.toFixed(2)} % (${measured.drawn} points drawn at the last answer)`);
  } finally {
    await browser.close();
    await server.close();
  }
});
