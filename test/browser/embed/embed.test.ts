// One script tag on a foreign page, from another origin: its requests and their times, the policies it works under, its
// isolation, and its API. The browser has no WebGPU, since the cpu backend loads within a second.

import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VivaceHandle } from '../../../src/embed/tag/embed';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import type { VivaceChat } from '../../../src/ui/chat/chat';
import { modelFile } from '../../model/fixtures/tiny_gguf';
import { files } from '../../text/fixtures';
import { sentencePieceGguf } from '../../text/tiny_vocabulary';
import { asked, installScripted, release, setHealth } from '../scripted_engine';
import { begun, ended, lastAnswer, ready, send, stateOf, textOf } from '../site';
import { type HostPage, type Hosts, type HostVisit, openHosts, visitHost } from './host_site';

/** Limits for moments on a busy machine. */
const SOON = { timeout: 90_000, interval: 20 };

let hosts: Hosts;

beforeAll(async () => {
  hosts = await openHosts();
});

afterAll(() => hosts?.close());

const tag = (attributes = '', folder = '') => `<script src="${hosts.cdn}${folder}embed.js" ${attributes}></script>`;
const packaged = (attributes: string) =>
  `<vivace-chat model="${model()}" ${attributes}></vivace-chat><script type="module" src="${hosts.cdn}lib/elements.js"></script>`;
const model = () => `${hosts.cdn}models/storyteller/storyteller-q8_0.gguf`;
const pathsOf = ({ requests }: HostVisit) => requests.map((address) => new URL(address).pathname);
/** Polled: the threads that keep a model's pieces end a moment after its load. */
const workersOf = (page: Page) => page.workers().length;

interface HostWindow extends Window {
  Vivace: VivaceHandle;
  heard: [string, unknown][];
}

describe('a bare page with one tag', () => {
  let visited: HostVisit;

  beforeAll(async () => {
    visited = await visitHost(hosts, {
      body: `<h1>Host</h1>${tag('data-panel data-title="Tales" data-welcome="What about?" data-examples="A fox | A hen"')}
        <script>heard = []; for (const name of ['open', 'close', 'ready', 'message', 'error', 'event']) Vivace.on(name, (detail) => heard.push([name, detail]));</script>`,
    });
  });

  afterAll(() => visited?.page.context().close());

  const heard = (name: string) =>
    visited.page.evaluate(
      (wanted) =>
        (window as unknown as HostWindow).heard.filter(([kind]) => kind === wanted).map(([, detail]) => detail),
      name,
    );

  test('requests only itself and stores nothing before it is opened', async () => {
    const { page } = visited;
    await page.getByTestId('launcher').waitFor();
    expect(pathsOf(visited)).toEqual(['/embed.js']);
    expect(workersOf(page)).toBe(0);
    const kept = await page.evaluate(async () => [
      localStorage.length,
      (await indexedDB.databases()).length,
      (await (await navigator.storage.getDirectory()).keys().next()).done ? 0 : 1,
    ]);
    expect(kept).toEqual([0, 0, 0]);
  });

  test('opens with a click, loads from the other origin, and answers', async () => {
    const { page } = visited;
    await page.getByTestId('launcher').click();
    await ready(page);
    await expect.poll(() => page.getByTestId('example').count()).toBe(2);
    await send(page, 'Tell me a story about a fox');
    await begun(page);
    await expect.poll(async () => (await textOf(lastAnswer(page))).length, { timeout: 90_000 }).toBeGreaterThan(20);
    await page.getByTestId('stop').click();
    expect(await ended(page)).toBe('done');
  });

  test('sends the page every event', async () => {
    await expect.poll(() => heard('open')).toHaveLength(1);
    await expect.poll(() => heard('ready')).toHaveLength(1);
    await expect.poll(() => heard('error')).toEqual([]);
    const said = async () => (await heard('message')) as { role: string; content: string }[];
    await expect.poll(async () => (await said()).map(({ role }) => role)).toEqual(['user', 'assistant']);
    const messages = await said();
    expect(messages[0]?.content).toBe('Tell me a story about a fox');
    const events = (await heard('event')) as { type: string; text?: string }[];
    const tokens = events.filter(({ type }) => type === 'token').map(({ text }) => text);
    expect(tokens.length).toBeGreaterThan(2);
    expect(messages[1]?.content.startsWith(tokens.join(''))).toBe(true);
  });

  test('sends an answer that goes on as one message, and no question before it', async () => {
    const { page } = visited;
    const before = (await heard('message')) as { role: string; content: string }[];
    await page.getByTestId('continue').click();
    await expect.poll(async () => (await heard('message')).length, { timeout: 90_000 }).toBe(before.length + 1);
    const { role, content } = (await heard('message')).at(-1) as { role: string; content: string };
    expect(role).toBe('assistant');
    expect(content.startsWith(before[1]?.content ?? '?')).toBe(true);
    expect(content.length).toBeGreaterThan(before[1]?.content.length ?? 0);
  });

  test('shows the panel, loaded when the window was opened', async () => {
    const { page } = visited;
    expect(pathsOf(visited).filter((path) => path === '/embed_panel.js')).toHaveLength(1);
    await page.getByTestId('panel-button').click();
    await expect
      .poll(async () => Number(await page.getByTestId('metrics').getAttribute('data-points')), SOON)
      .toBeGreaterThan(1);
    await page.getByTestId('panel-button').click();
  });

  test('has no serious fault for assistive technology', async () => {
    const { page } = visited;
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() =>
      (window as unknown as { axe: typeof axe }).axe.run(
        document.querySelector('[data-testid=vivace-embed]') as Element,
      ),
    );
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });

  test('Escape closes the settings but not the window, wherever the focus is', async () => {
    const { page } = visited;
    const settings = page.getByTestId('settings');
    for (const focused of [settings, page.getByTestId('system')]) {
      await settings.click();
      await focused.focus();
      await page.keyboard.press('Escape');
      await expect.poll(() => page.getByTestId('system').isVisible()).toBe(false);
      await expect.poll(() => page.getByTestId('window').isVisible()).toBe(true);
    }
  });

  test('Escape closes the window, focuses the button, and keeps the conversation', async () => {
    const { page } = visited;
    const focused = () =>
      page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.getAttribute('data-testid') ?? '');
    await page.getByTestId('prompt').focus();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByTestId('window').isVisible(), SOON).toBe(false);
    await expect.poll(() => focused()).toBe('launcher');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByTestId('prompt').evaluate((field) => field.matches(':focus')), SOON).toBe(true);
    await expect.poll(() => stateOf(lastAnswer(page))).toBe('done');
  });

  test("fills a phone's screen without sideways scrolling, and closes", async () => {
    const { page } = visited;
    await page.setViewportSize({ width: 360, height: 700 });
    const box = () => page.getByTestId('window').boundingBox();
    await expect.poll(box, SOON).toEqual({ x: 0, y: 0, width: 360, height: 700 });
    await expect.poll(() => page.getByTestId('launcher').isVisible()).toBe(false);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await page.getByTestId('close').click();
    await expect.poll(() => page.getByTestId('launcher').isVisible()).toBe(true);
  });

  test('is on no paper of its page', async () => {
    const { page } = await visitHost(hosts, { body: tag('data-open') });
    const [launcher, box] = [page.getByTestId('launcher'), page.getByTestId('window')];
    await expect.poll(() => box.isVisible()).toBe(true);
    await page.emulateMedia({ media: 'print' });
    expect([await launcher.isVisible(), await box.isVisible()]).toEqual([false, false]);
    await page.context().close();
  });

  test('is removed without a trace, however often, and without console messages', async () => {
    const { page } = visited;
    await page.evaluate(async () => {
      const { Vivace } = window as unknown as HostWindow;
      await Promise.all([Vivace.destroy(), Vivace.destroy()]);
    });
    await expect.poll(() => page.getByTestId('vivace-embed').count()).toBe(0);
    expect(await page.evaluate(() => 'Vivace' in window)).toBe(false);
    await expect.poll(() => workersOf(page), SOON).toBe(0);
    expect(visited.said).toEqual([]);
  });
});

describe('policies of the host', () => {
  /** Loads through the handle. Returns 'ready' or the error. */
  async function load(page: HostPage, attributes = '') {
    const visited = await visitHost(hosts, { body: tag(attributes), ...page });
    const outcome = await visited.page.evaluate(async () => {
      const { Vivace } = window as unknown as HostWindow;
      return Vivace.load().then(
        () => ({ code: 'ready', message: '' }),
        ({ code, message }: { code: string; message: string }) => ({ code, message }),
      );
    });
    return { ...outcome, visited };
  }

  const strict = (rest: string) => `default-src 'none'; script-src ${hosts.cdn}; img-src data:; ${rest}`;

  for (const [what, page, attributes] of [
    [
      'a strict policy with worker-src blob:',
      () => ({ csp: strict(`worker-src blob:; connect-src ${hosts.cdn}`) }),
      '',
    ],
    [
      'a strict policy without blob:, and data-worker',
      () => ({ csp: strict("worker-src 'self'") }),
      'data-worker="/vivace_worker.js"',
    ],
    ['a policy with nonces', () => ({ csp: "script-src 'nonce-a1'; worker-src blob:" }), 'nonce="a1"'],
    ['trusted types', () => ({ csp: "require-trusted-types-for 'script'; trusted-types vivace lit-html" }), ''],
    [
      'trusted types and a worker from a file',
      () => ({ csp: "require-trusted-types-for 'script'" }),
      'data-worker="/vivace_worker.js"',
    ],
  ] as const) {
    test(`${what}: loads`, async () => {
      const { code, message, visited } = await load(page(), attributes);
      expect([code, message]).toEqual(['ready', '']);
      expect(visited.said).toEqual([]);
      expect(await visited.page.evaluate(() => crossOriginIsolated)).toBe(false);
      await visited.page.context().close();
    });
  }

  test('where the server of the tag lets nobody read its files, a script brings the worker', async () => {
    const body = `<script src="${hosts.cdn}unread/embed.js" data-model="${model()}"></script>`;
    const { code, visited } = await load({ body });
    expect(code).toBe('ready');
    const ofWorker = pathsOf(visited).filter((path) => path.includes('worker'));
    expect(ofWorker.at(-1)).toBe('/unread/vivace_worker.js');
    await visited.page.context().close();
  });

  test.each([
    ['the tag under a strict policy', 'strict', () => tag('data-open data-lang="de"')],
    ['the package under a strict policy', 'strict', () => packaged('lang="de" autoload')],
    ['a tag whose files nobody may read', '', () => tag(`data-open data-lang="de" data-model="${model()}"`, 'unread/')],
  ])('%s: texts, math and colors of code come when they are needed', async (_, policy, body) => {
    const csp = policy && strict(`style-src 'unsafe-inline'; worker-src blob:; connect-src ${hosts.cdn}`);
    const visited = await visitHost(hosts, { csp, body: body() });
    const { page } = visited;
    await ready(page);
    await page.getByRole('button', { name: 'Senden', exact: true }).waitFor();
    expect(pathsOf(visited).join()).not.toMatch(/embed_(?:math|code)/);
    await installScripted(page, { answers: [{ text: '$x^2$\n```js\nreturn 1;\n```\n' }] });
    await send(page, 'Go');
    await lastAnswer(page).locator('msup').waitFor();
    await lastAnswer(page).locator('.code-keyword', { hasText: 'return' }).waitFor();
    const fetched = pathsOf(visited).flatMap((path) => /embed_(?:de|ja|math|code)\.js$/.exec(path) ?? []);
    expect(fetched.sort()).toEqual(['embed_code.js', 'embed_de.js', 'embed_math.js']);
    if (policy) expect(visited.said).toEqual([]);
    await page.context().close();
  });

  test.each([
    ['the tag', () => tag('data-position="none"')],
    ['the package', () => packaged('hidden')],
  ])('with %s, a chat that asks for no language any more leaves that of the others', async (_, script) => {
    const chats = ['de', 'ja', 'de'].map(
      (lang, i) => `<vivace-chat id="c${i}" model="none.gguf" lang="${lang}"></vivace-chat>`,
    );
    const { page } = await visitHost(hosts, { body: chats.join('') + script() });
    const shown = () => page.locator('#c0').getByTestId('send').getAttribute('aria-label');
    await expect.poll(shown, SOON).toBe('Senden');
    for (const [change, label] of [
      ['c2.removeAttribute("lang")', '送信'],
      ['c1.remove()', 'Senden'],
      ['c0.lang = "ja"', '送信'],
      ['c0.removeAttribute("lang")', 'Send'], // the browser's
    ] as const) {
      await page.evaluate(change);
      await expect.poll(shown, { timeout: 10_000, interval: 20 }).toBe(label);
    }
    await page.context().close();
  });

  test('an element is on paper with its whole conversation, in light colors, without its composer', async () => {
    const { page } = await visitHost(hosts, {
      head: '<style>vivace-chat { height: 300px !important; overflow: hidden }</style>',
      body: packaged('theme="dark" autoload style="max-height: 300px"'),
    });
    await ready(page);
    const [sentence, times] = ['The wind was strong, and Tom was not afraid.', 600];
    await installScripted(page, { answers: [{ text: `${sentence}\n\n`.repeat(times) }], contextLength: 10_000 });
    await page.evaluate(() => Object.assign(window, { requestAnimationFrame: () => 0 })); // no frame comes
    await send(page, 'Tell me a story');
    await expect.poll(() => stateOf(lastAnswer(page)), SOON).toBe('done');
    expect(await lastAnswer(page).getAttribute('aria-busy')).toBe('true');
    const chat = page.locator('vivace-chat');
    const pages = (await page.pdf()).toString('latin1').match(/\/Type\s*\/Page\b/g);
    expect(pages?.length).toBeGreaterThan(20);
    expect(await lastAnswer(page).locator('.text').textContent()).toBe(sentence.repeat(times));
    expect(await lastAnswer(page).getAttribute('aria-busy')).toBe('false');
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    for (const part of ['prompt', 'copy', 'edit'])
      expect(await chat.getByTestId(part).first().isVisible(), part).toBe(false);
    const seen = () =>
      chat.evaluate((element) => {
        const turn = element.shadowRoot!.querySelector('vivace-turn')!.getBoundingClientRect();
        const { bottom } = element.getBoundingClientRect();
        return [getComputedStyle(element).backgroundColor, Math.max(0, Math.round(turn.bottom - bottom))];
      });
    expect(await seen()).toEqual(['rgb(250, 249, 246)', 0]);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.emulateMedia({ media: null });
    expect(await chat.getAttribute('data-theme')).toBe('dark');
    expect((await chat.boundingBox())?.height).toBe(300);
    await page.context().close();
  });

  test('the panel gets the nonce, under trusted types', async () => {
    const csp = "script-src 'nonce-a1'; worker-src blob:; require-trusted-types-for 'script'";
    const visited = await visitHost(hosts, { csp, body: tag('nonce="a1" data-panel data-open') });
    await visited.page.waitForFunction(() => customElements.get('vivace-metrics'), null, { timeout: 90_000 });
    expect(visited.said).toEqual([]);
    await visited.page.context().close();
  });

  test('a notice that the keyboard dismisses leaves the focus in the composer', async () => {
    const { page } = await visitHost(hosts, { body: tag('data-open') });
    const boxes = page.locator('vivace-notices');
    await page.getByTestId('prompt').waitFor();
    for (const i of [0, 1]) {
      await boxes.nth(i).evaluate((box) => {
        (box as HTMLElementTagNameMap['vivace-notices']).show([{ code: 'test', message: 'A sentence.' }]);
      });
      await boxes.nth(i).getByRole('button').focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => page.getByTestId('notice').count(), SOON).toBe(0);
      await page.keyboard.type(`${i}`);
    }
    expect(await page.getByTestId('prompt').inputValue()).toBe('01');
    await page.context().close();
  });

  test('a panel that cannot load is a notice, and the chat works', async () => {
    const csp = `script-src ${hosts.cdn}embed.js; worker-src blob:`;
    const { page } = await visitHost(hosts, { csp, body: tag('data-panel data-open') });
    await expect
      .poll(() => page.locator('[data-code=panel]').textContent(), SOON)
      .toMatch(/embed_panel\.js.*chat works/);
    await ready(page);
    await page.context().close();
  });

  for (const [what, csp, attributes, pattern] of [
    ['no worker at all', "worker-src 'none'", '', /Content-Security-Policy.*worker-src blob:.*data-worker/],
    [
      'no worker from that file',
      'worker-src blob:',
      'data-worker="/vivace_worker.js"',
      /worker-src http:\/\/localhost/,
    ],
    ['a file that is no worker', '', 'data-worker="/nothing.js"', /nothing\.js.*vivace_worker\.js/],
    ['a worker of another origin', '', 'data-worker="ELSEWHERE"', /own origin/],
  ] as const) {
    test(`${what}: a sentence says what to do`, async () => {
      const named = attributes.replace('ELSEWHERE', `${hosts.cdn}vivace_worker.js`);
      const { code, message, visited } = await load({ csp: csp && `script-src ${hosts.cdn}; ${csp}` }, named);
      expect(code).toBe('worker');
      expect(message).toMatch(pattern);
      await visited.page.context().close();
    });
  }
});

describe('unusual pages', () => {
  const HOSTILE = `<style>
    * { all: unset !important; color-scheme: dark !important; }
    html { font: 40px/3 monospace !important; }
    body { color: red; letter-spacing: 9px; text-transform: uppercase; text-align: right; visibility: hidden; cursor: wait; }
    button, div, h2, textarea, vivace-chat { display: none !important; }
    button, div, h2, textarea { transform: rotate(9deg) !important; }
  </style>`;

  /** The computed styles of the window's elements, and those of a chat within the page. */
  const looks = (page: Page) =>
    page.evaluate(() => {
      const host = document.querySelector('[data-testid=vivace-embed]') as Element;
      const composed = document.querySelector('vivace-chat') as Element;
      const inside = (part: Element | null | undefined, selector: string) => [
        ...(part?.shadowRoot?.querySelectorAll(selector) ?? []),
      ];
      const parts = [
        host,
        ...inside(host, '.launcher, .window, header, h2'),
        ...inside(host.shadowRoot?.querySelector('vivace-chat'), 'h1, p'),
        composed,
        ...inside(composed, 'h1, p'),
        ...inside(composed.lastElementChild?.shadowRoot?.querySelector('vivace-loader'), 'p, button'),
      ];
      return parts.map((part) => {
        const style = getComputedStyle(part);
        const { width, height } = part.getBoundingClientRect();
        const text = [style.font, style.color, style.letterSpacing, style.textTransform, style.textAlign, style.cursor];
        return [part.localName, width, height, style.visibility, style.zIndex, ...text];
      });
    });

  /** Font sizes of a panel and its sections. */
  const textOfPanel = (page: Page, i: number) =>
    page
      .locator('vivace-metrics')
      .nth(i)
      .evaluate((panel) => {
        const parts = [panel, ...(panel.shadowRoot?.querySelectorAll('h2, button, dt, dd, p') ?? [])];
        return parts.flatMap((part) => {
          const { fontSize, lineHeight, fontVariantNumeric } = getComputedStyle(part);
          return [fontSize, lineHeight, fontVariantNumeric];
        });
      });

  test('styles of the page and the chat do not affect each other', async () => {
    const body = '<h1 style="color: rgb(1, 2, 3)">Host</h1><p class="window">Text</p><button class="icon">B</button>';
    const styles = (page: Page) =>
      page.evaluate(() =>
        [...document.querySelectorAll('html, body, h1, p, body > button')].flatMap((part) => {
          const style = getComputedStyle(part);
          return [...style].map((name) => `${part.localName} ${name}: ${style.getPropertyValue(name)}`);
        }),
      );
    const nothing = `${hosts.cdn}nothing.gguf`;
    const size = 'width: 300px !important; height: 300px !important';
    const composed = `<vivace-chat id="c" model="${nothing}" autoload theme="light" style="${size}"></vivace-chat>
      <vivace-metrics for="c" style="${size}"></vivace-metrics>`;
    const open = composed + tag(`data-open data-panel data-theme="light" data-model="${nothing}"`);
    const [bare, plain, hostile] = await Promise.all([
      visitHost(hosts, { body: body + `<div style="${size}"></div>`.repeat(2) }),
      visitHost(hosts, { body: body + open }),
      visitHost(hosts, { head: HOSTILE, body: open }),
    ]);
    for (const { page } of [plain, hostile]) {
      await expect.poll(() => page.locator('[data-testid=load-progress][data-state=error]').count(), SOON).toBe(2);
      await page.waitForFunction(() => customElements.get('vivace-metrics'));
      const [inPage, inWindow] = await Promise.all([0, 1].map((i) => textOfPanel(page, i)));
      expect(inPage?.slice(0, 3)).toEqual(['12px', '17.4px', 'tabular-nums']);
      expect(inWindow).toEqual(inPage);
    }
    expect(await looks(hostile.page)).toEqual(await looks(plain.page));
    const own = await styles(bare.page);
    expect(own.length).toBeGreaterThan(500);
    expect((await styles(plain.page)).filter((style, i) => style !== own[i])).toEqual([]);
    for (const { page } of [bare, plain, hostile]) await page.context().close();
  });

  test('where the page is zoomed the chart reads what is pointed at; in forced colors the button has an edge, the chosen view is told from others, and a line from what is below it', async () => {
    const { address } = await tinyModel();
    const { page } = await visitHost(hosts, { body: tag(`data-open data-panel data-model="${address}"`) });
    await ready(page);
    await send(page, 'the quick brown fox');
    expect(await ended(page)).toBe('done');
    await page.getByTestId('panel-button').click();
    const canvas = page.getByTestId('metrics').locator('canvas');
    const picture = () => canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL());
    await canvas.waitFor();
    const over = page.getByTestId('metrics').locator('.u-over');
    const read = async () => {
      const { x, y, width, height } = (await over.boundingBox())!;
      await page.mouse.move(x + width * 0.3, y + height / 2);
      await expect.poll(() => textOf(page.getByTestId('readout')), SOON).toMatch(/before token \d+/);
      return /before token \d+/.exec(await textOf(page.getByTestId('readout')))?.[0];
    };
    const token = await read();
    await page.mouse.move(0, 0);
    await page.evaluate(() => document.documentElement.style.setProperty('zoom', '1.25'));
    expect(await read()).toBe(token);
    await page.evaluate(() => document.documentElement.style.removeProperty('zoom'));
    const before = await picture();
    await page.emulateMedia({ forcedColors: 'active' });
    await expect.poll(picture, SOON).not.toBe(before);
    const seen = await page.getByTestId('metrics').evaluate((panel) => {
      const chart = panel.shadowRoot?.querySelector('vivace-chart')?.shadowRoot as ShadowRoot;
      const style = (selector: string) => getComputedStyle(chart.querySelector(selector) as Element);
      const system = document.body.appendChild(document.createElement('i'));
      const edgeOf = (chosen: boolean) => style(`[role=tab][aria-selected=${chosen}]`).borderBottomColor;
      const inks = ['accent', 'line', 'fill'].map((name) => style(`.probe.${name}`).color);
      const colorOf = (name: string) => {
        system.style.color = name;
        return getComputedStyle(system).color;
      };
      const expected = [colorOf('LinkText'), colorOf('GrayText')];
      return { inks, expected, edges: [edgeOf(true), edgeOf(false)] };
    });
    expect(seen.inks.slice(0, 2)).toEqual(seen.expected);
    expect(seen.inks[2]).toMatch(/0\.12\)$/);
    expect(seen.edges[0]).not.toBe(seen.edges[1]);
    await page.getByTestId('launcher').focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    const launcher = () =>
      page.getByTestId('launcher').evaluate((button) => {
        const { borderTopWidth, outlineStyle, outlineWidth } = getComputedStyle(button);
        return [borderTopWidth, outlineStyle, outlineWidth];
      });
    await expect.poll(launcher).toEqual(['2px', 'solid', '3px']);
    await page.context().close();
  });

  test('in right-to-left pages the chat is on the left by default', async () => {
    const rtl = { root: 'dir="rtl" lang="ar"' };
    const { page } = await visitHost(hosts, { ...rtl, body: tag() + tag('data-position="bottom-right"') });
    const boxes = await Promise.all([0, 1].map((i) => page.getByTestId('launcher').nth(i).boundingBox()));
    expect(boxes.map((box) => box?.x)).toEqual([20, 1000 - 20 - 56]);
    await page.context().close();
  });

  test('an invalid value is a warning with the choices', async () => {
    const { page, said } = await visitHost(hosts, { body: tag('data-theme="pink"') });
    await page.getByTestId('launcher').waitFor();
    expect(said).toEqual([expect.stringMatching(/^warning: .*pink.*auto, light, dark/)]);
    await page.context().close();
  });
});

/** A tiny model with random weights and a SentencePiece vocabulary. */
async function tinyModel() {
  const vocabulary = sentencePieceGguf();
  const vocab = (vocabulary.get('tokenizer.ggml.tokens') as string[]).length;
  const shape = { vocab, hidden: 64, intermediate: 64, layers: 1, heads: 2, kvHeads: 1, headDim: 32 };
  const file = modelFile({ format: 'f32', vocabulary }, shape);
  return { address: hosts.putFile('tiny.gguf', new Uint8Array(await file.arrayBuffer())), vocabulary };
}

test('a misspelled attribute of the tag and of an element is one warning, and those of the page are none', async () => {
  const global =
    'id="c" class="c" style="height:500px" lang="en" title="a" dir="ltr" tabindex="0" hidden role="region" data-x="1"';
  const ours = 'model="/none.gguf" heading="a" figures="off" shortcuts';
  const body = `<vivace-chat ${global} ${ours} placehodler="Ask"></vivace-chat><vivace-metrics ${global} fro="c"></vivace-metrics>${tag('data-them="dark" data-cfasync="false"')}`;
  const { page, said } = await visitHost(hosts, { body });
  await expect
    .poll(() => said.toSorted())
    .toEqual([
      `warning: Vivace: <vivace-chat> placehodler is no attribute, but placeholder is (docs/embedding.md); it is left out.`,
      `warning: Vivace: <vivace-metrics> fro is no attribute, but for is (docs/embedding.md); it is left out.`,
      `warning: Vivace: data-them is no attribute, but data-theme is (docs/embedding.md); it is left out.`,
    ]);
  await page.context().close();
});

test('without any charset the ids and texts are the same', async () => {
  const { address, vocabulary } = await tinyModel();
  const { page, said } = await visitHost(hosts, {
    namesNoCharset: true,
    body: tag(`data-model="${address}" data-open data-figures`),
  });
  const text = 'the quick brown fox';
  const ids = await page.evaluate(async (prompt) => {
    const { Vivace } = window as unknown as HostWindow;
    let found: number[] = [];
    for await (const event of Vivace.chat(prompt, { maxTokens: 1 }))
      if (event.type === 'start') found = event.promptIds;
    return [document.characterSet, ...found];
  }, text);
  expect(ids).toEqual(['windows-1252', ...createTokenizer(files({ gguf: vocabulary })).encode(text)]);
  await ready(page);
  await send(page, text);
  expect(await ended(page)).toBe('done');
  await expect.poll(() => page.getByTestId('timing').innerText()).toMatch(/^[\d.]+ tok\/s \u00b7 /);
  expect(said).toEqual([]);
  await page.context().close();
});

test('thinking is folded in the small window, and the tag sets its switch', async () => {
  const { page, said } = await visitHost(hosts, { body: tag('data-open data-thinking="off" data-panel') });
  await ready(page);
  const answers = [{ thought: 'Let me see. '.repeat(40), text: 'It is 42.' }];
  await installScripted(page, { thinking: 'optional', contextLength: 4096, answers });
  const button = page.getByRole('button', { name: 'Thinking', exact: true });
  await expect.poll(() => button.getAttribute('aria-pressed')).toBe('false');
  await send(page, 'What is it?');
  expect(await ended(page)).toBe('done');
  await expect.poll(() => page.getByTestId('thought').count()).toBe(0);
  await button.click();
  await send(page, 'And now?');
  expect(await ended(page)).toBe('done');
  const { messages, options } = (await asked(page)).at(-1)!;
  expect([messages?.length, options.thinking]).toEqual([3, 'on']);
  await page.getByTestId('thought').click();
  await expect.poll(() => textOf(page.getByTestId('thought-body')), SOON).toMatch(/^Let me see\./);
  await expect.poll(() => textOf(lastAnswer(page))).toBe('It is 42.');
  const dock = page.locator('vivace-composer .row');
  expect(await dock.evaluate((row) => row.scrollWidth <= row.clientWidth)).toBe(true);
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  expect(said).toEqual([]);
  await page.context().close();
});

test('a model that only embeds text, and a lost GPU, are named as such in the small window', async () => {
  const { page, said } = await visitHost(hosts, { body: tag('data-open') });
  await ready(page);
  await installScripted(page, { answers: [], embedsOnly: true });
  const strip = page.getByTestId('writes-no-text');
  await expect.poll(() => strip.isVisible(), SOON).toBe(true);
  await expect.poll(() => textOf(strip)).toContain('Open a chat model to chat.');
  await page.getByTestId('prompt').fill('Hello');
  await expect.poll(() => page.getByTestId('send').isEnabled()).toBe(false);
  const cause = { code: 'device-lost', message: 'The GPU was lost.' };
  await setHealth(page, { state: 'recovering', cause, loss: 1, progress: null });
  await expect.poll(() => textOf(page.getByTestId('health')), SOON).toContain('Loading the model again…');
  expect(said).toEqual([]);
  await page.context().close();
});

describe("after the chat's removal", () => {
  /** Nodes and listeners of all pages of the process, after garbage collection settles. */
  async function countersOf(page: Page) {
    const session = await page.context().newCDPSession(page);
    const collect = async () => {
      await session.send('HeapProfiler.collectGarbage');
      // Runs finalization registries.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
      const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
      return { nodes, jsEventListeners };
    };
    let newest = await collect();
    for (let before = null; JSON.stringify(newest) !== JSON.stringify(before); newest = await collect())
      before = newest;
    await session.detach();
    return newest;
  }

  /** The growth over some cycles since the end of the second one. */
  async function growthOf(page: Page, cycle: () => Promise<void>) {
    for (let i = 0; i < 2; i++) await cycle();
    const second = await countersOf(page);
    for (let i = 0; i < 3; i++) await cycle();
    return async () => {
      const now = await countersOf(page);
      const more = (name: keyof typeof now) => Math.max(0, now[name] - second[name]);
      return { nodes: more('nodes'), jsEventListeners: more('jsEventListeners') };
    };
  }

  const NOTHING = { nodes: 0, jsEventListeners: 0 };

  test('a destroyed tag leaves no listener and no node', async () => {
    const { address } = await tinyModel();
    const { page } = await visitHost(hosts, {});
    const attributes = { src: `${hosts.cdn}embed.js`, 'data-model': address, 'data-panel': '', 'data-open': '' };
    const cycle = () =>
      page.evaluate(async (given) => {
        const script = document.createElement('script');
        for (const [name, value] of Object.entries(given)) script.setAttribute(name, value);
        document.head.append(script);
        await new Promise((loaded) => script.addEventListener('load', loaded, { once: true }));
        const { vivace } = script;
        await vivace?.load();
        const events = vivace?.chat('the fox', { maxTokens: 2 });
        while (events && !(await events.next()).done) {}
        await customElements.whenDefined('vivace-metrics');
        await vivace?.destroy();
        script.remove();
      }, attributes);
    await expect.poll(await growthOf(page, cycle), SOON).toEqual(NOTHING);
    await page.context().close();
  });

  test('removed elements leave no listener and no node', async () => {
    const { address } = await tinyModel();
    const { page } = await visitHost(hosts, {
      body: `<vivace-metrics></vivace-metrics>${tag('data-position="none"')}`,
    });
    await page.waitForFunction(() => customElements.get('vivace-metrics'));
    const cycle = async () => {
      await page.evaluate(async (model) => {
        const place = document.createElement('div');
        place.innerHTML = `<vivace-chat id="c" model="${model}" autoload></vivace-chat><vivace-metrics for="c"></vivace-metrics>`;
        document.body.append(place);
        const chat = place.querySelector('vivace-chat') as VivaceChat;
        while (!chat.engine) await new Promise((come) => chat.addEventListener('vivace-engine', come, { once: true }));
        for await (const _ of chat.engine.complete('the fox', { maxTokens: 2 }));
        place.remove();
      }, address);
      await expect.poll(() => workersOf(page), SOON).toBe(0);
    };
    await expect.poll(await growthOf(page, cycle), SOON).toEqual(NOTHING);
    await page.context().close();
  });

  test('a removed widget frees its model, a moved one keeps it, and a returning one loads again', async () => {
    const { address } = await tinyModel();
    const { page, said } = await visitHost(hosts, { body: tag(`data-model="${address}" data-open`) });
    await ready(page);
    await page.getByTestId('vivace-embed').evaluate(async (host) => {
      host.remove();
      await Promise.resolve(); // still the same task
      document.body.append(host);
      await new Promise((resolve) => setTimeout(resolve));
    });
    expect(await page.getByTestId('send').isVisible()).toBe(true);
    await expect.poll(() => workersOf(page), SOON).toBe(1);
    const host = await page.getByTestId('vivace-embed').elementHandle();
    await host?.evaluate((element) => element.remove());
    await expect.poll(() => workersOf(page), SOON).toBe(0);
    await host?.evaluate((element) => document.body.append(element));
    await ready(page);
    await expect.poll(() => workersOf(page), SOON).toBe(1);
    expect(said).toEqual([]);
    await page.context().close();
  });
});

test('a moved widget goes on with its answer; a removed one ends it, and a returning one has its text', async () => {
  const { page, said } = await visitHost(hosts, { body: tag('data-open') });
  await ready(page);
  await installScripted(page, { answers: [{ text: 'One day a fox sang.', holdAfter: 2 }] });
  await send(page, 'Tell me a story');
  await begun(page);
  const host = await page.getByTestId('vivace-embed').elementHandle();
  await host?.evaluate((element) => document.body.prepend(element));
  await release(page);
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(lastAnswer(page))).toBe('One day a fox sang.');
  await send(page, 'Another one');
  await begun(page);
  await host?.evaluate((element) => element.remove());
  await expect.poll(() => workersOf(page), SOON).toBe(0);
  await host?.evaluate((element) => document.body.append(element));
  expect(await ended(page)).toBe('done');
  await expect.poll(() => textOf(lastAnswer(page))).toBe('One day');
  expect(said).toEqual([]);
  await page.context().close();
});

describe('the handle', () => {
  test('answers without a window, stops, refuses by code, and waits for a body', async () => {
    const { page } = await visitHost(hosts, { head: `${tag()}<script>Vivace.open(); Vivace.close()</script>` });
    const seen = await page.evaluate(async (nowhere) => {
      const { Vivace } = window as unknown as HostWindow;
      const texts: string[] = [];
      const types = new Set<string>();
      for await (const event of Vivace.chat('Tell me a story', { maxTokens: 5, temperature: 0 })) {
        types.add(event.type);
        if (event.type === 'token') texts.push(event.text);
      }
      let chosen = '';
      const constraint = { kind: 'choice', texts: ['yes', 'no'] } as const;
      for await (const event of Vivace.chat('Yes or no?', { constraint })) {
        if (event.type === 'token' || event.type === 'done') chosen += event.text;
      }
      const stop = new AbortController();
      let counted = 0;
      for await (const event of Vivace.chat([{ role: 'user', content: 'Hi' }], { signal: stop.signal })) {
        if (event.type === 'token' && ++counted === 3) stop.abort();
      }
      const codeOf = (error: { code?: string; name: string }) => error.code ?? error.name;
      const refused = await Vivace.load(nowhere).catch(codeOf);
      const { version } = Vivace;
      await Vivace.destroy();
      const late = await Vivace.load().catch(codeOf);
      return { texts, types: [...types], chosen, counted, refused, late, version };
    }, `${hosts.cdn}nothing.gguf`);
    expect(seen.texts.length).toBeGreaterThan(3);
    expect(seen.types).toEqual(expect.arrayContaining(['prefill', 'token', 'done']));
    expect(['yes', 'no']).toContain(seen.chosen); // by embed_constraint.js beside the tag
    expect(seen.counted).toBeLessThan(60); // a complete answer has more
    expect([seen.refused, seen.late]).toEqual(['model-fetch', 'invalid-request']);
    expect(seen.version).toMatch(/^\d+\.\d+\.\d+$/);
    await expect.poll(() => workersOf(page), SOON).toBe(0);
    await page.context().close();
  });

  test("after its worker's end it loads the model again and answers", async () => {
    const { address } = await tinyModel();
    const { page } = await visitHost(hosts, { body: tag(`data-model="${address}"`) });
    const answer = () =>
      page.evaluate(async () => {
        const { Vivace } = window as unknown as HostWindow;
        await Vivace.load();
        let ended = '';
        for await (const event of Vivace.chat('the fox', { maxTokens: 2 }))
          if (event.type === 'done') ended = event.finishReason;
        return ended;
      });
    expect(await answer()).toBe('length');
    const [worker] = page.workers();
    const gone = new Promise((resolve) => worker.once('close', resolve));
    await worker.evaluate(() => close());
    await gone; // another worker may run already
    expect(await answer()).toBe('length');
    expect(page.workers()).not.toContain(worker);
    await page.context().close();
  });

  test('two tags share one engine, and their answers are written at the same time', async () => {
    const { page } = await visitHost(hosts, { body: tag('id="one"') + tag('id="two"') });
    const order = await page.evaluate(async () => {
      const heard: string[] = [];
      const ask = async (id: string) => {
        const { vivace } = document.getElementById(id) as HTMLScriptElement;
        const answer = vivace?.chat('Tell me a long story', { maxTokens: 60, ignoreEos: true, reuseCache: false });
        for await (const event of answer ?? []) if (event.type === 'token') heard.push(id);
      };
      await Promise.all([ask('one'), ask('two')]);
      return heard;
    });
    await expect.poll(() => workersOf(page), SOON).toBe(1);
    expect(order.filter((id) => id === 'one')).toHaveLength(60);
    expect(order.length).toBe(120);
    expect(order.slice(0, order.lastIndexOf('one')).lastIndexOf('two')).toBeGreaterThan(order.indexOf('one'));
    expect(order.slice(0, order.lastIndexOf('two')).lastIndexOf('one')).toBeGreaterThan(order.indexOf('two'));
    await page.context().close();
  });

  test('one at a time the second question waits visibly, and the last removal ends the engine', async () => {
    const { page } = await visitHost(hosts, {
      body: tag('id="one" data-open data-position="bottom-left"') + tag('id="two" data-open'),
    });
    await page.evaluate(async () => {
      const tags = ['one', 'two'].map((id) => document.getElementById(id) as HTMLScriptElement);
      await Promise.all(tags.map(({ vivace }) => vivace?.load(undefined, { maxConcurrent: 1 })));
    });
    const chats = page.getByTestId('vivace-embed');
    for (const i of [0, 1]) {
      await chats.nth(i).getByTestId('prompt').fill('Tell me a long story');
      await expect.poll(() => chats.nth(i).getByTestId('send').isEnabled(), { timeout: 90_000 }).toBe(true);
    }
    await expect.poll(() => workersOf(page), SOON).toBe(1);
    for (const i of [0, 1]) await chats.nth(i).getByTestId('send').click();
    const waiting = chats.nth(1).locator('[data-code=waiting]');
    await expect.poll(async () => (await waiting.allInnerTexts()).join(), SOON).toMatch(/another chat/);
    expect(await waiting.isVisible()).toBe(true);
    await chats.nth(0).getByTestId('stop').click();
    await expect
      .poll(() => textOf(chats.nth(1).locator('[data-role=assistant]')), { timeout: 90_000 })
      .toMatch(/\w{2}/);
    await expect.poll(() => waiting.count()).toBe(0);
    expect(await chats.nth(1).getByTestId('waiting').isVisible()).toBe(false);
    const destroy = (id: string) =>
      page.evaluate((name) => (document.getElementById(name) as HTMLScriptElement).vivace?.destroy(), id);
    await destroy('one');
    await expect.poll(() => workersOf(page), SOON).toBe(1);
    await destroy('two');
    await expect.poll(() => workersOf(page), SOON).toBe(0);
    await page.context().close();
  });
});

describe('a page that composes', () => {
  const parts = (attributes: string) => `<vivace-metrics for="tales"></vivace-metrics>
    <vivace-chat id="tales" model="${model()}" heading="Tales" examples="A fox | A hen" ${attributes}></vivace-chat>`;

  test('a chat loads on first use, its panel follows it, and both end with their elements', async () => {
    const visited = await visitHost(hosts, {
      head: '<style>* { all: unset !important } vivace-chat { height: 500px !important }</style>',
      body: parts('theme="dark"') + tag('data-position="none"'),
    });
    const { page } = visited;
    await page.getByText('A hen').waitFor();
    const offered = () => page.getByTestId('example').allTextContents();
    const offer = (examples: string | null) =>
      page.locator('vivace-chat').evaluate((chat, examples) => {
        if (examples === null) chat.removeAttribute('examples');
        else chat.setAttribute('examples', examples);
      }, examples);
    await offer('A cat');
    await expect.poll(offered).toEqual(['A cat']);
    await offer(null);
    await expect.poll(offered).toHaveLength(3); // those of the storyteller
    await page.waitForFunction(() => customElements.get('vivace-metrics'));
    expect(pathsOf(visited).sort()).toEqual(['/embed.js', '/embed_panel.js']);
    await page.getByTestId('prompt').click();
    await ready(page);
    await send(page, 'Tell me a story about a hen');
    await expect
      .poll(async () => Number(await page.locator('vivace-metrics').getAttribute('data-points')), { timeout: 90_000 })
      .toBeGreaterThan(1);
    const keepsModel = await page.locator('vivace-chat').evaluate(async (chat) => {
      chat.remove();
      await Promise.resolve(); // still the same task
      document.body.append(chat);
      await new Promise((resolve) => setTimeout(resolve));
      return (chat as unknown as VivaceChat).engine !== null;
    });
    expect(keepsModel).toBe(true);
    await expect.poll(() => workersOf(page), SOON).toBe(1);
    await page.locator('vivace-chat').evaluate((chat) => chat.remove());
    await expect.poll(() => workersOf(page), SOON).toBe(0);
    expect(visited.said).toEqual([]);
    await page.context().close();
  });

  test('the package defines the same elements', async () => {
    const visited = await visitHost(hosts, {
      body: `${parts('autoload')}<script type="module" src="${hosts.cdn}lib/elements.js"></script>`,
    });
    await ready(visited.page);
    const scripts = () => pathsOf(visited).filter((path) => path.endsWith('.js'));
    const names = () => scripts().map((path) => path.replace(/-\w{8}\.js$/, '.js'));
    await expect
      .poll(names)
      .toEqual([
        '/lib/elements.js',
        '/lib/elements_shared.js',
        '/lib/vivace.js',
        '/lib/vivace_worker_core.js',
        '/lib/vivace_worker_part_whole_remote.js',
        '/lib/vivace_worker_part_load_on_cpu.js',
        '/lib/vivace_worker_part_dequantize.js',
        '/lib/vivace_worker_part_embedding.js',
        '/lib/vivace_worker_part_token_bytes.js',
        '/lib/vivace_worker_part_branches.js',
      ]);
    expect(visited.said).toEqual([]);
    await visited.page.context().close();
  });
});
