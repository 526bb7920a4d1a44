// Workers that close or hang while a model loads, answers or waits: nothing in the page waits for them. The page's own
// Worker class puts a listener before the engine's code, which ends or hangs the worker on request.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as Vivace from '../../../src/engine/engine';
import { begun, ended, lastAnswer, openSite, ready, type Site, send, stateOf, visit } from '../site';

interface PageWindow extends Window {
  /** The newest worker of the engine. */
  newest: Worker;
  Engine: typeof Vivace.Engine;
}

let site: Site;
beforeAll(async () => {
  site = await openSite({ webgpu: false });
});
afterAll(() => site?.close());

/** A page whose workers obey posted 'close' and 'hang' messages. */
async function open(address: string): Promise<Page> {
  const { page } = await visit(site, 'favicon.svg');
  await page.addInitScript(() => {
    const Usual = Worker;
    window.Worker = class extends Usual {
      constructor(url: string | URL, options?: WorkerOptions) {
        const code = `onmessage = ({ data }) => { if (data === 'close') close(); while (data === 'hang'); }; import ${JSON.stringify(String(url))};`;
        super(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), options);
        (window as unknown as PageWindow).newest = this;
      }
    };
  });
  await page.goto(site.url + address);
  return page;
}

/** A page with only the package. */
async function openBare(): Promise<Page> {
  const page = await open('embed_demo.html');
  const content = `import { Engine } from '${site.url}lib/vivace.js'; window.Engine = Engine;`;
  await page.addScriptTag({ type: 'module', content });
  await page.waitForFunction(() => 'Engine' in window);
  return page;
}

test('a worker ends in mid-answer: the answer goes on in a new one, with the same text', async () => {
  const page = await openBare();
  const heard = await page.evaluate(async () => {
    const { Engine } = window as unknown as PageWindow;
    const engine = await Engine.load('models/storyteller/storyteller-q8_0.gguf', { backend: 'cpu' });
    const run = async (onToken: (tokens: number) => void) => {
      let [text, tokens, told] = ['', 0, ''];
      // Long enough that its worker ends before the answer does, even on a busy machine.
      const options = { temperature: 0, maxTokens: 150, ignoreEos: true };
      for await (const event of engine.complete('Once upon a time', options)) {
        if (event.type === 'token') onToken(++tokens);
        if (event.type === 'interrupted' || event.type === 'recovered') told += `${event.type} `;
        if ('text' in event) text += event.text;
      }
      return { text, tokens, told };
    };
    const undisturbed = await run(() => {});
    const disturbed = await run((tokens) => {
      if (tokens === 4) (window as unknown as PageWindow).newest.postMessage('close');
    });
    return { undisturbed, disturbed, health: engine.health.state, lost: engine.lost };
  });
  expect(heard.disturbed).toEqual({ ...heard.undisturbed, told: 'interrupted recovered ' });
  expect(heard).toMatchObject({ health: 'well', lost: null, undisturbed: { tokens: 150, told: '' } });
  await page.context().close();
});

test('a worker in an endless loop delays no stop, request, unload or abort of a load', async () => {
  const page = await openBare();
  const heard = await page.evaluate(async () => {
    const { Engine } = window as unknown as PageWindow;
    const hang = () => (window as unknown as PageWindow).newest.postMessage('hang');
    const options = { backend: 'cpu', cache: false } as const;
    const ends: unknown[] = [];
    const engine = await Engine.load('models/storyteller/storyteller-q8_0.gguf', options);
    for (const isFirst of [true, false]) {
      const stop = new AbortController();
      let tokens = 0;
      const answer = engine.complete('Once upon a time', { signal: stop.signal });
      if (!isFirst) setTimeout(() => stop.abort());
      for await (const event of answer) {
        if (event.type === 'token' && ++tokens === 2) {
          hang();
          stop.abort();
        }
        if (event.type === 'done') ends.push([event.finishReason, event.usage.completionTokens > 0]);
      }
    }
    await engine.unload();
    const stop = new AbortController();
    const loading = Engine.load('models/storyteller/storyteller-q8_0.gguf', {
      ...options,
      signal: stop.signal,
      onProgress: () => {
        hang();
        stop.abort();
      },
    });
    ends.push(await loading.catch((error: Error) => error.name));
    return ends;
  });
  expect(heard).toEqual([['abort', true], ['abort', false], 'AbortError']);
  await expect.poll(() => page.workers().length, { timeout: 20_000 }).toBe(0); // both were ended
  await page.context().close();
});

test('in the chat, Stop ends the answers of a worker in an endless loop', async () => {
  const page = await open('?backend=cpu');
  await ready(page);
  await send(page, 'Tell me a story about a fox');
  await begun(page);
  await page.evaluate(() => (window as unknown as PageWindow).newest.postMessage('hang'));
  await page.getByTestId('stop').click();
  expect(await ended(page, 20_000)).toBe('done');
  await send(page, 'And another one');
  await expect.poll(() => stateOf(lastAnswer(page))).toBe('streaming');
  await page.getByTestId('stop').click();
  expect(await ended(page, 20_000)).toBe('done');
  await page.context().close();
});
