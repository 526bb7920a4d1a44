// A browser with the injector, the package and the chain model, for soaks and for the tests of faults.

import type { Browser, Page } from 'playwright-core';
import { chainModel } from '../../../test/chain/chain_model';
import { faultHandlers } from '../../faults/serve';
import { launchChromium } from '../../lib/browser/chromium';
import { DIST, ensureBuilt } from '../../lib/bundle/dist';
import { type Handler, type Served, serve } from '../../lib/serve';

export interface SoakSite {
  url: string;
  browser: Browser;
  /** Requests of model files so far, by path. */
  requests: Map<string, number>;
  close(): Promise<void>;
}

/** The folder of the chain model below the site. */
export const CHAIN = '/chain/';
export const STORYTELLER = '/models/storyteller/storyteller-q8_0.gguf';

function fileHandlers(requests: Map<string, number>): Record<string, Handler> {
  const answer = (path: string, bytes: Uint8Array): Handler => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': bytes.length, etag: '"chain"' };
    return (_request, response) => {
      requests.set(path, (requests.get(path) ?? 0) + 1);
      response.writeHead(200, headers).end(bytes);
    };
  };
  const files = Object.entries(chainModel()).map(([name, bytes]) => [CHAIN + name, answer(CHAIN + name, bytes)]);
  return Object.fromEntries(files);
}

export async function openSoakSite(options: { webgpu?: boolean } = {}): Promise<SoakSite> {
  await ensureBuilt();
  const requests = new Map<string, number>();
  const handlers = { ...(await faultHandlers()), ...fileHandlers(requests) };
  const server: Served = await serve({ mounts: { '/': DIST }, handlers });
  const browser = await launchChromium(options);
  const close = async () => {
    await browser.close();
    await server.close();
  };
  return { url: server.url, browser, requests, close };
}

export interface Visit {
  page: Page;
  /** Uncaught errors and rejections of the page and its workers, apart from injected ones. */
  errors: string[];
}

/** A bare page with the package as `window.vivace` and fresh storage. */
export async function visitBare(site: SoakSite, plan = ''): Promise<Visit> {
  const context = await site.browser.newContext();
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => {
    if (!message.includes('Injected')) errors.push(message);
  });
  await page.goto(`${site.url}bare?faults=${plan}`);
  await page.waitForFunction('window.vivace');
  return { page, errors };
}
