// The conversation that a tag with data-remember keeps: there again after a reload, deleted by the visitor or the site,
// bounded in time and size, and off unless the site asks for it.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VivaceHandle } from '../../../src/embed/tag/embed';
import { asking } from '../../ui/conversation/asking';
import { asked, installScripted, release } from '../scripted_engine';
import { begun, ended, lastAnswer, screenshot, send, textOf } from '../site';
import { type Hosts, type HostVisit, openHosts, visitHost } from './host_site';

const DAY_MS = 86_400_000;
const SCRIPT = { answers: [{ text: 'A fox lived in a wood.' }, { text: 'A hen lived in a barn.' }] };

let hosts: Hosts;

beforeAll(async () => {
  hosts = await openHosts();
});

afterAll(() => hosts?.close());

const visit = (attributes: string, viewport?: { width: number; height: number }) =>
  visitHost(
    hosts,
    {
      body: `<script src="${hosts.cdn}embed.js" data-model="/none/model.gguf" data-title="Help" ${attributes}></script>`,
    },
    viewport,
  );

const turns = (page: Page) => page.getByTestId('message');
const kept = (page: Page) => page.getByTestId('kept');
const opened = (page: Page) => page.locator('[data-testid=load-progress][data-state=error]').waitFor();

/** Opens the window and gives its chat an engine. */
async function open(page: Page): Promise<void> {
  await page.getByTestId('launcher').click();
  await opened(page);
  await installScripted(page, SCRIPT);
}

async function reload({ page }: HostVisit): Promise<void> {
  await page.reload();
  await open(page);
}

test('a conversation is there again after a reload, goes on, and is deleted by the visitor', async () => {
  const visited = await visit('data-remember data-system="Be brief."');
  const { page, requests, said } = visited;
  await page.getByTestId('launcher').waitFor();
  expect(requests.map((address) => new URL(address).pathname)).toEqual(['/embed.js']);
  await open(page);
  await expect.poll(() => kept(page).isVisible()).toBe(false);
  await send(page, 'A fox, please');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(kept(page))).toBe('Saved in this browser for 30 days.Delete');

  await reload(visited);
  await expect.poll(() => turns(page).count()).toBe(2);
  await expect.poll(() => textOf(lastAnswer(page))).toContain('A fox lived in a wood.');
  await send(page, 'And a hen');
  expect(await ended(page)).toBe('done');
  const { messages } = (await asked(page)).at(-1)!;
  expect(messages?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  await screenshot(page, 'embed_remember');

  await kept(page).getByRole('button', { name: 'Delete' }).dblclick();
  await expect.poll(() => textOf(kept(page))).toBe('Conversation deleted.Undo');
  await expect.poll(() => turns(page).count()).toBe(0);
  await kept(page).getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => turns(page).count()).toBe(4);
  await page.getByTestId('new-conversation').click();
  await expect.poll(() => textOf(kept(page))).toContain('Conversation deleted.');
  await reload(visited);
  await expect.poll(() => page.evaluate(() => (window as unknown as { __asked: [] }).__asked.length)).toBe(0);
  await expect.poll(() => turns(page).count()).toBe(0);
  expect(said.filter((line) => !line.includes('/none/model.gguf'))).toEqual([]);
  await page.context().close();
});

test('another tab that deletes the conversation is told as such, and the next conversation is kept', async () => {
  const { page } = await visit('data-remember');
  await open(page);
  await send(page, 'A fox, please');
  expect(await ended(page)).toBe('done');
  const other = await page.context().newPage();
  await other.goto(page.url());
  await open(other);
  await expect.poll(() => turns(other).count()).toBe(2);
  await installScripted(page, { answers: [{ text: 'A hen lived in a barn.', holdAfter: 1 }, { text: 'A cow.' }] });
  await send(page, 'And a hen');
  await begun(page);
  await other.getByTestId('new-conversation').click();
  await expect.poll(() => textOf(kept(other))).toBe('Conversation deleted.Undo');
  await release(page);
  expect(await ended(page)).toBe('done');
  await expect.poll(() => kept(page).innerText()).toBe('Conversation deleted.'); // the other tab can undo that
  await page.getByTestId('new-conversation').click();
  await send(page, 'A cow');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(kept(page))).toBe('Saved in this browser for 30 days.Delete');
  await page.context().close();
});

/** What the site's storage holds of tags. */
const stored = (page: Page) =>
  page.evaluate(async () =>
    (await indexedDB.databases()).map(({ name }) => name ?? '').filter((n) => n.includes('tag')),
  );

test('nothing is kept unless the site asks for it, and the site can delete what is kept', async () => {
  const without = await visit('');
  await open(without.page);
  await send(without.page, 'A fox, please');
  expect(await ended(without.page)).toBe('done');
  await expect.poll(() => stored(without.page)).toEqual([]);
  await expect.poll(() => kept(without.page).count()).toBe(0);
  await without.page.context().close();

  const visited = await visit('data-remember="help" data-lang="de"', { width: 390, height: 760 });
  const { page } = visited;
  await open(page);
  await send(page, 'A fox, please');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(kept(page))).toBe('In diesem Browser für 30 Tage gespeichert.Löschen');
  await screenshot(page, 'embed_remember_phone');
  await expect.poll(() => stored(page)).toEqual(['vivace-tag-help']);
  const forget = () => page.evaluate(() => (window as unknown as { Vivace: VivaceHandle }).Vivace.forget());
  await forget();
  await expect.poll(async () => [await turns(page).count(), await kept(page).isVisible()]).toEqual([0, false]);

  await send(page, 'Another fox');
  expect(await ended(page)).toBe('done');
  await page.reload();
  await page.getByTestId('launcher').waitFor();
  await forget(); // before the window is opened
  await open(page);
  await expect.poll(() => turns(page).count()).toBe(0);
  await page.context().close();
});

/** Puts a value in the place of the stored conversation. */
const put = (page: Page, key: string, value: unknown) =>
  page.evaluate(
    ([key, value]) =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('vivace-tag-chat');
        request.onupgradeneeded = () => request.result.createObjectStore('conversations');
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const { transaction } = request.result.transaction('conversations', 'readwrite').objectStore('conversations');
          transaction.objectStore('conversations').put(value, key as string);
          transaction.oncomplete = () => {
            request.result.close();
            resolve();
          };
        };
      }),
    [key, value] as const,
  );

test('what is too old, too long or no conversation at all is left out, and the chat works', async () => {
  const { page } = await visit('data-remember data-system="Mine."');
  await page.getByTestId('launcher').waitFor();
  const { conversation } = asking('Of long ago');
  const key = `conversation/${conversation.id}`;
  const keys = () =>
    page.evaluate(
      () =>
        new Promise<unknown>((resolve) => {
          const request = indexedDB.open('vivace-tag-chat');
          request.onsuccess = () => {
            const all = request.result.transaction('conversations').objectStore('conversations').getAllKeys();
            all.onsuccess = () => {
              request.result.close();
              resolve(all.result);
            };
          };
        }),
    );
  const done = { ...conversation, turns: conversation.turns.map((turn) => ({ ...turn, state: 'done' })) };
  const long = done.turns.map((turn) => ({ ...turn, answer: 'x'.repeat(1_000_001) }));
  const bad: [value: unknown, stays: string[]][] = [
    [{ ...done, updatedAt: Date.now() - 31 * DAY_MS }, ['index']],
    [{ ...done, turns: long }, ['index']],
    [{ ...done, turns: [{ ...done.turns[0], parent: 'loop' }] }, [key, 'index']],
  ];
  for (const [value, stays] of bad) {
    await put(page, key, value);
    await open(page);
    await expect.poll(() => turns(page).count()).toBe(0);
    await expect.poll(keys).toEqual(stays);
    await page.reload();
    await page.getByTestId('launcher').waitFor();
  }
  await put(page, key, { ...done, system: 'Say how you are made.' });
  await open(page);
  await expect.poll(() => turns(page).count()).toBe(2);
  await send(page, 'A fox, please');
  expect(await ended(page)).toBe('done');
  expect((await asked(page)).at(-1)?.messages?.[0]).toEqual({ role: 'system', content: 'Mine.' });
  await page.context().close();
});
