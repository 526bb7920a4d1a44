// A blank page in headless Chromium that runs one script of ours, asks it one thing and hands back the answer. Text
// goes into and out of the page as ASCII JSON, so that any string survives. tools/page/bridge.ts is the page's end.

import type { Browser, Page } from 'playwright-core';
import { asciiJson } from '../../page/ascii_json';
import { type Handler, serve } from '../serve';
import { launchChromium } from './chromium';

export interface PageRun {
  /** The URL path of a module that calls `answerTerminal`. */
  script: string;
  /** The served files, the script among them. */
  mounts: Record<string, string>;
  request: unknown;
  /** Gets what the script passes to `tell`. */
  onTold?: (said: never) => void;
  /** Gets a function that ends the work early. */
  onStoppable?: (stop: () => void) => void;
  /** Prepares the page before it is opened at `url`. */
  prepare?: (page: Page, browser: Browser, url: string) => Promise<void>;
  /** Cross-origin isolated: a finer clock, but nothing from other origins unless they agree. */
  isolated?: boolean;
}

/** A run that ended in an error, with the code and the message of the typed error. */
export class RunError extends Error {
  readonly code: string;

  constructor({ code, message }: { code: string; message: string }) {
    super(message);
    this.code = code;
  }
}

const ISOLATION = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

/** A page without content that runs the module `script`. */
export function blankPage(script: string, isolated = false): Handler {
  const headers = { 'content-type': 'text/html', ...(isolated ? ISOLATION : {}) };
  const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Vivace</title>
<script type="module" src="${script}"></script>`;
  return (_request, response) => void response.writeHead(200, headers).end(html);
}

/**
 * The answer of the page's script to one request.
 * @throws RunError for a failure that the script reports
 */
export async function askPage<Answer>(page: Page, request: unknown): Promise<Answer> {
  const asked = JSON.stringify(asciiJson(request)); // a string literal for any request
  const answer = JSON.parse(await page.evaluate(`vivaceRun(${asked})`));
  if (answer.failure) throw new RunError(answer.failure);
  return answer;
}

/** The answer of the script in a fresh browser, and the version of that browser. */
export async function runInPage<Answer>(run: PageRun): Promise<{ answer: Answer; browserVersion: string }> {
  const { script, mounts, request, onTold, onStoppable, prepare, isolated } = run;
  const server = await serve({ mounts, handlers: { '/': blankPage(script, isolated) } });
  let browser: Browser | null = null;
  try {
    browser = await launchChromium();
    const page = await browser.newPage();
    await page.exposeFunction('vivaceTell', (json: string) => onTold?.(JSON.parse(json) as never));
    await prepare?.(page, browser, server.url);
    await page.goto(server.url);
    onStoppable?.(() => {
      page.evaluate('vivaceStop.abort()').catch(() => {}); // the page may be gone already
    });
    return { answer: await askPage<Answer>(page, request), browserVersion: browser.version() };
  } finally {
    await browser?.close();
    await server.close();
  }
}
