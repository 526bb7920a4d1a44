// The list of conversations in the real page: kept, renamed, deleted, restored, exported to another browser, and safe
// from two tabs that write at once.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { installScripted, type Script, visitScripted } from '../scripted_engine';
import { ended, lastAnswer, openSite, prompt, type Site, send, stateOf, textOf, type Visit } from '../site';

const SCRIPT: Script = { answers: [{ text: 'A short answer.' }] };
const SOON = { timeout: 90_000, interval: 20 };

let site: Site;
let visited: Visit;
let page: Page;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
});

afterAll(() => site?.close());

const rows = (of = page) => of.getByTestId('library-row');
const titles = (of = page) => rows(of).getByTestId('library-open').allTextContents();
const note = (of = page) => of.getByTestId('library-note');
const focused = (of = page) =>
  of.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element?.textContent?.trim() || element?.tagName;
  });

async function ask(text: string, of = page): Promise<void> {
  await send(of, text);
  expect(await ended(of)).toBe('done');
}

/** Another page of the same browser profile: a second tab, or the first page reloaded. */
async function revisit(of: Page): Promise<void> {
  await of.goto(`${site.url}?model=/page.gguf`);
  await expect.poll(() => stateOf(of.getByTestId('load-progress')), { timeout: 90_000, interval: 20 }).toBe('error');
  await installScripted(of, SCRIPT);
}

async function downloadText(of: Page, click: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([of.waitForEvent('download'), click()]);
  return readFile((await download.path())!, 'utf8');
}

async function importText(of: Page, text: string, name = 'conversations.json'): Promise<void> {
  const [chooser] = await Promise.all([of.waitForEvent('filechooser'), of.getByTestId('library-import').click()]);
  await chooser.setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
}

describe('in one browser', () => {
  beforeAll(async () => {
    visited = await visitScripted(site, SCRIPT);
    page = visited.page;
  });

  afterAll(() => page?.context().close());

  /**
   * Empties the storage, as on a first visit, and undoes what a failed test has left. A new visit would take a second
   * per test.
   */
  beforeEach(async () => {
    await page.getByTestId('library-search').fill('');
    await page.evaluate(async () => {
      const library = document.querySelector('vivace-library')!;
      for (const { id } of library.summaries ?? []) await library.delete(id);
    });
    await page.getByTestId('library-new').click();
    await installScripted(page, SCRIPT);
    await expect.poll(() => titles(), SOON).toEqual([]);
    return () => expect(visited.errors.filter((error) => !/Failed to load resource/.test(error))).toEqual([]);
  });

  test('conversations are saved at once, reopened, and present after a reload', async () => {
    await expect.poll(() => titles()).toEqual([]);
    await ask('The first question');
    await page.getByTestId('library-new').click();
    await ask('The second question');
    await expect.poll(() => titles(), SOON).toEqual(['The second question', 'The first question']);
    await rows().nth(1).getByTestId('library-open').click();
    await expect.poll(() => page.locator('[data-role=user]').allTextContents(), SOON).toEqual(['The first question']);
    await expect.poll(() => rows().nth(1).getByTestId('library-open').getAttribute('aria-current')).toBe('true');
    await ask('One more'); // the page closes before the save
    await revisit(page);
    await expect
      .poll(() => page.locator('[data-role=user]').allTextContents(), SOON)
      .toEqual(['The first question', 'One more']);
    await expect.poll(() => textOf(lastAnswer(page)), SOON).toContain('A short answer.');
    await expect.poll(() => titles()).toEqual(['The first question', 'The second question']);
  });

  test('a question survives a crash at the moment of asking the model', async () => {
    const tab = await page.context().newPage();
    await revisit(tab);
    await tab.getByTestId('library-new').click();
    const crashed = new Promise((resolve) => tab.once('crash', resolve));
    const devtools = await page.context().newCDPSession(tab);
    await tab.exposeFunction('crash', () => void devtools.send('Page.crash').catch(() => {}));
    await tab.evaluate(() => {
      const { engine } = document.querySelector('vivace-chat')!;
      engine!.chat = () => {
        (window as unknown as { crash(): void }).crash();
        for (;;); // blocks this tab
      };
    });
    await prompt(tab).fill('Is it kept?');
    void tab.keyboard.press('Enter').catch(() => {});
    await crashed;
    await tab.close();
    await revisit(page);
    await expect.poll(() => titles(), SOON).toEqual(['Is it kept?']);
  });

  test('by keyboard: arrows, rename, delete, undo, and the focus is never lost', async () => {
    for (const question of ['Apples', 'Pears', 'Plums']) {
      await page.getByTestId('library-new').click();
      await ask(question);
      await expect.poll(async () => (await titles())[0], SOON).toBe(question);
    }
    await page.getByTestId('library-new').focus();
    await page.keyboard.press('Tab'); // the search
    await page.keyboard.press('Tab');
    await expect.poll(() => focused()).toBe('Plums');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('F2');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('Sweet pears');
    await page.keyboard.press('Enter');
    await expect.poll(() => titles(), SOON).toEqual(['Plums', 'Sweet pears', 'Apples']);
    await expect.poll(() => focused()).toBe('Sweet pears');
    expect(await page.locator('[data-role=user]').allTextContents()).toEqual(['Plums']); // still the open one
    await page.keyboard.press('F2');
    await page.keyboard.type('not this');
    await page.keyboard.press('Escape');
    await expect
      .poll(async () => [await titles(), await focused()])
      .toEqual([['Plums', 'Sweet pears', 'Apples'], 'Sweet pears']);
    await page.keyboard.press('Delete');
    await expect.poll(() => titles(), SOON).toEqual(['Plums', 'Apples']);
    await expect.poll(() => focused(), SOON).toBe('Apples');
    await expect.poll(() => note().textContent()).toContain('Deleted “Sweet pears”.');
    await page.getByTestId('library-undo').click();
    await expect.poll(() => titles(), SOON).toEqual(['Plums', 'Sweet pears', 'Apples']);
    await expect.poll(() => focused(), SOON).toBe('Sweet pears');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('[data-role=user]').allTextContents(), SOON).toEqual(['Pears']);

    const stop = () =>
      page.evaluate(() => {
        const { shadowRoot } = document.querySelector('vivace-library')!;
        return shadowRoot?.activeElement?.getAttribute('data-testid');
      });
    await page.keyboard.press('Tab');
    await expect.poll(() => stop()).toBe('library-more');
    for (const leaves of ['Escape', 'Tab']) {
      await page.keyboard.press('Enter');
      await expect.poll(() => stop()).toBe('library-rename');
      await page.keyboard.press(leaves);
      await expect.poll(() => stop()).toBe('library-more');
    }
  });

  test('the keys that lead to the search lead back to the field, with what was written', async () => {
    const place = () =>
      page.evaluate(() => {
        let found = document.activeElement;
        while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
        return found?.getAttribute('data-testid');
      });
    await prompt(page).fill('Half a question');
    await page.keyboard.press('ControlOrMeta+k');
    await expect.poll(() => place()).toBe('library-search');
    await page.keyboard.type('x');
    await page.keyboard.press('ControlOrMeta+k'); // again, from the search itself
    await page.keyboard.press('Escape'); // clears
    await expect.poll(() => place()).toBe('library-search');
    await page.keyboard.press('Escape');
    await expect.poll(() => place()).toBe('prompt');
    expect(await prompt(page).inputValue()).toBe('Half a question');
    await prompt(page).fill('');
  });

  test('each conversation has an address: Back, Forward, a reload and a bookmark open it', async () => {
    const asked = () => page.locator('[data-role=user]').allTextContents();
    const fragment = () => page.evaluate(() => location.hash);
    await ask('Apples');
    const apples = await fragment();
    expect(apples).toMatch(/^#c=[0-9a-f]{32}$/);
    await expect.poll(() => page.title(), SOON).toBe('Apples – Vivace');
    await page.getByTestId('library-new').click();
    await expect.poll(() => fragment()).toBe('');
    await expect.poll(() => page.title(), SOON).toBe('Vivace');
    await ask('Pears');
    await page.goBack();
    await expect.poll(asked, SOON).toEqual(['Apples']);
    await page.goForward();
    await expect.poll(asked, SOON).toEqual(['Pears']);
    await expect.poll(() => page.title(), SOON).toBe('Pears – Vivace');
    expect(page.url()).toContain('?model=');
    await page.goBack();
    await page.reload();
    await expect.poll(asked, SOON).toEqual(['Apples']);
    await page.evaluate(() => {
      location.hash = `#c=${'0'.repeat(32)}`;
    });
    await page.locator('vivace-notices').getByText('That conversation isn’t in this browser').waitFor();
    await expect.poll(fragment, SOON).toBe(apples);
    expect(await asked()).toEqual(['Apples']);
    await page.goto('about:blank'); // from the page itself, another fragment is no load
    await page.goto(`${site.url}?model=/page.gguf#c=${'1'.repeat(32)}`);
    await page.locator('vivace-notices').getByText('That conversation isn’t in this browser').waitFor();
    await expect.poll(asked, SOON).toEqual(['Pears']); // the newest
    await revisit(page);
  });

  test('a search finds words in all conversations, and opens one at the turn that has them', async () => {
    const results = page.getByTestId('library-result');
    const paragraph = 'A long paragraph that fills the window. '.repeat(60);
    await installScripted(page, {
      answers: [{ text: `The Café is open.\n\n${paragraph}` }, { text: paragraph }],
      contextLength: 1e6,
    });
    for (const question of ['Where can I eat?', 'And then?', 'And after that?']) await ask(question);
    await page.getByTestId('library-new').click();
    await installScripted(page, SCRIPT);
    await ask('Something about dragons');
    await expect.poll(() => titles(), SOON).toEqual(['Something about dragons', 'Where can I eat?']);
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('CAFE eat');
    // Title and excerpt. The results of the letters before stay until then.
    await expect.poll(() => results.locator('mark').allTextContents(), SOON).toEqual(['eat', 'Café']);
    await expect.poll(() => page.getByTestId('library-searched').textContent(), SOON).toBe('1 conversation');
    await expect.poll(() => results.count()).toBe(1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const asked = page.locator('[data-role=user]');
    await expect
      .poll(() => asked.allTextContents(), SOON)
      .toEqual(['Where can I eat?', 'And then?', 'And after that?']);
    const isInView = (text: string) =>
      asked.filter({ hasText: text }).evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    await expect.poll(() => isInView('Where can I eat?'), SOON).toBe(true);
    await expect.poll(() => isInView('And after that?')).toBe(false);
    await page.getByTestId('library-search').fill('dragons in Spain');
    await expect.poll(() => page.getByTestId('library-searched').textContent(), SOON).toContain('No conversation');
    await page.keyboard.press('Escape');
    await expect.poll(() => titles(), SOON).toHaveLength(2);
    await expect.poll(() => page.getByTestId('library-search').inputValue()).toBe('');
    await prompt(page).focus();
    await page.keyboard.type('a/b');
    await expect.poll(() => prompt(page).inputValue()).toBe('a/b');
    await prompt(page).fill('');
  });

  test('the open conversation can be deleted during an answer, and stays deleted', async () => {
    await installScripted(page, { answers: [{ text: 'word '.repeat(50), holdAfter: 5 }] });
    await send(page, 'Delete me');
    await expect.poll(() => titles(), SOON).toEqual(['Delete me']);
    await rows().first().hover();
    await rows().first().getByTestId('library-more').click();
    await page.getByTestId('library-delete').click();
    await expect.poll(() => titles(), SOON).toEqual([]);
    await expect.poll(() => page.locator('[data-role=user]').count(), SOON).toBe(0);
    await page.getByTestId('library-new').click();
    await installScripted(page, SCRIPT);
    await ask('Something else');
    await expect.poll(() => titles(), SOON).toEqual(['Something else']);
  });

  for (const [what, remove] of [
    ['one conversation', 'library-delete'],
    ['all', 'library-delete-all'],
  ] as const) {
    test(`deleting ${what} during an answer and undoing that brings all of its text back, to go on with`, async () => {
      const endless = { text: 'word '.repeat(100_000), gapMs: 1 };
      await installScripted(page, { answers: [endless, { text: 'The end.' }], contextLength: 1_000_000 });
      await page.evaluate(() => {
        document.querySelector('vivace-library')!.addEventListener(
          'vivace-new-conversation',
          () => {
            const { turns } = document.querySelector('vivace-chat')!.conversation;
            document.body.dataset.left = turns.at(-1)!.answer;
          },
          { capture: true, once: true },
        );
      });
      await send(page, 'Bring me back');
      await expect.poll(() => textOf(lastAnswer(page)), SOON).toContain('word');
      if (remove === 'library-delete') {
        await rows().first().hover();
        await rows().first().getByTestId('library-more').click();
      }
      await page.getByTestId(remove).click();
      await expect.poll(() => titles(), SOON).toEqual([]);
      await page.getByTestId('library-undo').click();
      await expect.poll(() => titles(), SOON).toEqual(['Bring me back']);
      const stored = () =>
        page.evaluate(async () => {
          const library = document.querySelector('vivace-library')!;
          const { turns } = (await library.find(library.summaries![0].id))!;
          const shown = document.querySelector('vivace-chat')!.conversation.turns;
          return [turns, shown].map((each) => [each.at(-1)!.answer, each.at(-1)!.finishReason]);
        });
      const left = (await page.locator('body').getAttribute('data-left'))!;
      expect(left).toContain('word');
      expect(await stored()).toEqual([
        [left, 'abort'],
        [left, 'abort'],
      ]);
      await page.getByTestId('continue').click();
      expect(await ended(page)).toBe('done');
    });
  }

  test('a broken or incomplete index is repaired', async () => {
    await ask('Still here');
    await expect.poll(() => titles(), SOON).toEqual(['Still here']);
    await page.evaluate(
      () =>
        new Promise<void>((resolve, reject) => {
          const request = indexedDB.open('vivace-conversations');
          request.onerror = () => reject(request.error);
          request.onsuccess = () => {
            const write = request.result.transaction('conversations', 'readwrite');
            write.objectStore('conversations').put([{ id: 7 }], 'index');
            write.objectStore('conversations').put({ turns: 'none' }, 'conversation/00000000000000000000000000000000');
            write.oncomplete = () => resolve();
          };
        }),
    );
    await revisit(page);
    await expect.poll(() => titles(), SOON).toEqual(['Still here']);
  });

  test("two tabs that continue one conversation lose nothing, and each sees the other's list", async () => {
    await ask('Start');
    await expect.poll(() => titles(), SOON).toEqual(['Start']);
    const other = await page.context().newPage();
    await revisit(other);
    await expect.poll(() => other.locator('[data-role=user]').allTextContents(), SOON).toEqual(['Start']);
    await Promise.all([ask('From one', page), ask('From two', other)]);
    await other.getByTestId('library-new').click();
    await ask('A second one', other);
    await expect.poll(() => titles(page), SOON).toEqual(['A second one', 'Start']);
    await revisit(page);
    await rows().nth(1).getByTestId('library-open').click();
    // Both turns are branches after the first question.
    await expect.poll(() => page.locator('[data-role=user]').count(), SOON).toBe(2);
    const stored = await downloadText(page, () => page.getByTestId('library-export-all').click());
    const { conversations } = JSON.parse(stored) as { conversations: { turns: { question: string }[] }[] };
    const questions = conversations.map(({ turns }) => turns.map(({ question }) => question).sort());
    expect(questions.sort()).toEqual([['A second one'], ['From one', 'From two', 'Start']]);
    await other.close();
  });
});

describe('as a file', () => {
  test('an export imported in a fresh browser is the same', async () => {
    const first = await visitScripted(site, SCRIPT);
    await ask('Take me along', first.page);
    await first.page.getByTestId('library-new').click();
    await ask('And me', first.page);
    await expect.poll(() => titles(first.page), SOON).toEqual(['And me', 'Take me along']);
    const exported = await downloadText(first.page, () => first.page.getByTestId('library-export-all').click());
    await rows(first.page).nth(1).hover();
    const choose = async (name: string) => {
      await rows(first.page).nth(1).hover();
      await rows(first.page).nth(1).getByTestId('library-more').click();
      await first.page.getByTestId(name).click();
    };
    const one = await downloadText(first.page, () => choose('library-export'));
    const markdown = await downloadText(first.page, () => choose('library-exportMarkdown'));
    expect(markdown).toMatch(
      /^# Take me along\n\n\*.+\*\n\n## You\n\nTake me along\n\n## Assistant.*\n\nA short answer\.\n$/,
    );
    await first.page.getByTestId('library-delete-all').click();
    await expect.poll(() => titles(first.page), SOON).toEqual([]);
    await expect.poll(() => note(first.page).textContent()).toContain('Deleted 2 conversations.');
    await first.page.getByTestId('library-undo').click();
    await expect.poll(() => titles(first.page), SOON).toEqual(['And me', 'Take me along']);
    await expect.poll(() => first.page.locator('[data-role=user]').allTextContents(), SOON).toEqual(['And me']);
    await first.page.context().close();

    const second = await visitScripted(site, SCRIPT);
    await importText(second.page, one);
    await expect.poll(() => titles(second.page), SOON).toEqual(['Take me along']);
    await expect.poll(() => note(second.page).textContent()).toContain('1 conversation imported.');
    await importText(second.page, exported);
    await expect.poll(() => titles(second.page), SOON).toEqual(['And me', 'Take me along']);
    const again = await downloadText(second.page, () => second.page.getByTestId('library-export-all').click());
    expect(JSON.parse(again).conversations).toEqual(JSON.parse(exported).conversations);

    await importText(second.page, '{"format":"vivace-conversations","version":1,"conversations":[{"turns":[7]}]}');
    await expect
      .poll(() => note(second.page).textContent(), SOON)
      .toContain('Nothing was imported. Turn 1: it is not an object.');
    await expect.poll(() => note(second.page).getAttribute('role')).toBe('alert');

    await second.page.getByTestId('library-new').click();
    await second.page.getByTestId('library-note').getByLabel('Dismiss').click();
    await drop(second.page, 'conversations.json', exported);
    await expect.poll(() => note(second.page).textContent(), SOON).toContain('2 conversations were here already.');
    await expect.poll(() => prompt(second.page).isVisible()).toBe(true); // the page did not take the file for a model
    await expect.poll(() => second.page.getByTestId('load-progress').count()).toBe(0);
    await second.page.context().close();
  });

  async function drop(of: Page, name: string, text: string): Promise<void> {
    await of.evaluate(
      ([fileName, content]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([content!], fileName!, { type: 'application/json' }));
        for (const type of ['dragover', 'drop']) {
          const event = new DragEvent(type, { bubbles: true, composed: true, cancelable: true, dataTransfer });
          document.querySelector('vivace-chat')!.dispatchEvent(event);
        }
      },
      [name, text],
    );
  }
});

test('without storage, the list says so and works', async () => {
  const context = await site.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const refused = await context.newPage();
  await refused.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('Refused', 'SecurityError');
    };
  });
  await revisit(refused);
  await ask('Only for now', refused);
  await expect.poll(() => titles(refused), SOON).toEqual(['Only for now']);
  await expect
    .poll(() => refused.locator('vivace-library').getByText('This browser doesn’t save anything here').isVisible())
    .toBe(true);
  await context.close();
});
