// The shape of the page: its header, the panel's place and width, drawers, and windows from 320 to 1440 pixels. One
// page with a scripted engine is resized.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installScripted, release, type Script, visitScripted } from '../scripted_engine';
import { begun, ended, openSite, type Site, send, textOf } from '../site';

const SOON = { timeout: 10_000, interval: 20 };
const WIDE = { width: 1440, height: 900 };
const LAPTOP = { width: 1024, height: 768 };
const PHONE = { width: 390, height: 844 };
const ANSWER = 'The wind was strong, and Tom was not afraid. '.repeat(8);

let site: Site;
let page: Page;

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  ({ page } = await visitScripted(site, { answers: [] }, WIDE));
});

afterAll(() => site?.close());

const widthOf = async (selector: string) => Math.round((await page.locator(selector).boundingBox())?.width ?? 0);
const isShown = (selector: string) => page.locator(selector).isVisible();
const focused = () => page.evaluate(() => document.activeElement?.id ?? '');
const kept = () => page.evaluate(() => localStorage.getItem('vivace-panel'));

async function talk(script: Script): Promise<void> {
  await installScripted(page, script);
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  await send(page, 'Tell me a story');
}

test('a person finds the panel closed; the button opens it, and an empty one is one sentence', async () => {
  await expect
    .poll(async () => [await isShown('#shelf'), await isShown('aside#panel'), await isShown('#edge')])
    .toEqual([true, false, false]);
  await page.locator('#timing').click();
  await expect.poll(() => page.locator('#timing').getAttribute('aria-expanded')).toBe('true');
  const panel = page.locator('aside#panel');
  await expect.poll(() => panel.getByTestId('invitation').isVisible()).toBe(true);
  await expect.poll(() => panel.getByTestId('plot').isVisible()).toBe(false);
  await expect.poll(() => panel.locator('dd:visible', { hasText: '–' }).count()).toBe(0);
  await page.locator('#timing').click();
  await expect.poll(() => isShown('aside#panel')).toBe(false);
});

test('the line of privacy is under the middle of the conversation, and left to the lead of the first screen', async () => {
  await expect.poll(() => isShown('.foot')).toBe(false);
  await talk({ answers: [{ text: ANSWER }] });
  expect(await ended(page)).toBe('done');
  const aside = () =>
    page.evaluate(() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('.foot')!);
      const field = document.querySelector('vivace-chat')!.shadowRoot!.querySelector('vivace-composer')!;
      const [line = 0, middle = 0] = [range, field]
        .map((each) => each.getBoundingClientRect())
        .map(({ left, width }) => left + width / 2);
      return Math.abs(line - middle);
    });
  for (const hasPanel of [false, true]) {
    if (hasPanel) await page.locator('#timing').click();
    for (const size of [WIDE, LAPTOP]) {
      await page.setViewportSize(size);
      await expect.poll(aside, SOON).toBeLessThan(12);
    }
  }
  await page.locator('#timing').click();
  await page.setViewportSize(WIDE);
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  await expect.poll(() => isShown('.foot'), SOON).toBe(false);
});

test('the width of the panel follows keyboard and pointer, within bounds, and is kept with its state', async () => {
  await page.locator('#timing').click();
  const before = await widthOf('aside#panel');
  await page.locator('#edge').focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => widthOf('aside#panel')).toBe(before + 16);
  await page.keyboard.press('Home');
  await expect
    .poll(async () => [await widthOf('aside#panel'), await page.locator('#edge').getAttribute('aria-valuenow')])
    .toEqual([320, '320']);
  await page.keyboard.press('End');
  expect(String(await widthOf('aside#panel'))).toBe(await page.locator('#edge').getAttribute('aria-valuemax'));
  const edge = await page.locator('aside#panel').boundingBox();
  await page.mouse.move(edge?.x ?? 0, 300);
  await page.mouse.down();
  await page.mouse.move(WIDE.width - 500, 300);
  await page.mouse.up();
  expect(Math.abs((await widthOf('aside#panel')) - 500)).toBeLessThanOrEqual(2);
  const width = await widthOf('aside#panel');
  await page.mouse.move(600, 300); // the edge is let go
  await expect.poll(() => widthOf('aside#panel')).toBe(width);
  expect(JSON.parse((await kept()) ?? '')).toEqual({ isOpen: true, width });
});

test('list, chat and panel fit a window of 1024 pixels', async () => {
  await page.setViewportSize(LAPTOP);
  await expect
    .poll(async () => [await isShown('#shelf'), await isShown('aside#panel'), await isShown('#conversations')])
    .toEqual([true, true, false]);
  await expect.poll(() => widthOf('vivace-chat'), SOON).toBeGreaterThanOrEqual(380); // the panel hears of the new size
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});

test('on a phone both are drawers: the page behind takes nothing, and closing gives the focus back', async () => {
  await page.setViewportSize(PHONE);
  const shown = async () => [await isShown('#shelf'), await isShown('aside#panel')];
  await expect.poll(shown, SOON).toEqual([false, false]);
  for (const [opener, drawer] of [
    ['conversations', 'shelf'],
    ['timing', 'panel'],
  ]) {
    const isOpen = async () => [await isShown(`main > #${drawer}`), await isShown('#scrim')];
    const chatIsInert = () => page.evaluate(() => document.querySelector('vivace-chat')?.inert);
    await page.locator(`#${opener}`).click();
    await expect
      .poll(async () => [...(await isOpen()), await chatIsInert(), await focused()])
      .toEqual([true, true, true, `close-${drawer}`]);
    await page.keyboard.press('Escape');
    await expect.poll(isOpen, SOON).toEqual([false, false]);
    await expect.poll(async () => [await chatIsInert(), await focused()]).toEqual([false, opener]);

    // The focus is nowhere after a Tab out of the page.
    await page.locator(`#${opener}`).click();
    await expect.poll(() => focused()).toBe(`close-${drawer}`);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('Escape');
    await expect.poll(isOpen, SOON).toEqual([false, false]);
    await expect.poll(() => focused()).toBe(opener);

    await page.locator(`#${opener}`).click();
    const beside = drawer === 'shelf' ? PHONE.width - 8 : 8;
    await page.mouse.click(beside, 500);
    await expect.poll(isOpen, SOON).toEqual([false, false]);
    await expect.poll(() => focused()).toBe(opener);
  }
  // A window that grows has room, and nothing stays inert.
  await page.locator('#conversations').click();
  await page.setViewportSize(WIDE);
  await expect.poll(() => page.evaluate(() => document.querySelectorAll('[inert]').length), SOON).toBe(0);
  await expect
    .poll(async () => [await isShown('#shelf'), await isShown('aside#panel'), await isShown('#scrim')])
    .toEqual([true, true, false]);
});

test('on a phone the keys of the search open its drawer in place of the other one', async () => {
  await page.setViewportSize(PHONE);
  await page.locator('#timing').click();
  await expect.poll(() => focused()).toBe('close-panel');
  await page.keyboard.press('Control+k');
  await expect.poll(() => focused(), SOON).toBe('library');
  await expect
    .poll(async () => [await isShown('#shelf'), await isShown('aside#panel'), await isShown('#scrim')], SOON)
    .toEqual([true, false, true]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape'); // the first one leaves the field
  await expect.poll(() => isShown('#scrim'), SOON).toBe(false);
  expect(await page.evaluate(() => document.querySelectorAll('[inert]').length)).toBe(0);
});

test('the note swings while tokens come, rests afterwards, and the rate stands beside it', async () => {
  const swings = () => page.locator('#mark:is(.left, .right)').count();
  await talk({ answers: [{ text: ANSWER, holdAfter: 20 }] });
  await begun(page);
  await expect.poll(swings, SOON).toBe(1);
  await release(page);
  expect(await ended(page)).toBe('done');
  await expect.poll(swings, SOON).toBe(0);
  await expect.poll(() => textOf(page.locator('#tempo'))).toMatch(/^= [\d.]+ tok\/s$/);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(() => document.getElementById('mark')?.classList.add('left'));
  const transform = () => page.locator('#mark').evaluate((mark) => getComputedStyle(mark).transform);
  await expect.poll(transform, SOON).toBe('none'); // a swing under way comes to its end
  await page.emulateMedia({ reducedMotion: null });
});

test('the first screen has one middle, from its first line on; a conversation has the room of the window', async () => {
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  const place = async (selector: string) => (await page.locator(selector).boundingBox()) ?? { y: 0, height: 0 };
  const heading = await place('h1');
  const composer = await place('vivace-composer');
  const chat = await place('vivace-chat');
  const middle = (heading.y + composer.y + composer.height) / 2;
  expect(Math.abs(middle - (chat.y + chat.height / 2))).toBeLessThan(60);

  for (const low of [
    { width: 640, height: 360 },
    { width: 844, height: 390 },
    { width: 320, height: 256 },
  ]) {
    await page.setViewportSize(low);
    await expect.poll(() => page.locator('.scroller').evaluate(({ scrollTop }) => scrollTop), SOON).toBe(0);
  }
  await talk({ answers: [{ text: ANSWER }] });
  expect(await ended(page)).toBe('done');
  await page.locator('.scroller').evaluate((scroller) => scroller.scrollTo(0, 100)); // into the answer
  const scroller = await place('.scroller');
  expect(scroller.height).toBeGreaterThan(100); // four lines, with a zoom of 400 %
  await expect
    .poll(async () => [await isShown('.foot'), await page.getByTestId('prompt').isVisible()])
    .toEqual([false, true]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await page.setViewportSize(WIDE);
});

test('a setting that waits for a reload shows the button for it at once, wherever the panel is scrolled', async () => {
  await page.getByTestId('settings').click();
  await page.locator('select#kvCache').selectOption('f32');
  const panel = page.locator('vivace-settings #panel');
  await panel.evaluate((element) => element.scrollTo(0, 0));
  const [button, around] = await Promise.all([page.getByTestId('reload').boundingBox(), panel.boundingBox()]);
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThan((around?.y ?? 0) + (around?.height ?? 0));
  expect(await panel.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeGreaterThan(0);
  await page.getByTestId('reset-all').click();
  await page.keyboard.press('Escape');
});

test('the first screen stays where it is while the words of a load change, and when the model is ready', async () => {
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  const states = [
    { kind: 'loading', progress: null },
    {
      kind: 'loading',
      progress: {
        stage: 'weights',
        loadedBytes: 4.2e6,
        totalBytes: 15.1e6,
        cachedBytes: 4.2e6,
        bytesPerSecond: 22.3e6,
        secondsLeft: 2.4,
      },
    },
    {
      kind: 'loading',
      progress: { stage: 'compile', loadedBytes: 15.1e6, totalBytes: 15.1e6, bytesPerSecond: null, secondsLeft: null },
    },
    { kind: 'ready' },
  ];
  const places = (state: (typeof states)[number]) =>
    page.evaluate(async (state) => {
      const loader = document.querySelector('vivace-loader')!;
      const welcome = document.querySelector('vivace-welcome')!;
      Object.assign(loader, { state, name: 'Storyteller' });
      Object.assign(welcome, { waits: state.kind !== 'ready', name: 'Storyteller' });
      await Promise.all([loader.updateComplete, welcome.updateComplete]);
      const inChat = (selector: string) => document.querySelector('vivace-chat')!.shadowRoot!.querySelector(selector);
      const parts = [inChat('h1'), document.querySelector('vivace-next-step'), inChat('vivace-composer')];
      return parts.map((part) => Math.round(part!.getBoundingClientRect().top));
    }, state);
  const gap = () =>
    page.evaluate(() => {
      const line = document
        .querySelector('vivace-welcome')!
        .shadowRoot!.querySelector('[data-testid=model-in-words] b')!;
      const examples = document.querySelector('vivace-chat')!.shadowRoot!.querySelector('.examples')!;
      return examples.getBoundingClientRect().top - line.getBoundingClientRect().bottom;
    });
  for (const size of [WIDE, LAPTOP, PHONE]) {
    await page.setViewportSize(size);
    await expect.poll(() => page.evaluate(() => [innerWidth, innerHeight]), SOON).toEqual([size.width, size.height]);
    // The panel takes its new width in the frame that tells of the size.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const before = await places(states[0]!);
    for (const state of states) expect(await places(state)).toEqual(before);
    expect(await gap()).toBeLessThan(50); // once the model is ready
  }
  await page.setViewportSize(WIDE);
});

test('at no width does a line begin with the dot between two parts; the way on stands before the figures', async () => {
  await talk({ answers: [{ text: ANSWER, finishReason: 'length' }] });
  expect(await ended(page)).toBe('done');
  const [way, figures] = await Promise.all(
    ['continue', 'timing'].map((id) =>
      page.getByTestId(id).evaluate((at) => [...at.parentElement!.children].indexOf(at)),
    ),
  );
  expect(way).toBeLessThan(figures!);
  const dots = () =>
    page.evaluate(() => {
      const lefts: number[] = [];
      const look = (root: ParentNode, selector: string) => {
        for (const element of root.querySelectorAll('*')) {
          if (element.shadowRoot) look(element.shadowRoot, selector);
          if (!element.matches(selector) || !element.checkVisibility({ visibilityProperty: true })) continue;
          const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
          for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            const at = text.textContent!.indexOf('·');
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            lefts.push(range.getBoundingClientRect().left - element.getBoundingClientRect().left);
          }
        }
      };
      look(document, '.timing, .open small');
      return lefts;
    });
  await page.setViewportSize(PHONE);
  await page.locator('#timing').click();
  await page.getByTestId('run-row').first().waitFor();
  let seen = 0;
  for (let width = 300; width <= 440; width += 5) {
    await page.setViewportSize({ width, height: 844 });
    const lefts = await dots();
    seen += lefts.length;
    expect(Math.min(...lefts), `at ${width} pixels`).toBeGreaterThan(8);
  }
  expect(seen).toBeGreaterThan(60);
  await page.keyboard.press('Escape');
  await page.setViewportSize(WIDE);
});

test('what the page says about a dropped file is in sight at the end of a long conversation', async () => {
  await talk({ answers: [{ text: ANSWER.repeat(12) }] });
  expect(await ended(page)).toBe('done');
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['\0PNG'], 'photo.png'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  });
  const notice = page.locator('[data-testid=notice][data-code=no-model]');
  await notice.waitFor();
  const isTop = () =>
    notice.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const root = element.getRootNode() as ShadowRoot;
      return element.contains(root.elementFromPoint(left + width / 3, top + height / 2));
    });
  await expect.poll(isTop, SOON).toBe(true);
  const fromTop = () => page.locator('.scroller').evaluate(({ scrollTop }) => scrollTop);
  await expect.poll(fromTop, SOON).toBeGreaterThan(100);
  await notice.getByRole('button').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => notice.count(), SOON).toBe(0);
  await page.keyboard.type('Next'); // the focus is in the composer, not lost with the button
  expect(await page.getByTestId('prompt').inputValue()).toBe('Next');
  await page.getByTestId('prompt').fill('');
});

test('the list shows a title in two lines, which stay as they are when the button of the row comes', async () => {
  await installScripted(page, { answers: [{ text: ANSWER }] });
  await page.evaluate(() => document.querySelector('vivace-chat')?.newConversation());
  await send(page, 'Tell me a story about a sleepy bear');
  expect(await ended(page)).toBe('done');
  const title = page.locator('.row.current .title span');
  await expect.poll(() => textOf(title), SOON).toContain('sleepy bear');
  const shape = () => title.evaluate((at) => [at.scrollHeight - at.clientHeight, at.clientWidth, at.clientHeight]);
  const before = await shape();
  expect(before[0]).toBe(0);
  await title.hover();
  await expect.poll(() => isShown('.row.current [data-testid=library-more]'), SOON).toBe(true);
  expect(await shape()).toEqual(before);
});

test('a phone keyboard, or a turned phone, leaves the settings and the field that is written into in sight', async () => {
  await page.setViewportSize(PHONE);
  await page.getByTestId('settings').click();
  await page.getByTestId('system').focus();
  /** How far the panel, its button to close and the focused field reach out of the window, in pixels. */
  const outside = () =>
    page.evaluate(() => {
      const root = document.querySelector('vivace-chat')!.shadowRoot!.querySelector('vivace-settings')!.shadowRoot!;
      const parts = [
        root.querySelector('#panel'),
        root.querySelector('[data-testid=close-settings]'),
        root.activeElement,
      ];
      return parts.map((part) => {
        const { left, right, top, bottom } = part!.getBoundingClientRect();
        return Math.max(0, -left, -top, right - innerWidth, bottom - innerHeight);
      });
    });
  for (const size of [{ ...PHONE, height: 480 }, { width: 844, height: 390 }, PHONE]) {
    await page.setViewportSize(size);
    await expect.poll(outside, SOON).toEqual([0, 0, 0]);
  }
  await page.keyboard.press('Escape');
  await page.setViewportSize(WIDE);
});

test('on paper is the whole conversation, dark on white, and nothing that can be pressed', async () => {
  await talk({ answers: [{ text: `\`\`\`\n${ANSWER.trim()}\n\`\`\`\n\n${`${ANSWER}\n\n`.repeat(8)}` }] });
  await ended(page);
  const pagesOf = async () => (await page.pdf()).toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  const themed = (theme: string) =>
    page.evaluate((theme) => {
      const before = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = theme;
      return before ?? '';
    }, theme);
  const before = await themed('dark');
  await expect.poll(pagesOf, SOON).toBeGreaterThan(1); // what prints comes after the first paint
  expect(await themed('dark')).toBe('dark'); // as before
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  for (const part of [
    'header.top',
    '#shelf',
    '.foot',
    '[data-testid=prompt]',
    '[data-testid=copy]',
    '[data-testid=edit]',
  ])
    expect(await page.locator(part).first().isVisible(), part).toBe(false);
  const { paper, cut } = await page.evaluate(() => {
    const turn = document.querySelector('vivace-chat')!.shadowRoot!.querySelector('vivace-turn')!;
    const code = turn.shadowRoot!.querySelector('pre')!;
    const bottom = Math.round(turn.getBoundingClientRect().bottom);
    const height = Math.round(document.documentElement.getBoundingClientRect().height);
    return {
      paper: getComputedStyle(document.body).backgroundColor,
      cut: [Math.max(0, bottom - height), code.scrollWidth - code.clientWidth],
    };
  });
  expect({ paper, cut }).toEqual({ paper: 'rgb(250, 249, 246)', cut: [0, 0] });
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: null });
  await expect.poll(() => isShown('header.top')).toBe(true);
  await themed(before);
});

test('files over the page bring a sentence', async () => {
  const drag = (name: string) =>
    page.evaluate((name) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'], 'x.gguf'));
      document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
    }, name);
  await drag('dragenter');
  await drag('dragover');
  await expect.poll(() => page.locator('#drop').isVisible()).toBe(true);
  await expect.poll(() => textOf(page.locator('#drop'))).toContain('Drop');
  await drag('dragleave');
  await expect.poll(() => page.locator('#drop').isVisible()).toBe(false);
});

test('forced colors keep the marks of the chosen conversation, the question, the composer and the chosen preset', async () => {
  await page.emulateMedia({ forcedColors: 'active' });
  const style = (selector: string, name: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), name);
  expect(await style('.row.current', 'outline-style')).toBe('solid');
  expect(await style('.question article', 'border-top-style')).toBe('solid');
  await page.getByTestId('prompt').focus();
  expect(await style('vivace-composer .box', 'outline-style')).toBe('solid');
  await page.getByTestId('settings').click();
  expect(await style('.presets [aria-pressed=true]', 'border-top-width')).toBe('2px');
  expect(await style('.presets [aria-pressed=false]', 'border-top-width')).toBe('1px');
  await page.keyboard.press('Escape');
  await page.emulateMedia({ forcedColors: null });
});

/** Buttons and fields in sight that are too small for a finger, or whose letters make a phone zoom. */
function tooSmall(of: Page): Promise<string[]> {
  return of.evaluate(() => {
    const found: string[] = [];
    const look = (root: ParentNode) => {
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot) look(element.shadowRoot);
        const isField = element.matches('input:not([type=range], [type=file]), select, textarea');
        if (!(isField || element.matches('button')) || !element.checkVisibility({ visibilityProperty: true })) continue;
        const { width, height } = element.getBoundingClientRect();
        const letters = Number.parseFloat(getComputedStyle(element).fontSize);
        const name = element.getAttribute('data-testid') ?? element.id ?? element.textContent;
        // The composer's field is as large as its box, which takes the tap.
        if (width > 0 && name !== 'prompt' && Math.min(width, height) < 43.5) found.push(`${name}: ${width}x${height}`);
        if (isField && letters < 16) found.push(`${name}: letters of ${letters}`);
      }
    };
    look(document);
    return found;
  });
}

test('on a touch screen every button has 44 pixels, and no field makes a phone zoom', async () => {
  const context = await site.browser.newContext({ viewport: PHONE, hasTouch: true, isMobile: true });
  const touch = await context.newPage();
  await touch.goto(`${site.url}?model=/page.gguf`);
  await touch.locator('[data-testid=load-progress][data-state=error]').waitFor();
  await installScripted(touch, { thinking: 'optional', answers: [{ text: ANSWER }] });
  expect(await tooSmall(touch)).toEqual([]);
  await send(touch, 'Tell me a story');
  expect(await ended(touch)).toBe('done');
  expect(await tooSmall(touch)).toEqual([]);
  await touch.getByTestId('settings').tap();
  expect(await tooSmall(touch)).toEqual([]);
  await touch.keyboard.press('Escape');
  for (const opener of ['#conversations', '#timing']) {
    await touch.locator(opener).tap();
    expect(await tooSmall(touch)).toEqual([]);
    await touch.keyboard.press('Escape');
  }
  await context.close();
});

test('the button names a model only while one loads or runs, and a narrow phone has room for its words', async () => {
  const name = page.locator('#model-name');
  await expect.poll(() => textOf(name)).toBe('Choose a model'); // the page's own load failed
  await page.setViewportSize({ width: 360, height: 740 });
  for (const words of ['Choose a model', 'Modell wählen', 'モデルを選択']) {
    await name.evaluate((place, words) => {
      place.textContent = words;
    }, words);
    const hidden = () => name.evaluate((at) => [at.scrollWidth > at.clientWidth, at.scrollHeight > at.clientHeight]);
    await expect.poll(hidden, SOON).toEqual([false, false]);
  }
  await page.setViewportSize(WIDE);
});

test('the panel opens as it was left, and anything else that is stored leaves it closed', async () => {
  const reopened = async (state: string) => {
    await page.evaluate((state) => localStorage.setItem('vivace-panel', state), state);
    await page.reload();
    await page.locator('[data-testid=load-progress][data-state=error]').waitFor();
    return (await isShown('aside#panel')) ? widthOf('aside#panel') : null;
  };
  expect(await reopened('{"isOpen":true,"width":444}')).toBe(444);
  expect(await reopened('{"isOpen":"yes","width":1e9}')).toBe(null);
});
