// The chat with an engine that answers by a script: streaming, stopping, branches, a full context, settings, and the
// texts for screen readers.

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../../src/ui/conversation/conversation_tree';
import { asked, installScripted, release, type Script, setHealth, visitScripted } from '../scripted_engine';
import {
  answers,
  begun,
  ended,
  lastAnswer,
  openSite,
  prompt,
  type Site,
  send,
  setting,
  stateOf,
  textOf,
} from '../site';

let site: Site;
let page: Page;
let errors: string[];

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  ({ page, errors } = await visitScripted(site, { answers: [] }));
});

afterAll(() => site?.close());

/** A new conversation with an engine that answers by the script. */
async function open(script: Script): Promise<void> {
  await installScripted(page, script);
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  await expect.poll(() => answers(page).count(), { interval: 10 }).toBe(0);
}

const questions = () => page.locator('[data-testid=message][data-role=user]');
const textsOf = async (locator: ReturnType<typeof questions>) => (await locator.allTextContents()).map((t) => t.trim());
const byId = (id: string) => page.getByTestId(id);
const status = () => textOf(byId('status'));
const turns = (n: number) => Array.from({ length: n }, (_, i) => ({ text: `answer ${i + 1}` }));

async function sendAll(...texts: string[]): Promise<void> {
  for (const text of texts) {
    await send(page, text);
    expect(await ended(page)).toBe('done');
  }
}

/** The newest request to the engine, as 'role:content'. */
async function lastAsked(): Promise<string[] | undefined> {
  return (await asked(page)).at(-1)?.messages?.map(({ role, content }) => `${role}:${content}`);
}

/** The name of the focused element, through shadow roots. */
function focused(): Promise<string> {
  return page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element?.getAttribute('data-testid') ?? (element?.id || element?.localName) ?? '';
  });
}

describe('an answer', () => {
  test('streams, is announced at its begin and end but not in between, and Stop keeps its text', async () => {
    await open({ answers: [{ text: 'word '.repeat(200), piece: 5, holdAfter: 40 }] });
    await page.evaluate(() => {
      const said: string[] = [];
      Object.assign(window, { said });
      const line = document.querySelector('vivace-chat')?.shadowRoot?.querySelector('[role=status]');
      new MutationObserver(() => said.push(line?.textContent ?? '')).observe(line!, {
        subtree: true,
        childList: true,
        characterData: true,
      });
    });
    await send(page, 'Go');
    await begun(page);
    await expect.poll(() => stateOf(lastAnswer(page))).toBe('streaming');
    await expect.poll(() => byId('again').count()).toBe(0);
    await expect.poll(() => byId('edit').getAttribute('aria-disabled')).toBe('true');
    await expect.poll(() => byId('edit').getAttribute('title')).toContain('Wait until the answer has ended');
    await byId('stop').click();
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(lastAnswer(page))).toBe('word '.repeat(40).trim());
    await expect.poll(() => textOf(byId('end'))).toBe('Stopped');
    await expect.poll(() => focused()).toBe('prompt');
    expect(await page.evaluate(() => (window as unknown as { said: string[] }).said)).toEqual([
      'The answer begins.',
      'The answer was stopped, 40 words.',
    ]);
    await send(page, 'And on');
    await begun(page);
    await page.keyboard.press('Escape');
    expect(await ended(page)).toBe('done');
    await expect.poll(() => focused()).toBe('prompt');
  });

  test('is stopped by Escape anywhere on the page, but not by an Escape that closes a layer', async () => {
    await open({ answers: [{ text: 'word '.repeat(200), piece: 5, holdAfter: 40 }] });
    await send(page, 'Go');
    await begun(page);
    const isStreaming = async () => (await stateOf(lastAnswer(page))) === 'streaming';
    for (const [opener, layer] of [
      [byId('settings'), '#panel[popover]'],
      [page.locator('#model'), '[data-testid=models]'],
    ] as const) {
      await opener.click();
      await expect.poll(() => page.locator(layer).isVisible()).toBe(true);
      await page.keyboard.press('Escape');
      await expect.poll(() => page.locator(layer).isVisible()).toBe(false);
    }
    await page.setViewportSize({ width: 600, height: 800 });
    await page.locator('#conversations').click();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('#shelf').getAttribute('class')).toBe('');
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await isStreaming()).toBe(true);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press('Escape');
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(byId('end'))).toBe('Stopped');
  });

  test('to an example chosen while the model loads comes when it is ready, unless its text was changed', async () => {
    const script = { answers: turns(1) };
    for (const isChanged of [false, true]) {
      await open(script);
      await page.evaluate(() => Object.assign(document.querySelector('vivace-chat')!, { engine: null }));
      const example = byId('example').first();
      const text = await textOf(example);
      await example.click();
      await expect.poll(() => prompt(page).inputValue()).toBe(text);
      await expect.poll(() => status()).toBe('This is sent when the chat is ready.');
      await expect.poll(() => textOf(byId('sent-when-ready'))).toBe('This is sent when the chat is ready.');
      if (isChanged) await prompt(page).press('!');
      await expect.poll(() => byId('sent-when-ready').count()).toBe(isChanged ? 0 : 1);
      await installScripted(page, script);
      await expect.poll(() => byId('send').isEnabled()).toBe(isChanged);
      await expect.poll(() => questions().count()).toBe(isChanged ? 0 : 1);
      if (!isChanged) expect(await ended(page)).toBe('done');
    }
    await prompt(page).fill('');
  });

  test('to a message entered while the model loads comes when it is ready, in its own conversation', async () => {
    const script = { answers: turns(1) };
    for (const isLeft of [false, true]) {
      await open(script);
      await sendAll('Hello');
      await page.evaluate(() => Object.assign(document.querySelector('vivace-chat')!, { engine: null }));
      await prompt(page).fill('And then?');
      await prompt(page).press('Enter');
      await expect.poll(() => textOf(byId('sent-when-ready'))).toBe('This is sent when the chat is ready.');
      if (isLeft) await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
      await expect.poll(() => byId('sent-when-ready').count()).toBe(isLeft ? 0 : 1);
      await installScripted(page, script);
      await expect.poll(() => questions().count()).toBe(isLeft ? 0 : 2);
      if (!isLeft) expect(await ended(page)).toBe('done');
    }
    await prompt(page).fill('');
  });

  test('of a model that only embeds text does not come: the chat says so and sends nothing', async () => {
    await open({ answers: turns(1) });
    await prompt(page).fill('Hello');
    await expect.poll(() => byId('send').isEnabled()).toBe(true);
    await open({ answers: [], embedsOnly: true });
    const said = /^This model writes no answers: .* Open a chat model to chat\.$/;
    await expect.poll(() => textOf(byId('writes-no-text'))).toMatch(said);
    await expect.poll(() => status()).toMatch(said);
    await expect.poll(() => byId('example').count()).toBe(0);
    await expect.poll(() => byId('send').isEnabled()).toBe(false);
    await expect.poll(() => byId('send').getAttribute('title')).toMatch(said);
    await prompt(page).press('Enter');
    await expect.poll(() => prompt(page).inputValue()).toBe('Hello');
    await expect.poll(() => questions().count()).toBe(0);
    expect(await asked(page)).toEqual([]);
    await open({ answers: turns(1) });
    await expect.poll(() => byId('writes-no-text').count()).toBe(0);
    await prompt(page).press('Enter');
    expect(await ended(page)).toBe('done');
  });

  test('from right to left is laid out that way, beside one from left to right', async () => {
    await open({ answers: [{ text: 'مرحبا بالعالم. كان يا ما كان `f()` قطة شجاعة.' }, { text: 'Hello.' }] });
    await sendAll('مرحبا', 'Hello');
    const lettersOfCode = () =>
      answers(page)
        .locator('code')
        .last()
        .evaluate(({ firstChild }) => {
          const range = document.createRange();
          return [...(firstChild?.textContent ?? '')].map((_, i) => {
            range.setStart(firstChild!, i);
            range.setEnd(firstChild!, i + 1);
            return range.getBoundingClientRect().left;
          });
        });
    const directions = () =>
      page.evaluate(() => {
        const found = document.querySelector('vivace-chat')!.shadowRoot!.querySelectorAll('vivace-turn');
        return [...found].map((turn) => getComputedStyle(turn.shadowRoot!.querySelector('.text')!).direction);
      });
    await expect.poll(() => directions()).toEqual(['rtl', 'ltr']);
    const letters = await lettersOfCode();
    expect(letters, 'f before its brackets').toEqual(letters.toSorted((a, b) => a - b));
    // Finding the direction in the whole text would read it anew for each node of an answer and each line of a paste.
    const readers = page.locator('.text[dir=auto], textarea[dir=auto]');
    await expect.poll(() => readers.count()).toBe(0);
    await prompt(page).fill('שלום');
    const style = await prompt(page).evaluate((area) => getComputedStyle(area).unicodeBidi);
    expect(style).toBe('plaintext');
    await prompt(page).fill('');
  });

  test('that fails is a sentence with buttons, never a stack; trying again takes its place', async () => {
    await open({
      answers: [{ error: { code: 'device-lost', message: 'The GPU device was lost (reset).' } }, { text: 'Fine.' }],
    });
    await send(page, 'Go');
    expect(await ended(page)).toBe('error');
    const text = await textOf(byId('advice'));
    expect(text).toContain('The GPU device was lost (reset).');
    expect(text).not.toMatch(/\bat .*:\d+/);
    await expect.poll(() => byId('advice').getAttribute('role')).toBe('alert');
    await expect.poll(() => byId('offer-reload').isVisible()).toBe(true);
    // An engine that has ended is not asked; the next one can be.
    await setHealth(page, { state: 'lost', cause: { code: 'device-lost', message: 'gone' } });
    await expect.poll(() => byId('offer-retry').getAttribute('aria-disabled')).toBe('true');
    await expect.poll(async () => [await byId('offer-reload').count(), await byId('health').count()]).toEqual([1, 0]);
    await setHealth(page, { state: 'well' });
    await expect.poll(() => byId('offer-retry').getAttribute('aria-disabled')).toBe('false');
    await byId('offer-retry').click();
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textsOf(answers(page))).toEqual(['Fine.']);
    await expect.poll(() => byId('version').count()).toBe(0);
  });

  test('that pauses for a loss says so under its text, goes on, and says for how long; Stop ends the wait', async () => {
    const loss = { after: 2, code: 'device-lost', message: 'The GPU device was lost.', pauseMs: 1840 };
    await open({
      answers: [
        { text: 'One two three.', loss },
        { text: 'Never said.', loss },
      ],
    });
    const cause = { code: loss.code, message: loss.message };
    const progress = {
      stage: 'weights',
      loadedBytes: 5e6,
      totalBytes: 2e7,
      bytesPerSecond: null,
      secondsLeft: null,
    } as const;
    await send(page, 'Count');
    await expect.poll(() => textOf(lastAnswer(page))).toBe('One two');
    await setHealth(page, { state: 'recovering', cause, loss: 1, progress });
    await expect.poll(() => textOf(byId('recovery'))).toContain('The GPU was lost. Loading the model again…');
    await expect.poll(() => textOf(byId('recovery'))).toContain('5.0 MB of 20.0 MB');
    await expect.poll(async () => [await byId('health').count(), await byId('model-name').count()]).toEqual([0, 0]);
    await expect.poll(() => textOf(page.locator('#model-name'))).toBe('script · recovering');
    await expect.poll(() => status()).toContain('The GPU was lost.');
    await setHealth(page, { state: 'well' });
    await release(page);
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(lastAnswer(page))).toBe('One two three.');
    await expect.poll(() => textOf(byId('remark'))).toBe('The GPU was lost; the answer went on after 1.8 s.');
    await expect.poll(async () => [await byId('recovery').count(), await byId('advice').count()]).toEqual([0, 0]);
    await send(page, 'Again');
    await setHealth(page, { state: 'recovering', cause, loss: 2, progress: null });
    await expect.poll(() => textOf(byId('recovery'))).toContain('(loss 2 in ten minutes)');
    await byId('stop').click();
    expect(await ended(page)).toBe('done');
    await setHealth(page, { state: 'well' });
  });

  test('that fails midway keeps its text, and another answer is a branch', async () => {
    await open({
      answers: [{ text: 'one two', errorAfter: 1, error: { code: '', message: 'Boom.' } }, { text: 'Fine.' }],
    });
    await send(page, 'Go');
    expect(await ended(page)).toBe('error');
    await expect.poll(() => textOf(lastAnswer(page))).toMatch(/^one\s.*Boom/s);
    await byId('offer-retry').click();
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(byId('version'))).toBe('2/2');
  });
});

describe('a cut answer', () => {
  test('goes on in the same turn, by the limit or after Stop, and its limit can be changed', async () => {
    await open({
      answers: [{ text: 'One **two** three' }, { text: 'o** three four', holdAfter: 1 }, { text: '\n\nThe end.' }],
    });
    await setting(page, 'maxTokens', '2');
    await sendAll('Count');
    await expect.poll(() => textOf(byId('end'))).toBe('Stopped at your 2-token limit.');
    await byId('limit').click();
    await expect.poll(focused).toBe('maxTokens');
    await page.keyboard.press('Escape');
    await setting(page, 'maxTokens', '');
    await byId('continue').click();
    await expect.poll(() => textOf(lastAnswer(page))).toBe('One two');
    await byId('stop').click();
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(byId('end'))).toBe('Stopped');
    await byId('continue').click();
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textOf(lastAnswer(page))).toMatch(/^One two\s*The end\.$/);
    await expect.poll(() => lastAnswer(page).locator('strong').count()).toBe(1);
    await expect
      .poll(async () => [await byId('version').count(), await byId('continue').count(), await byId('end').count()])
      .toEqual([0, 0, 0]);
    await expect.poll(() => focused()).toBe('prompt');
    await expect.poll(() => lastAsked()).toEqual(['user:Count', 'assistant:One **two** ']);
    expect((await asked(page)).at(-1)?.options.continueLast).toBe(true);
  });

  test('that the model cannot continue stays whole, and is offered no more', async () => {
    const refusal = { code: 'invalid-request', message: 'continueLast needs something else.' };
    await open({ answers: [{ text: 'half', finishReason: 'length' }, { error: refusal }, { text: 'Fine.' }] });
    await sendAll('Go');
    await byId('continue').click();
    await expect.poll(() => textOf(byId('advice'))).toContain('This model cannot continue an answer.');
    await expect.poll(() => stateOf(lastAnswer(page))).toBe('done');
    await expect.poll(() => textOf(lastAnswer(page))).toMatch(/^half/);
    await expect.poll(() => byId('continue').count()).toBe(0);
    await sendAll('And on');
    await expect.poll(() => lastAsked()).toEqual(['user:Go', 'assistant:half', 'user:And on']);
  });
});

describe('files', () => {
  const chips = () => page.getByTestId('attached');
  const file = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) });
  /** Drops or pastes a file. */
  const give = (type: 'drop' | 'paste', name: string, text: string) =>
    page.evaluate(
      ([type, name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        const init = { bubbles: true, composed: true, cancelable: true };
        const composer = document.querySelector('vivace-chat')!.shadowRoot!.querySelector('vivace-composer')!;
        const area = composer.shadowRoot!.querySelector('textarea')!;
        if (type === 'drop') document.body.dispatchEvent(new DragEvent('drop', { ...init, dataTransfer: data }));
        else area.dispatchEvent(new ClipboardEvent('paste', { ...init, clipboardData: data }));
      },
      [type, name, text] as const,
    );

  test('chosen, dropped or pasted come with the question, can be removed before and unfolded after', async () => {
    await open({ answers: turns(3) });
    await byId('attach-files').setInputFiles([file('notes.md', '# Milk'), file('b.bin', 'a\0b')]);
    await expect.poll(() => textOf(byId('attach-complaint'))).toMatch(/^“b\.bin” is not a text file/);
    await expect.poll(() => focused()).toBe('prompt');
    await give('drop', 'table.csv', 'a,b');
    await expect.poll(() => chips().count()).toBe(2);
    await expect.poll(() => byId('attach-complaint').count()).toBe(0);
    await give('paste', 'code.py', 'print(1)');
    await expect.poll(() => textsOf(chips())).toEqual(['notes.md6 B', 'table.csv3 B', 'code.py8 B'].map(String));
    await byId('remove-attached').nth(1).click();
    await sendAll('What is it?');
    const content = 'notes.md:\n```\n# Milk\n```\n\ncode.py:\n```\nprint(1)\n```\n\nWhat is it?';
    await expect.poll(() => lastAsked()).toEqual([`user:${content}`]);
    await expect.poll(() => byId('attach-complaint').count()).toBe(0);
    await expect.poll(() => chips().count()).toBe(2); // in the turn
    await expect.poll(() => byId('attached-text').count()).toBe(0);
    await chips().first().click();
    await expect.poll(() => textOf(byId('attached-text'))).toBe('# Milk');
    await give('drop', 'table.csv', 'a,b');
    await byId('remove-attached').click();
    await expect.poll(() => focused()).toBe('prompt'); // the button that had the focus is gone
    await byId('edit').click();
    await byId('remove-attached').first().click();
    await byId('remove-attached').click();
    await expect.poll(() => focused()).toBe('edit-text');
    await byId('edit-save').click();
    expect(await ended(page)).toBe('done');
    expect((await lastAsked())?.[0]).not.toContain('Milk');
    await expect.poll(() => textOf(byId('version'))).toBe('2/2');
  });

  /** Pastes a text into a field. Returns whether the page took it, so that the field gets nothing. */
  const pasteText = (field: Locator, text: string) =>
    field.evaluate((field, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      const paste = new ClipboardEvent('paste', { bubbles: true, composed: true, cancelable: true, clipboardData });
      return !field.dispatchEvent(paste);
    }, text);

  test('a pasted text that would hold up the field comes as a file, and the field can undo what it could', async () => {
    await open({ answers: turns(1), contextLength: 2_000_000 });
    await page.evaluate(() => customElements.whenDefined('vivace-files')); // comes with what takes the text
    const field = prompt(page);
    await field.click();
    await page.keyboard.insertText('What is it?'); // one step of undo; typed keys are one only if they come fast
    expect(await pasteText(field, 'a'.repeat(50_000))).toBe(false);
    expect(await pasteText(field, 'ab\r\n'.repeat(300_000))).toBe(true);
    await expect.poll(() => textsOf(chips())).toEqual(['Pasted text900 kB']);
    expect(await field.inputValue()).toBe('What is it?');
    await page.keyboard.press('Control+z');
    expect(await field.inputValue()).toBe('');
    await page.keyboard.press('Control+Shift+z');
    expect(await field.inputValue()).toBe('What is it?');
    expect(await pasteText(field, 'a'.repeat(1_000_001))).toBe(true);
    await expect.poll(() => textOf(byId('attach-complaint'))).toMatch(/^“Pasted text” is too large: 1.*MB/);
    expect([await field.inputValue(), await chips().count()]).toEqual(['What is it?', 1]);
    await sendAll('What is it?');
    const content = `Pasted text:\n\`\`\`\n${'ab\n'.repeat(300_000)}\`\`\`\n\nWhat is it?`;
    await expect.poll(async () => (await lastAsked())?.[0] === `user:${content}`).toBe(true);
    await byId('edit').click();
    const editor = page.locator('vivace-turn-editor textarea');
    expect(await pasteText(editor, 'a'.repeat(60_000))).toBe(false);
    await byId('edit-cancel').click();
  });

  test('a line of a megabyte changes the direction of lines before it is in the field, also when it comes back', async () => {
    await open({ answers: [] });
    const field = prompt(page);
    const bidi = (data: string) =>
      field.evaluate((field, data) => {
        field.dispatchEvent(new InputEvent('beforeinput', { inputType: 'insertFromPaste', data }));
        return field.style.unicodeBidi;
      }, data);
    expect(await bidi('word\n'.repeat(200_000))).toBe('');
    expect(await bidi('word '.repeat(200_000))).toBe('normal');
    await field.click();
    await page.keyboard.type('a');
    const before = await field.evaluateHandle((field) => {
      const seen: [string, string][] = [];
      field.getRootNode().addEventListener('beforeinput', (event) => {
        seen.push([(event as InputEvent).inputType, field.style.unicodeBidi]);
      });
      return seen;
    });
    for (const key of ['b', 'Control+z', 'Control+Shift+z', 'c']) await page.keyboard.press(key);
    expect(await before.jsonValue()).toEqual([
      ['insertText', ''],
      ['historyUndo', 'normal'],
      ['historyRedo', 'normal'],
      ['insertText', ''],
    ]);
    await field.fill('');
  });

  test('that do not fit the context get advice with numbers; nothing dropped takes the model away', async () => {
    await open({ contextLength: 100, answers: turns(2) });
    await give('drop', 'long.txt', 'abcd'.repeat(400));
    await expect.poll(() => chips().count()).toBe(1);
    await send(page, 'Well?');
    expect(await ended(page)).toBe('error');
    await expect.poll(() => textOf(byId('advice'))).toMatch(/\d{3} tokens.*100/s);
    await byId('offer-edit').click();
    await byId('remove-attached').click();
    await byId('edit-save').click();
    await expect.poll(() => textsOf(answers(page))).toEqual(['answer 2']);
    await give('drop', 'photo.png', '\0\0');
    await expect.poll(() => page.getByText('“photo.png” isn’t a text file').count()).toBe(1);
    await expect.poll(() => chips().count()).toBe(0);
  });
});

test('an engine that is not well is shown over the composer, and asked unless it is lost for good', async () => {
  await open({ answers: [{ text: 'Fine.' }] });
  const cause = { code: 'device-lost', message: 'The GPU device was lost three times.' };
  const health = byId('health');
  await setHealth(page, { state: 'recovering', cause, loss: 1, progress: null });
  await expect.poll(() => textOf(health)).toContain('Your message will be sent when it’s done.');
  await setHealth(page, { state: 'without-gpu', cause, nextTryAt: 0 });
  await expect.poll(() => textOf(health)).toContain('Next try of the GPU:');
  await send(page, 'Hello');
  expect(await ended(page)).toBe('done');
  await setHealth(page, { state: 'lost', cause });
  await expect.poll(() => health.getAttribute('role')).toBe('alert');
  await expect.poll(() => textOf(health)).toContain(cause.message);
  await prompt(page).fill('Hello?');
  await expect.poll(() => byId('send').isEnabled()).toBe(false);
  const reloads = page.evaluate(
    () =>
      new Promise((taken) =>
        addEventListener('vivace-reload', (event) => taken((event as CustomEvent).detail.backend), { capture: true }),
      ),
  );
  await page.evaluate(() => {
    addEventListener('vivace-reload', (event) => event.stopImmediatePropagation(), { capture: true }); // loads nothing
  });
  await byId('offer-cpu').click();
  expect(await reloads).toBe('cpu');
  await setHealth(page, { state: 'well' });
  await expect.poll(() => health.count()).toBe(0);
  await prompt(page).fill('');
});

test('a load that waits for another tab says so, and may go on alone after five seconds', async () => {
  const wait = (waitsMs: number) =>
    page.evaluate((waitsMs) => {
      const goOnAlone = () => Object.assign(window, { isAlone: true });
      const progress = {
        stage: 'open',
        loadedBytes: 0,
        totalBytes: 0,
        bytesPerSecond: null,
        secondsLeft: null,
      } as const;
      Object.assign(document.querySelector('vivace-loader')!, {
        state: { kind: 'loading', progress: { ...progress, waitsMs, goOnAlone } },
      });
    }, waitsMs);
  const line = byId('load-progress');
  await wait(900);
  await expect.poll(() => textOf(line)).toContain('Opening the model');
  await wait(1_000);
  await expect.poll(() => textOf(line)).toContain('Another tab is loading this model');
  await expect.poll(() => byId('go-on-alone').count()).toBe(0);
  await wait(5_000);
  await byId('go-on-alone').click();
  expect(await page.evaluate(() => 'isAlone' in window)).toBe(true);
  await page.evaluate(() => Object.assign(document.querySelector('vivace-loader')!, { state: { kind: 'ready' } }));
});

describe('branches', () => {
  test('another answer is the second version, and the first comes back', async () => {
    await open({ answers: turns(2) });
    await sendAll('Go');
    await byId('again').click();
    await expect.poll(() => textOf(lastAnswer(page))).toBe('answer 2');
    expect(await ended(page)).toBe('done');
    await expect.poll(() => focused()).toBe('prompt');
    await expect.poll(() => textOf(byId('version'))).toBe('2/2');
    await byId('version-before').click();
    await expect.poll(() => textOf(lastAnswer(page))).toBe('answer 1');
    await expect.poll(() => textOf(byId('version'))).toBe('1/2');
    await expect.poll(() => focused()).toBe('version-before');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(lastAnswer(page))).toBe('answer 2');
  });

  test('an earlier question is edited in its place; what followed the old one comes back with it', async () => {
    await open({ answers: turns(4) });
    await sendAll('first', 'second', 'third');
    await byId('edit').nth(1).click();
    await byId('edit-text').fill('another second');
    await page.keyboard.press('Enter');
    await expect.poll(() => textsOf(questions())).toEqual(['first', 'another second']);
    expect(await ended(page)).toBe('done');
    await expect.poll(() => lastAsked()).toEqual(['user:first', 'assistant:answer 1', 'user:another second']);
    await byId('version-before').click();
    await expect.poll(() => textsOf(questions())).toEqual(['first', 'second', 'third']);
    await expect.poll(() => textsOf(answers(page))).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  test('versions of the answer have their pager under it, those of the question theirs under the question', async () => {
    await open({ answers: turns(4) });
    await sendAll('first');
    await byId('again').click();
    await expect.poll(() => textOf(lastAnswer(page))).toBe('answer 2');
    expect(await ended(page)).toBe('done');
    await byId('edit').click();
    await byId('edit-text').fill('another');
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(lastAnswer(page))).toBe('answer 3');
    expect(await ended(page)).toBe('done');
    const pager = (of: string) => page.locator(`[data-of=${of}]`);
    await expect
      .poll(async () => [await textOf(pager('question').getByTestId('version')), await pager('answer').count()])
      .toEqual(['2/2', 0]);
    await pager('question').getByTestId('version-before').click();
    await expect.poll(() => textOf(lastAnswer(page))).toBe('answer 2');
    await expect.poll(() => textOf(pager('answer').getByTestId('version'))).toBe('2/2');
    await pager('answer').getByTestId('version-before').press('Enter');
    await expect.poll(() => textOf(lastAnswer(page))).toBe('answer 1');
    const group = await page.evaluate(() => {
      const turn = document.querySelector('vivace-chat')!.shadowRoot!.activeElement;
      return turn?.shadowRoot?.activeElement?.closest<HTMLElement>('[data-of]')?.dataset.of;
    });
    expect([await focused(), group]).toEqual(['version-before', 'answer']);
    await expect.poll(() => textOf(byId('by'))).toMatch(/^script · \d/);
    await expect.poll(() => byId('by').getAttribute('title')).toMatch(/^script, .*20\d\d/);
  });

  test('Escape leaves a question as it was, and stops nothing', async () => {
    await open({ answers: turns(2) });
    await sendAll('first');
    await prompt(page).focus();
    await page.keyboard.press('ArrowUp'); // in an empty field: the last question
    await expect.poll(focused).toBe('edit-text');
    await page.keyboard.type(' and more');
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('edit');
    await expect.poll(() => textsOf(questions())).toEqual(['first']);
    expect((await asked(page)).length).toBe(1);
  });

  test('a conversation from elsewhere is shown; an answer under way ends with its text and is kept', async () => {
    await open({ answers: [{ text: 'one two three', holdAfter: 2 }, { text: 'Fine.' }] });
    await send(page, 'Go');
    await begun(page);
    const kept = await page.evaluate(() => {
      const chat = document.querySelector('vivace-chat')!;
      const changes: Conversation[] = [];
      chat.addEventListener('vivace-changed', (event) => changes.push((event as CustomEvent<Conversation>).detail));
      const first = chat.conversation.turns[0];
      const turn = { ...first, id: 'f'.repeat(32), question: 'Before', answer: 'half', state: 'streaming' as const };
      chat.conversation = { ...chat.conversation, id: 'e'.repeat(32), turns: [turn], shown: {} };
      const { state, finishReason, answer } = changes[0].turns[0];
      return { state, finishReason, answer };
    });
    expect(kept).toEqual({ state: 'done', finishReason: 'abort', answer: 'one two ' });
    await expect.poll(() => textsOf(questions())).toEqual(['Before']);
    await expect.poll(() => stateOf(lastAnswer(page))).toBe('done');
    await expect
      .poll(() => textOf(byId('end')))
      .toBe('Unfinished: the page that wrote this was closed, or writes on in another tab.');
    await expect.poll(() => byId('send').count()).toBe(1);
    await sendAll('And now?');
    await expect.poll(() => lastAsked()).toEqual(['user:Before', 'assistant:half', 'user:And now?']);
  });
});

describe('the context', () => {
  test('is counted in words, warns when nearly full, and goes on without the oldest messages', async () => {
    const text = 'abcd'.repeat(28); // 28 tokens each way
    await open({ contextLength: 200, answers: [{ text }] });
    const question = 'abcd'.repeat(24); // 28 with what is around it
    await sendAll(question);
    await expect.poll(() => textOf(byId('meter'))).toBe('Memory 28% full');
    await sendAll(question);
    await sendAll(question);
    await expect.poll(() => textOf(byId('meter'))).toBe('Memory 88% full');
    await expect.poll(() => byId('meter').getAttribute('data-state')).toBe('nearly-full');
    await expect.poll(() => status()).toContain('88% full');

    await send(page, question);
    expect(await ended(page)).toBe('error');
    await expect.poll(() => textOf(byId('advice'))).toMatch(/\d{3} tokens.*200/s);
    await expect.poll(() => byId('offer-new').isVisible()).toBe(true);
    await byId('offer-forget').click();
    await expect.poll(() => stateOf(lastAnswer(page))).toBe('done');
    const before = (await asked(page)).at(-2)!.messages!.length;
    expect((await lastAsked())?.length).toBeLessThan(before);
    await expect.poll(() => textsOf(questions())).toHaveLength(4); // forgetting deletes no turn
    await expect.poll(() => textOf(byId('memory'))).toBe('The model can no longer see messages above this line');
    const below = await byId('memory').evaluate((line) => line.getBoundingClientRect().top);
    const first = await questions()
      .first()
      .evaluate((element) => element.getBoundingClientRect().top);
    expect(below).toBeGreaterThan(first);
  });

  test('that an answer fills offers a way on below it', async () => {
    await open({ contextLength: 60, answers: [{ text: 'Well.' }, { text: 'abcd'.repeat(100) }, { text: 'Fine.' }] });
    await sendAll('Go');
    await sendAll('On');
    await expect.poll(() => textOf(byId('advice'))).toContain('The model’s memory is full');
    await expect.poll(() => byId('advice').getAttribute('role')).toBe('note'); // nothing failed
    await expect.poll(() => textOf(byId('meter'))).toBe('Memory 100% full');
    await byId('offer-forget').click();
    await expect.poll(() => byId('memory').count()).toBe(1);
    await expect.poll(() => byId('advice').count()).toBe(0);
    await expect.poll(() => textOf(byId('end'))).toBe('Ended here: the model’s memory was full.');
    await expect.poll(() => focused()).toBe('prompt');
    await sendAll('And then?');
    await expect.poll(() => lastAsked()).toEqual(['user:And then?']);
  });

  test('that is shorter than the question offers no forgetting, and the edited question takes its place', async () => {
    await open({ contextLength: 60, answers: [{ text: 'Fine.' }] });
    await send(page, 'abcd'.repeat(100));
    expect(await ended(page)).toBe('error');
    await expect.poll(() => byId('offer-forget').count()).toBe(0);
    await byId('offer-edit').click();
    await byId('edit-text').fill('short');
    await byId('edit-save').click();
    await expect.poll(() => textsOf(answers(page))).toEqual(['Fine.']);
    await expect.poll(() => textsOf(questions())).toEqual(['short']);
  });
});

describe('settings', () => {
  test('reach the engine, and one press resets them', async () => {
    await open({ answers: turns(3) });
    await setting(page, 'temperature', '0.2');
    await setting(page, 'seed', '7');
    await sendAll('Go');
    expect((await asked(page))[0]?.options).toMatchObject({ temperature: 0.2, seed: 7 });
    await byId('settings').click();
    await byId('reset-all').click();
    await page.keyboard.press('Escape');
    await sendAll('Go');
    const { options } = (await asked(page))[1];
    expect(options).toMatchObject({ temperature: 0.6 });
    expect(options).not.toHaveProperty('seed');
  });

  test('show the number that holds, whatever was typed before', async () => {
    await open({ answers: [] });
    await byId('settings').click();
    const field = page.locator('input#temperature');
    for (const [typed, shown] of [
      ['5', '2'],
      ['9', '2'],
      ['', '0.6'],
      ['', '0.6'],
    ] as const) {
      await field.fill(typed);
      await field.blur();
      await expect.poll(() => field.inputValue(), { message: typed }).toBe(shown);
    }
    await page.keyboard.press('Escape');
  });

  test('put the system prompt first, also in the next conversation, and drop it for a model that takes none', async () => {
    await open({
      answers: [{ text: 'Yes.' }, { error: { code: 'chat-template', message: 'No system role.' } }, { text: 'Yes.' }],
    });
    await byId('settings').click();
    await byId('system').fill('Be brief.');
    await page.keyboard.press('Escape');
    await sendAll('Go');
    await expect.poll(() => lastAsked()).toEqual(['system:Be brief.', 'user:Go']);
    await byId('new-conversation').click();
    await expect.poll(() => answers(page).count()).toBe(0);
    await send(page, 'Again');
    expect(await ended(page)).toBe('error');
    await expect.poll(() => lastAsked()).toEqual(['system:Be brief.', 'user:Again']);
    await byId('offer-no-system').click();
    await expect.poll(() => stateOf(lastAnswer(page))).toBe('done');
    await expect.poll(() => lastAsked()).toEqual(['user:Again']);
  });
});

describe('a page of its own', () => {
  const own = () =>
    page.evaluate(() => {
      const chat = document.querySelector('vivace-chat')!;
      chat.newConversation();
      return { temperature: chat.sampling.temperature, system: chat.conversation.system };
    });

  test('keeps settings and the system prompt for the next visit, and a shortcut begins a new conversation', async () => {
    await open({ answers: turns(1) });
    await setting(page, 'temperature', '0.3');
    await byId('settings').click();
    await byId('system').fill('Be brief.');
    await page.keyboard.press('Escape');
    await sendAll('Go');
    await page.locator('body').click({ position: { x: 2, y: 2 } });
    await page.keyboard.press('Control+Shift+O');
    await expect.poll(() => answers(page).count()).toBe(0);
    await expect.poll(() => focused()).toBe('prompt');
    await page.reload();
    await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
    await expect.poll(() => own()).toEqual({ temperature: 0.3, system: 'Be brief.' });
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
    await expect.poll(() => own()).toEqual({ temperature: 0.6, system: '' });
  });
});

describe('a reader', () => {
  test('reaches everything by the keyboard alone', async () => {
    await open({ answers: turns(3) });
    await prompt(page).focus();
    await page.keyboard.type('first');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('line two');
    await page.keyboard.press('Enter');
    expect(await ended(page)).toBe('done');
    await expect.poll(() => textsOf(questions())).toEqual(['first\nline two']);
    const order: string[] = [];
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('Shift+Tab');
      order.push(await focused());
    }
    expect(order.slice(0, 5)).toEqual(['timing', 'again', 'copy', 'edit', 'copy-question']);
    await prompt(page).focus();
    await page.keyboard.press('Tab');
    await expect.poll(() => focused()).toBe('attach');
    await page.keyboard.press('Tab');
    await expect.poll(() => focused()).toBe('settings');
    await page.keyboard.press('Tab');
    await expect.poll(() => focused()).toBe('new-conversation');
    await page.keyboard.press('Enter');
    await expect.poll(() => answers(page).count()).toBe(0);
    await expect.poll(focused).toBe('prompt');
  });

  test('sees a long question cut, until asking for all of it', async () => {
    await open({ answers: turns(1) });
    const long = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n');
    await sendAll(long);
    await expect.poll(() => textOf(questions())).toMatch(/line 11…$/);
    await byId('whole').click();
    await expect.poll(() => textOf(questions())).toBe(long);
    await expect.poll(() => byId('whole').getAttribute('aria-expanded')).toBe('true');
    expect((await lastAsked())?.[0]).toBe(`user:${long}`);
  });

  test('sees all of it on a phone without scrolling sideways', async () => {
    const text = `A ${'very'.repeat(60)} long word.\n\n| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n| ${'cell '.repeat(9)}| b | c | d | e | f |\n`;
    await page.setViewportSize({ width: 360, height: 740 });
    await open({ answers: [{ text }] });
    await sendAll(`${'🐱'.repeat(100)} ${'x'.repeat(200)}`);
    const sideways = await page.evaluate(() => {
      const scroller = document.querySelector('vivace-chat')!.shadowRoot!.querySelector('.scroller')!;
      return [document.documentElement.scrollWidth - innerWidth, scroller.scrollWidth - scroller.clientWidth];
    });
    expect(sideways).toEqual([0, 0]);
    await byId('settings').click();
    const box = (await page.locator('#panel[popover]').boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(360);
    expect(box.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});

describe('a low window', () => {
  const scroller = () =>
    page.evaluate(() => {
      const { scrollTop, clientHeight } = document
        .querySelector('vivace-chat')!
        .shadowRoot!.querySelector('.scroller')!;
      return { scrollTop, part: clientHeight / innerHeight };
    });

  for (const [width, height] of [
    [320, 256],
    [640, 360],
  ] as const) {
    test(`of ${width} x ${height} begins at the top, and most of it is the conversation's`, async () => {
      await page.setViewportSize({ width, height });
      await page.reload();
      await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
      await open({ answers: [{ text: 'word\n\n'.repeat(20) }] });
      expect((await scroller()).scrollTop).toBe(0);
      await sendAll('Go');
      await expect.poll(async () => (await scroller()).scrollTop).toBeGreaterThan(0);
      expect((await scroller()).part).toBeGreaterThan(0.6);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      await byId('new-conversation').click();
      await expect.poll(async () => (await scroller()).scrollTop).toBe(0);
      await page.setViewportSize({ width: 1280, height: 800 });
    });
  }
});

/** Shows a conversation of `n` copies of the first turn shown. */
async function showTurns(n: number): Promise<void> {
  await page.evaluate((length) => {
    const chat = document.querySelector('vivace-chat')!;
    const [first] = chat.conversation.turns;
    const id = (i: number) => i.toString(16).padStart(32, '0');
    const turns = Array.from({ length }, (_, i) => {
      const answer = 'Some *words*.\n\n- one\n- two\n'.repeat(8);
      return { ...first!, id: id(i), parent: i === 0 ? null : id(i - 1), question: `question ${i}`, answer };
    });
    chat.conversation = { ...chat.conversation, id: 'a'.repeat(32), turns, shown: {} };
  }, n);
}

/** Asks, and counts the renderings of turns until the answer has ended: of the newest, and of all others together. */
function rendersWhileAnswering(): Promise<{ newest: number; others: number }> {
  return page.evaluate(async () => {
    const chat = document.querySelector('vivace-chat')!;
    const type = customElements.get('vivace-turn')!.prototype as { performUpdate(): void };
    const { performUpdate } = type;
    const rendered: unknown[] = [];
    type.performUpdate = function () {
      rendered.push(this);
      performUpdate.call(this);
    };
    const end = new Promise((resolve) => chat.addEventListener('vivace-end', resolve, { once: true }));
    chat.shadowRoot!.querySelector('vivace-composer')!.dispatchEvent(new CustomEvent('vivace-send', { detail: 'Go' }));
    await end;
    type.performUpdate = performUpdate;
    const last = [...chat.shadowRoot!.querySelectorAll('vivace-turn')].at(-1);
    const newest = rendered.filter((turn) => turn === last).length;
    return { newest, others: rendered.length - newest };
  });
}

test('200 turns are not rendered again while an answer streams, and the reader stays at the end', async () => {
  await open({ contextLength: 100_000, answers: [{ text: 'word '.repeat(120), piece: 5, gapMs: 1 }] });
  await send(page, 'Go');
  expect(await ended(page)).toBe('done');
  await showTurns(200);
  await expect.poll(() => answers(page).count()).toBe(200);
  const { newest, others } = await rendersWhileAnswering();
  expect(newest).toBeGreaterThan(1);
  expect(others).toBeLessThanOrEqual(2 * 200); // for the question, not for each word
  expect(await ended(page)).toBe('done');
  const distance = () =>
    page.evaluate(() => {
      const scroller = document.querySelector('vivace-chat')!.shadowRoot!.querySelector('.scroller')!;
      return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    });
  await expect.poll(distance).toBeLessThan(5);
});

test('of a very long conversation the newest 200 turns are shown, and the earlier ones when asked for', async () => {
  await open({ contextLength: 100_000, answers: turns(1) });
  await sendAll('Go');
  await showTurns(230);
  await expect.poll(() => answers(page).count()).toBe(200);
  await expect.poll(() => textOf(questions().first())).toBe('question 30');
  await byId('earlier').click();
  await expect.poll(() => answers(page).count()).toBe(230);
  await expect.poll(() => byId('earlier').count()).toBe(0);
  const focused = () =>
    page.evaluate(() => document.querySelector('vivace-chat')?.shadowRoot?.activeElement?.className);
  await expect.poll(focused).toBe('scroller'); // in the place of the button
  await sendAll('And on');
  expect((await lastAsked())?.length).toBe(2 * 230 + 1); // the model reads hidden turns, too
});

test('a reader who scrolls away while an answer streams stays there, until the button takes them to the end', async () => {
  await open({
    contextLength: 100_000,
    answers: [{ text: 'word\n\n'.repeat(150), piece: 6, gapMs: 2, holdAfter: 70 }],
  });
  const top = () =>
    page.evaluate(() => document.querySelector('vivace-chat')!.shadowRoot!.querySelector('.scroller')!.scrollTop);
  const end = page.getByRole('button', { name: 'Jump to latest' });
  const words = async () => (await textOf(lastAnswer(page))).match(/word/g)?.length;
  await send(page, 'Go');
  await expect.poll(words).toBe(70);
  await expect.poll(top).toBeGreaterThan(1000);
  await lastAnswer(page).hover();
  const newest = await top();
  await page.mouse.wheel(0, -900);
  await expect.poll(top).toBe(newest - 900); // the wheel event comes before its scroll
  await expect.poll(() => end.count()).toBe(1);
  const before = await top();
  await release(page);
  expect(await ended(page)).toBe('done');
  expect(await top()).toBe(before);
  await end.click();
  await expect.poll(top).toBeGreaterThan(before + 1000);
  await expect.poll(() => end.count()).toBe(0);
});

test('a long answer announces every half minute that it goes on', async () => {
  await page.clock.install();
  await open({ answers: [{ text: 'word '.repeat(200), piece: 5, holdAfter: 40 }] });
  await send(page, 'Go');
  await begun(page);
  await expect.poll(() => status()).toBe('The answer begins.');
  await page.clock.fastForward(30_000);
  await expect.poll(status).toBe('Still writing, 40 words.');
  await release(page);
  expect(await ended(page)).toBe('done');
  await expect.poll(() => status()).toBe('The answer is complete, 200 words.');
});

test('the console stayed empty', () => expect(errors).toEqual([]));
