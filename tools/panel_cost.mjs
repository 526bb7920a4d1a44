// `node tools/panel_cost.mjs [flags]`: what the panel takes of decode speed. In one page of one browser, answers alternate: heard by the panel
// on the screen, heard by nobody with the panel off the page. Prints both and their difference.

import { DIST, ensureBuilt } from './lib/build.mjs';
import { comparePanel } from './lib/panel_cost_page.mjs';
import { serve } from './lib/serve.mjs';
import { toolMain } from './lib/tool_main.mjs';

/** @type {Record<string, import('./lib/flags.mjs').Flag>} */
const FLAGS = {
  rounds: { kind: 'whole', value: 'N', help: 'answers with and without the panel (default 20 each)' },
  'run-ahead': { kind: 'whole', words: ['auto'], value: 'auto|N', help: 'steps in flight on the GPU (default auto)' },
  backend: { kind: 'text', words: ['webgpu', 'cpu'], help: 'default webgpu' },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
};

const READY_WITHIN_MS = 120_000;
const PROMPT = 'Tell me a story about a brave cat';

/** @param {number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {import('./lib/flags.mjs').Values} flags */
async function main(flags) {
  await ensureBuilt();
  const { launchChromium } = await import('./lib/chromium.mjs');
  const server = await serve({ mounts: { '/': DIST } });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${server.url}?backend=${flags.backend ?? 'webgpu'}`);
    await page.waitForFunction(() => document.querySelector('vivace-chat')?.engine, null, { timeout: READY_WITHIN_MS });
    const measured = await page.evaluate(comparePanel, {
      rounds: Number(flags.rounds ?? 20),
      prompt: PROMPT,
      runAhead: /** @type {'auto' | number} */ (flags['run-ahead'] ?? 'auto'),
    });
    const [on, off] = [median(measured.on), median(measured.off)];
    const cost = (1 - on / off) * 100;
    const report = { browser: `Chromium ${browser.version()}`, ...measured, medians: { on, off }, costPercent: cost };
    if (flags.json) return console.log(JSON.stringify(report));
    const range = (/** @type {number[]} */ all) => `${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)}`;
    console.log(`${report.browser}, ${measured.adapter ?? 'cpu'}, ${measured.tokens} tokens an answer, tok/s:`);
    console.log(`panel on   median ${on.toFixed(1)}   (${range(measured.on)})`);
    console.log(`panel off  median ${off.toFixed(1)}   (${range(measured.off)})`);
    console.log(`the panel costs ${cost.toFixed(2)} % (${measured.drawn} points drawn at the last answer)`);
  } finally {
    await browser.close();
    await server.close();
  }
}

await toolMain('node tools/panel_cost.mjs', FLAGS, main);
