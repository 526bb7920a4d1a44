// Thinking and calls of tools in the chat: folded above the answer, switched, copied apart, kept; with an engine that
// answers by a script, and with a real one.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asked, installScripted, release, type Script, visitScripted } from '../scripted_engine';
import { answers, ended, lastAnswer, openSite, ready, type Site, send, setting, textOf, visit } from '../site';

const THOUGHT = 'They ask for **one** thing. I look at it from all sides, and then I answer. ';
const LONG = THOUGHT.repeat(60);

let site: Site;
let page: Page;
let errors: string[];

beforeAll(async () => {
  site = await openSite();
  ({ page, errors } = await visitScripted(site, { answers: [] }));
});

afterAll(() => site?.close());

/** A new conversation with an engine that answers by the script. */
async function open(script: Script): Promise<void> {
  await installScripted(page, { thinking: 'optional', ...script });
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  await expect.poll(() => answers(page).count(), { interval: 10 }).toBe(0);
}

const byId = (id: string) => page.getByTestId(id);
const fold = () => byId('thought').last();
const body = () => byId('thought-body').last();
const isOpen = () => fold().evaluate((summary) => (summary.parentElement as HTMLDetailsElement).open);
const topOf = (id: string) =>
  byId(id)
    .last()
    .evaluate((element) => element.getBoundingClientRect().top);
const afterFrames = () =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** What screen readers heard since. */
async function listen(): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(window, { said });
    const line = document.querySelector('vivace-chat')?.shadowRoot?.querySelector('[role=status]');
    const observed = { subtree: true, childList: true, characterData: true };
    new MutationObserver(() => line?.textContent && said.push(line.textContent)).observe(line!, observed);
  });
  return () => page.evaluate(() => (window as unknown as { said: string[] }).said);
}

async function ask(text = 'Go'): Promise<void> {
  await send(page, text);
  expect(await ended(page)).toBe('done');
}

describe('thinking', () => {
  test('is folded while it runs and afterwards, says how long it was, and is heard of once', async () => {
    await open({ answers: [{ thought: THOUGHT, text: 'It is 42.', holdAfter: 10, gapMs: 2 }] });
    const heard = await listen();
    await send(page, 'Go');
    await fold().waitFor();
    await expect.poll(() => textOf(fold())).toBe('Thinking…›');
    await expect.poll(() => isOpen()).toBe(false);
    await expect.poll(() => textOf(lastAnswer(page))).toBe('');
    await expect.poll(() => lastAnswer(page).locator('.waiting').count()).toBe(0);
    await release(page);
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(fold())).toMatch(/^Thought for (?:\d+ s|less than a second)›$/);
    await expect.poll(() => isOpen()).toBe(false);
    await expect.poll(() => textOf(lastAnswer(page))).toBe('It is 42.');
    await expect
      .poll(() => heard())
      .toEqual(['The model is thinking.', 'The answer begins.', 'The answer is complete, 3 words.']);
  });

  test('is watched as it comes when unfolded by keyboard, as Markdown, and stays unfolded', async () => {
    await open({ answers: [{ thought: THOUGHT, text: 'It is 42.', holdAfter: 10 }] });
    await send(page, 'Go');
    await fold().focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(body())).toMatch(/^They ask for one thing\. I look at/);
    await expect.poll(() => byId('copy-thought').count()).toBe(0);
    await release(page);
    expect(await ended(page)).toBe('done');
    await expect.poll(() => isOpen()).toBe(true);
    await expect.poll(() => textOf(body())).toBe(THOUGHT.replaceAll('**', '').trim());
    await expect.poll(() => body().locator('strong').textContent()).toBe('one');
    await page.keyboard.press('Space');
    await expect.poll(() => isOpen()).toBe(false);
  });

  test('of a model never becomes HTML', async () => {
    await open({
      answers: [{ thought: '<img src=x onerror="window.bad = 1"> <script>bad = 2</script>', text: 'Fine.' }],
    });
    await ask();
    await fold().click();
    await expect.poll(() => textOf(body())).toContain('<img src=x');
    await expect.poll(() => body().locator('img, script').count()).toBe(0);
    expect(await page.evaluate(() => 'bad' in window)).toBe(false);
  });

  test('and the answer are copied apart', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await open({ answers: [{ thought: THOUGHT, text: 'It is **42**.' }] });
    await ask();
    await byId('copy').click();
    await expect.poll(copied).toBe('It is **42**.');
    await fold().click();
    await byId('copy-thought').click();
    await expect.poll(copied).toBe(THOUGHT.trim());
  });

  test('that is unfolded under a finished answer leaves its line where the reader pressed it', async () => {
    await open({ answers: [{ thought: LONG, text: 'It is 42. '.repeat(150) }] });
    await ask();
    await fold().scrollIntoViewIfNeeded();
    await afterFrames();
    const before = await topOf('thought');
    await fold().click();
    await afterFrames();
    expect(Math.abs((await topOf('thought')) - before)).toBeLessThan(2);
    await fold().click();
    await afterFrames();
    expect(Math.abs((await topOf('thought')) - before)).toBeLessThan(2);
  });

  test('that streams unfolded is followed to its newest line; one that was left is not', async () => {
    await open({ answers: [{ thought: LONG, text: 'It is 42.', piece: 40, holdAfter: 90 }] });
    await send(page, 'Go');
    await fold().click();
    const scroller = page.locator('.scroller');
    const fromTop = () => scroller.evaluate((each) => each.scrollTop);
    const fromEnd = () => scroller.evaluate((each) => each.scrollHeight - each.clientHeight - each.scrollTop);
    await expect.poll(() => topOf('thought')).toBeLessThan(0);
    await expect.poll(fromEnd).toBeLessThan(4);
    await scroller.hover();
    await page.mouse.wheel(0, -5000);
    await expect.poll(fromTop).toBe(0);
    const before = await topOf('thought');
    await release(page);
    expect(await ended(page)).toBe('done');
    await afterFrames();
    expect(await topOf('thought')).toBe(before);
  });

  test('that is stopped or cut says so in the answer’s place, and is no part of the next prompt', async () => {
    await open({
      answers: [
        { thought: THOUGHT, text: 'It is 42.', holdAfter: 10 },
        { thought: THOUGHT, text: '42' },
      ],
    });
    await send(page, 'Go');
    await fold().waitFor();
    await page.keyboard.press('Escape');
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(byId('end').last())).toContain('Stopped while thinking, before the answer');
    await setting(page, 'maxTokens', '5');
    await ask('Again');
    await expect
      .poll(() => textOf(byId('end').last()))
      .toContain('Thinking stopped at your 5-token limit, before the answer. You can switch it off.');
    await expect.poll(() => byId('end').count()).toBe(2);
    await setting(page, 'maxTokens', '');
    await ask('And again');
    expect((await asked(page)).at(-1)?.messages).toEqual([{ role: 'user', content: 'And again' }]);
    await ask('Thanks');
    expect((await asked(page)).at(-1)?.messages?.[1]).toEqual({ role: 'assistant', content: '42', reasoning: THOUGHT });
  });
});

describe('the switch', () => {
  test('is there only where the chat template has one, and reaches the engine', async () => {
    for (const thinking of ['none', 'always'] as const) {
      await open({ thinking, answers: [{ thought: thinking === 'always' ? THOUGHT : '', text: '42' }] });
      await expect.poll(() => byId('thinking').count()).toBe(0);
      await ask();
      expect((await asked(page))[0].options).not.toHaveProperty('thinking');
      await expect.poll(() => byId('thought').count()).toBe(thinking === 'always' ? 1 : 0);
    }
    await open({ answers: [{ thought: THOUGHT, text: '42' }] });
    const button = page.getByRole('button', { name: 'Thinking', exact: true });
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true');
    await button.click();
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('false');
    await ask();
    await expect.poll(() => byId('thought').count()).toBe(0);
    await button.click();
    await ask();
    await expect.poll(() => byId('thought').count()).toBe(1);
    expect((await asked(page)).map(({ options }) => options.thinking)).toEqual(['off', 'on']);
  });

  test('is remembered, and keeps its name on a phone', async () => {
    await open({ answers: [] });
    await byId('thinking').click();
    await page.reload();
    await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
    await installScripted(page, { answers: [], thinking: 'optional' });
    await expect.poll(() => byId('thinking').getAttribute('aria-pressed')).toBe('false');
    await page.setViewportSize({ width: 360, height: 740 });
    const button = page.getByRole('button', { name: 'Thinking', exact: true });
    await expect.poll(async () => (await button.boundingBox())!.width).toBeLessThan(50);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await button.click();
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true');
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});

test('calls are shown though this page has no tools, and one that cannot be read as the model wrote it', async () => {
  const calls = [
    { name: 'weather', arguments: '{"city": "Bern"}' },
    { name: '', arguments: '<tool_call>{oops', error: 'The arguments are no JSON object.' },
  ];
  await open({ answers: [{ calls }] });
  await ask();
  expect((await byId('call').locator('pre').allTextContents()).map((text) => text.trim())).toEqual([
    'weather {"city": "Bern"}',
    '<tool_call>{oops',
  ]);
  await expect.poll(() => textOf(byId('call').last())).toContain('The arguments are no JSON object.');
  await expect.poll(() => textOf(byId('end'))).toBe('The model asked for a tool.');
});

test('thinking and calls are exported and imported with their conversation', async () => {
  const calls = [{ name: 'weather', arguments: '{"city": "Bern"}' }];
  await open({ answers: [{ thought: THOUGHT, text: 'It is 42.', calls }] });
  await ask('What is it?');
  const [download] = await Promise.all([page.waitForEvent('download'), byId('library-export-all').click()]);
  const file = await readFile((await download.path())!, 'utf8');
  const other = await visitScripted(site, { answers: [] });
  const [chooser] = await Promise.all([
    other.page.waitForEvent('filechooser'),
    other.page.getByTestId('library-import').click(),
  ]);
  await chooser.setFiles({ name: 'c.json', mimeType: 'application/json', buffer: Buffer.from(file) });
  await other.page.getByTestId('library-open').filter({ hasText: 'What is it?' }).first().click();
  await other.page.getByTestId('thought').click();
  await expect.poll(() => textOf(other.page.getByTestId('thought-body'))).toContain('They ask for one thing.');
  await expect.poll(() => other.page.getByTestId('call').count()).toBe(1);
  await other.page.context().close();
});

test('a real model thinks, answers, is switched, and is cut in its thinking', async () => {
  const { page, errors } = await visit(site, '?model=chain/');
  await ready(page);
  await send(page, 'Please think.');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(lastAnswer(page))).toBe('The answer is 42.');
  await page.getByTestId('thought').click();
  await expect.poll(() => textOf(page.getByTestId('thought-body'))).toContain('6 times 7 is 42.');
  await expect.poll(() => textOf(page.getByTestId('meter'))).toMatch(/^Memory \d+% full$/);
  await page.getByTestId('thinking').click();
  await send(page, 'Please think again.');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(lastAnswer(page))).toBe('Hello! I am a chain of tokens.');
  await expect.poll(() => page.getByTestId('thought').count()).toBe(1);
  await page.getByTestId('thinking').click();
  await setting(page, 'maxTokens', '4');
  await send(page, 'Please think again.');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(lastAnswer(page))).toContain('Thinking stopped at your 4-token limit');
  expect(errors).toEqual([]);
  await page.context().close();
});

test('no console messages', () => {
  expect(errors.filter((error) => !/Failed to load resource/.test(error))).toEqual([]);
});
