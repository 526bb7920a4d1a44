// Faults while the engine loads, answers and rests, in a real browser: what B7 14, 16, 17, 18 and 19 ask for, in small
// shares. `npm run soak` and `npm run soak-leaks` run the numbers.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../../src/engine/engine';
import { Counter } from '../../../tools/checks/soak/counts';
import { measureLeaks } from '../../../tools/checks/soak/leaks';
import { CHAIN, openSoakSite, type SoakSite, STORYTELLER, visitBare } from '../../../tools/checks/soak/site';
import type { Task } from '../../../tools/checks/soak/task';
import { load, type Outcome, unload, work } from '../../../tools/checks/soak/work';
import type { Faults } from '../../../tools/faults/page';

const BOUND_MS = 120_000;
/** Length of an answer that a fault interrupts. The context of 2,048 tokens has room for it. */
const TOKENS = 1_200;

let site: SoakSite;
beforeAll(async () => {
  site = await openSoakSite();
});
afterAll(() => site?.close());

const loaded = (page: Page, plan = '', backend: 'cpu' | 'webgpu' = 'cpu', cache = false) =>
  page.evaluate(load, { model: CHAIN, plan, cache, backend, contextLength: 2048, boundMs: BOUND_MS });

/** An answer that is still under way when the fault comes from the page, even on a busy machine. */
const chat = (fault: string | null, at: 'prefill' | 'decode' | 'idle', after: number): Task => ({
  ...(at === 'idle'
    ? { kind: 'idle' }
    : { kind: 'chat', prompt: 'endless', temperature: 24, seed: 5, maxTokens: TOKENS, ignoreEos: true, abortAfter: 0 }),
  strike: fault ? { fault, at, after } : null,
});
const run = (page: Page, task: Task): Promise<Outcome> => page.evaluate(work, { task, boundMs: BOUND_MS });

interface FaultyWindow {
  engine: Engine;
  vivaceFaults: Faults;
  crash(): void;
}

/** Answers, and crashes the GPU process after these numbers of tokens. Evaluated in the page. */
async function answerWithCrashes(after: number[]) {
  const { engine, crash } = window as unknown as FaultyWindow;
  const heard = { said: '', events: [] as string[], backend: '', health: '' };
  let tokens = 0;
  const options = { temperature: 0, maxTokens: 300 };
  for await (const event of engine.chat([{ role: 'user', content: 'endless' }], options)) {
    if (event.type === 'token' || event.type === 'done') heard.said += event.text;
    if (event.type === 'interrupted' || event.type === 'recovered') heard.events.push(event.type);
    if (event.type === 'token' && after.includes(++tokens)) crash();
  }
  return { ...heard, backend: engine.info.backend, health: engine.health.state };
}

describe('B7 18: a worker that hangs, closes, throws or is terminated', () => {
  test.each(['worker-hang', 'worker-close', 'worker-throw', 'worker-terminate'])('%s', async (fault) => {
    const { page, errors } = await visitBare(site);
    expect(await loaded(page)).toMatchObject({ end: 'ok' });
    const calm = await run(page, chat(null, 'decode', 0));
    expect(calm.tokens).toBe(TOKENS);
    const hurt = await run(page, chat(fault, 'decode', 9));
    expect(hurt).toMatchObject({ end: 'ok', said: calm.said });
    expect(hurt.events).toEqual(['interrupted worker', 'recovered cpu']);
    expect(await run(page, chat(fault, 'idle', 0))).toMatchObject({
      end: 'ok',
      said: 'Hello! I am a chain of tokens.',
    });
    expect(await page.evaluate(unload, 5000)).toEqual({ hung: false, workers: 0, health: 'well' });
    expect(errors).toEqual([]);
    await page.context().close();
  });
});

test('nothing of a dead worker is kept', async () => {
  const { page } = await visitBare(site);
  expect(await loaded(page)).toMatchObject({ end: 'ok' });
  const counter = await Counter.open(page);
  const { listeners } = await counter.count();
  expect(await run(page, chat('worker-terminate', 'decode', 9))).toMatchObject({ end: 'ok' });
  // The browser lets go of a dead worker a moment later; what the page kept would stay.
  await expect.poll(() => counter.count()).toMatchObject({ workers: 1, listeners });
  await page.context().close();
});

test('B7 18: a stop ends the answer of a worker that hangs within a second', async () => {
  const { page, errors } = await visitBare(site);
  expect(await loaded(page)).toMatchObject({ end: 'ok' });
  const first = await page.evaluate(async () => {
    const { engine, vivaceFaults } = window as unknown as FaultyWindow;
    const stop = new AbortController();
    const answer = async () => {
      let tokens = 0;
      let end = '';
      for await (const event of engine.chat([{ role: 'user', content: 'endless' }], {
        maxTokens: 1_200,
        signal: stop.signal,
      })) {
        if (event.type === 'token' && ++tokens === 9) {
          vivaceFaults.now('worker-hang');
          setTimeout(() => stop.abort(), 100);
        }
        if (event.type === 'done') end = event.finishReason;
      }
      return end;
    };
    const aborted = new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
    const late = aborted.then(() => new Promise((resolve) => setTimeout(resolve, 1000, 'a second')));
    return Promise.race([answer(), late]);
  });
  expect(first).toBe('abort');
  expect(await page.evaluate(unload, 5000)).toMatchObject({ hung: false, workers: 0 });
  expect(errors).toEqual([]);
  await page.context().close();
});

test('B7 14: a crash of the GPU process in an answer, and another, leave the text as it is', async () => {
  const own = await openSoakSite();
  try {
    const { page, errors } = await visitBare(own);
    const cdp = await own.browser.newBrowserCDPSession();
    await page.exposeFunction('crash', () => void cdp.send('Browser.crashGpuProcess').catch(() => {}));
    expect(await loaded(page, '', 'webgpu')).toMatchObject({ end: 'ok', backend: 'webgpu' });
    const calm = await page.evaluate(answerWithCrashes, []);
    for (const [backend, health] of [
      ['webgpu', 'well'],
      ['cpu', 'without-gpu'], // the browser grants no GPU after two crashes
    ]) {
      const hurt = await page.evaluate(answerWithCrashes, [9]);
      expect(hurt).toEqual({ said: calm.said, events: ['interrupted', 'recovered'], backend, health });
    }
    expect(errors).toEqual([]);
  } finally {
    await own.close();
  }
});

describe('B7 16: storage that is absent, full or refuses', () => {
  test.each(['storage-absent', 'storage-throws', 'storage-full', 'idb-throws@call:3', 'opfs-throws@call:4'])(
    '%s',
    async (plan) => {
      const { page, errors } = await visitBare(site, plan);
      expect(await loaded(page, plan, 'cpu', true)).toMatchObject({ end: 'ok' });
      expect(await run(page, chat(null, 'idle', 0))).toMatchObject({
        end: 'ok',
        said: 'Hello! I am a chain of tokens.',
      });
      expect(errors).toEqual([]);
      await page.context().close();
    },
  );
});

test('B7 17: four tabs with one model download it once, whichever closes first', async () => {
  const rangesOf = async (tabs: number, closes: boolean) => {
    const { page } = await visitBare(site);
    const context = page.context();
    let ranges = 0;
    context.on('request', (request) => {
      if (request.url().endsWith('.gguf')) ranges++;
    });
    const others = await Promise.all(Array.from({ length: tabs - 1 }, () => context.newPage()));
    for (const other of others) {
      await other.goto(page.url());
      await other.waitForFunction('window.vivace');
    }
    const request = {
      model: STORYTELLER,
      plan: '',
      cache: true,
      backend: 'cpu' as const,
      boundMs: BOUND_MS,
      patienceMs: BOUND_MS,
    };
    const all = [page, ...others];
    const loads = all.map((tab) => tab.evaluate(load, request).catch(() => null));
    if (closes) await page.close();
    const outcomes = await Promise.all(loads);
    for (const [tab, outcome] of outcomes.entries()) {
      if (!closes || tab > 0) expect(outcome).toMatchObject({ end: 'ok' });
    }
    await context.close();
    return ranges;
  };
  const alone = await rangesOf(1, false);
  expect(await rangesOf(4, false)).toBe(alone);
  // What the closed tab had fetched of a piece is fetched again.
  expect(await rangesOf(4, true)).toBeLessThanOrEqual(alone + 3);
});

test('B7 19: loads and aborts leave no listener, port, node or worker behind', async () => {
  const found = await measureLeaks({ backend: 'cpu', loads: 12, chats: 0, tokens: 0, aborts: 12, say() {} });
  expect(found.filter((line) => !line.includes('Heap'))).toEqual([]);
});
