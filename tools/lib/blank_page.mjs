// A blank page in headless Chromium that runs one script of ours, asks it one thing and hands back the answer.
// Text goes into and out of the page as ASCII JSON, so that any string survives.

import { asciiJson } from './ascii_json.mjs';
import { launchChromium } from './chromium.mjs';
import { serve } from './serve.mjs';

/**
 * @typedef {{ code: string, message: string }} Failure
 * @typedef {object} PageRun
 * @property {string} script path of a module that sets `vivaceRun` (the request as JSON in, the answer as JSON out) and
 *   `vivaceStop`, and may call `vivaceTell` with JSON
 * @property {Record<string, string>} mounts what is served, the script too
 * @property {unknown} request
 * @property {(said: any) => void} onTold
 * @property {((stop: () => void) => void) | undefined} [onStoppable] gets a function that ends the work early
 * @property {boolean} [isolated] cross-origin isolated: a finer clock, but nothing from other origins that does not agree
 */

/** A run that ended in an error: the typed error's code and sentence. */
export class RunError extends Error {
  /** @param {Failure} failure */
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

const ISOLATION = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

/** @param {string} script */
const html = (script) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Vivace</title>
<script type="module" src="${script}"></script>`;

/**
 * The answer of the script, and the version of the browser. A failure that the script reports is thrown as a RunError.
 * @param {PageRun} run
 * @returns {Promise<{ answer: any, browserVersion: string }>}
 */
export async function runInPage({ script, mounts, request, onTold, onStoppable, isolated = false }) {
  const headers = { 'content-type': 'text/html', ...(isolated ? ISOLATION : {}) };
  const server = await serve({
    mounts,
    handlers: {
      '/': (_request, response) => response.writeHead(200, headers).end(html(script)),
    },
  });
  /** @type {import('playwright-core').Browser | null} */
  let browser = null;
  try {
    browser = await launchChromium();
    const page = await browser.newPage();
    await page.exposeFunction('vivaceTell', (/** @type {string} */ json) => onTold(JSON.parse(json)));
    await page.goto(server.url);
    onStoppable?.(() => {
      page.evaluate('vivaceStop.abort()').catch(() => {}); // the page may be gone already
    });
    const asked = JSON.stringify(asciiJson(request)); // a string literal, whatever it holds
    const answer = JSON.parse(await page.evaluate(`vivaceRun(${asked})`));
    if (answer.failure) throw new RunError(answer.failure);
    return { answer, browserVersion: browser.version() };
  } finally {
    await browser?.close();
    await server.close();
  }
}
