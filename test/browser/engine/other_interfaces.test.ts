// The bundles of the Prompt API and of WebLLM's interface, in real Chromium over the engine's own bundle and the chain
// model.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blankPage } from '../../../tools/lib/browser/blank_page';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';
import { type Handler, type Served, serve } from '../../../tools/lib/serve';
import { says } from '../../chain/chain_model';
import { chainHandlers } from '../site';

const ENTRIES = `
import { Engine } from '/lib/vivace.js';
import { createLanguageModel } from '/lib/prompt_api.js';
import { CreateMLCEngine } from '/lib/webllm.js';
globalThis.entries = { Engine, createLanguageModel, CreateMLCEngine };
`;

// biome-ignore lint/suspicious/noExplicitAny: bundles without types
declare const entries: any;

let server: Served;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  const entries: Handler = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(ENTRIES);
  const handlers = { ...chainHandlers(), '/': blankPage('/entries.js'), '/entries.js': entries };
  server = await serve({ mounts: { '/': DIST }, handlers });
  browser = await launchChromium();
  page = await browser.newPage();
  await page.goto(server.url);
  await page.waitForFunction('globalThis.entries');
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

test('the Prompt API: a load with progress, a tool, a stream, a clone, the end of a session', async () => {
  const heard = await page.evaluate(async () => {
    const { Engine, createLanguageModel } = entries;
    const model = createLanguageModel((options: object) => Engine.load(`${location.origin}/chain/`, options));
    const before = await model.availability();
    let loaded = 0;
    const session = await model.create({
      monitor: (monitor: EventTarget) =>
        monitor.addEventListener('downloadprogress', (event) => {
          loaded = (event as ProgressEvent).loaded;
        }),
      tools: [
        {
          name: 'weather',
          description: 'Tells the weather',
          inputSchema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
          execute: async ({ city }: { city: string }) => `21 degrees in ${city}`,
        },
      ],
    });
    const answer = await session.prompt('weather, please');
    let streamed = '';
    for await (const text of session.promptStreaming('hello')) streamed += text;
    const clone = await session.clone();
    session.destroy();
    const refused = await session.prompt('hello').catch((error: Error) => error.name);
    const after = await model.availability();
    return { before, loaded, after, answer, streamed, cloned: await clone.prompt('hello'), refused };
  });
  expect(heard).toEqual({
    before: 'downloadable',
    loaded: 1,
    after: 'available',
    answer: says('result'),
    streamed: says('hello'),
    cloned: says('hello'),
    refused: 'InvalidStateError',
  });
});

test("WebLLM's interface: an answer whole and streamed", async () => {
  const heard = await page.evaluate(async () => {
    const { Engine, CreateMLCEngine } = entries;
    const engine = await CreateMLCEngine(`${location.origin}/chain/`, { load: Engine.load });
    const messages = [{ role: 'user', content: 'hello' }];
    const whole = await engine.chat.completions.create({ messages });
    let streamed = '';
    for await (const chunk of await engine.chat.completions.create({ messages, stream: true }))
      streamed += chunk.choices[0]?.delta.content ?? '';
    await engine.unload();
    return [whole.choices[0].message.content, streamed];
  });
  expect(heard).toEqual([says('hello'), says('hello')]);
});
