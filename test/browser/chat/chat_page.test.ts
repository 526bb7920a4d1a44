// A newcomer's first minutes: the page loads its model, tells a story token by token, stops, goes on, and shows the
// time of every token.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answers,
  ended,
  lastAnswer,
  openPanel,
  openSite,
  progress,
  prompt,
  ready,
  type Site,
  screenshot,
  send,
  sendAndStop,
  setting,
  stateOf,
  textOf,
  type Visit,
  visit,
} from '../site';

const STEPS_OF_A_STREAM = 5;

let site: Site;

beforeAll(async () => {
  site = await openSite();
});

afterAll(() => site?.close());

/** The lengths of the newest answer's text while it grew. */
async function watchLengths(visited: Visit): Promise<number[]> {
  const answer = lastAnswer(visited.page);
  await answer.waitFor();
  const handle = await answer.evaluateHandle((element) => {
    const lengths: number[] = [];
    const look = () => {
      const { length } = element.textContent?.trim() ?? '';
      if (length !== lengths.at(-1)) lengths.push(length);
    };
    look();
    new MutationObserver(look).observe(element, { subtree: true, childList: true, characterData: true });
    return lengths;
  });
  expect(await ended(visited.page)).toBe('done');
  return (await handle.jsonValue()) as number[];
}

describe('one conversation, from the first visit on', () => {
  let visited: Visit;

  beforeAll(async () => {
    visited = await visit(site);
  });

  afterAll(() => visited?.page.context().close());

  test('the storyteller loads with a progress bar in bytes, and three examples greet', async () => {
    const { page } = visited;
    const seen = new Set<string>();
    await expect
      .poll(
        async () => {
          const [bar] = await progress(page).evaluateAll((found) => found.map((e) => [e.textContent, e.dataset.state]));
          seen.add(bar?.[0] ?? '');
          return bar ? bar[1] : 'ready';
        },
        { timeout: 90_000, interval: 10 },
      )
      .toBe('ready');
    expect([...seen].join('\n')).toMatch(/\d[\d.,]* ?[kKM]i?B/);
    await ready(page);
    await expect.poll(() => page.getByTestId('example').count()).toBe(3);
  });

  test('an example starts a story that streams token by token, about what was asked', async () => {
    const { page } = visited;
    await setting(page, 'temperature', '0');
    await setting(page, 'maxTokens', '24'); // a software GPU is slow
    await page.getByTestId('example').first().click();
    const lengths = await watchLengths(visited);
    expect(lengths.length).toBeGreaterThanOrEqual(STEPS_OF_A_STREAM);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    const text = await textOf(lastAnswer(page));
    expect(text.length).toBeGreaterThan(50);
    expect(text.toLowerCase()).toContain('cat');
  });

  test('the panel shows one point for every token but the first, which has its TTFT', async () => {
    const { page } = visited;
    const panel = page.getByTestId('metrics');
    await openPanel(page);
    const generated = Number(/(\d+) out/.exec(await textOf(panel.locator('[data-figure=tokens]')))?.[1]);
    expect(generated).toBeGreaterThan(STEPS_OF_A_STREAM);
    await expect.poll(() => panel.getAttribute('data-points')).toBe(String(generated - 1));
    for (const key of ['p50', 'p95', 'p99', 'max', 'jitter', 'ttft', 'decode-rate', 'prefill-rate', 'adapter']) {
      expect(await textOf(panel.locator(`[data-figure=${key}]`)), key).toMatch(/\w/);
    }
    await expect.poll(() => textOf(panel.locator('[data-figure=attention-prefill]'))).toContain('flash_prefill');
    await expect.poll(() => textOf(panel.locator('[data-figure=attention-decode]'))).toContain('fused_decode');
  });

  test('light, dark, and phone width without sideways scrolling', async () => {
    const { page } = visited;
    await page.emulateMedia({ colorScheme: 'light' });
    await screenshot(page, 'desktop_light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await screenshot(page, 'desktop_dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 360, height: 740 });
    await screenshot(page, 'phone');
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('a second turn is answered in the same conversation', async () => {
    const { page } = visited;
    await send(page, 'What happened next?');
    expect((await watchLengths(visited)).at(-1)).toBeGreaterThan(10);
    await expect.poll(() => answers(page).count()).toBe(2);
  });

  test('Stop ends an answer, and the engine answers again after it', async () => {
    const { page } = visited;
    await setting(page, 'maxTokens', '');
    expect(await sendAndStop(page, 'Tell me a long story about a dragon')).toBe('done');
    const kept = await textOf(lastAnswer(page));
    expect(kept.trim()).not.toBe('');
    expect(await sendAndStop(page, 'Tell me a story about a frog')).toBe('done');
    await expect.poll(() => textOf(answers(page).nth(2))).toBe(kept); // no text of the stopped answer came late
  });

  test('a prompt longer than the context is refused with both numbers, and the conversation stays', async () => {
    const { page } = visited;
    const before = await answers(page).count();
    const first = await textOf(answers(page).first());
    await send(page, 'word '.repeat(3000));
    expect(await ended(page)).toBe('error');
    const numbers =
      (await textOf(lastAnswer(page)))
        .replaceAll(',', '')
        .match(/\d{4,}/g)
        ?.map(Number) ?? [];
    expect(numbers).toContain(1024);
    expect(Math.max(...numbers)).toBeGreaterThanOrEqual(3000);
    await expect.poll(() => answers(page).count()).toBe(before + 1);
    await expect.poll(() => textOf(answers(page).first())).toBe(first);
  });

  test('a new conversation starts empty and is answered', async () => {
    const { page } = visited;
    await page.getByTestId('new-conversation').click();
    await expect.poll(() => answers(page).count()).toBe(0);
    expect(await sendAndStop(page, 'Tell me a story about a bird')).toBe('done');
  });

  test('no console messages and no requests to other hosts', () => {
    expect(visited.errors).toEqual([]);
    expect(visited.strangers).toEqual([]);
  });
});

describe('a model that cannot be loaded', () => {
  for (const [what, address, pattern] of [
    ['an address that answers 404', '?model=/nothing.gguf', /404/],
    ['an address that answers a page of HTML', '?model=/page.gguf', /HTML|web page/i],
    ['a folder that answers 404', '?model=/nothing/', /config\.json/],
  ] as const) {
    test(`${what} gives a sentence`, async () => {
      const { page } = await visit(site, address);
      await expect.poll(() => stateOf(progress(page)), { timeout: 90_000 }).toBe('error');
      await expect.poll(() => textOf(progress(page))).toMatch(pattern);
      await expect.poll(() => prompt(page).isEditable()).toBe(true);
      await page.context().close();
    });
  }
});
