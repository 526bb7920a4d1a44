// The clients of OpenAI's interface, unchanged, in real Chromium over engines in the page: the OpenAI SDK, the AI SDK
// and LangChain.js with the storyteller and the chain model. One page and one load for all checks.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blankPage } from '../../../tools/lib/browser/blank_page';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';
import { type Served, serve } from '../../../tools/lib/serve';
import { bundleClients } from '../clients/bundle';
import { CHECKS } from '../clients/checks';
import { chainHandlers } from '../site';

let server: Served;
let browser: Browser;
let page: Page;
const strangers: string[] = [];

beforeAll(async () => {
  await ensureBuilt();
  const script = await bundleClients();
  server = await serve({
    mounts: { '/': DIST },
    handlers: {
      ...chainHandlers(),
      '/': blankPage('/clients.js'),
      '/clients.js': (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(script),
    },
  });
  browser = await launchChromium();
  page = await browser.newPage();
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(server.url).host) strangers.push(request.url());
  });
  await page.goto(server.url);
  await page.waitForFunction('globalThis.runCheck');
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

test.each(Object.keys(CHECKS))('%s', async (name) => {
  expect(await page.evaluate(`runCheck(${JSON.stringify(name)})`)).toBeNull();
});

test('no client asked another host', () => {
  expect(strangers).toEqual([]);
});
