// Hostile answers of a model: nothing runs, nothing is fetched, and the page stays responsive for any length.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { installScripted, visitScripted } from '../scripted_engine';
import { ended, lastAnswer, openSite, type Site, send, textOf, type Visit } from '../site';

/** Most elements and texts added per task: a frame may write 12,000 letters, and a node costs at least 20. */
const MOST_NODES = 600;
const MEGA = 1_000_000;
const fill = (piece: string, letters = 120_000) => piece.repeat(Math.ceil(letters / piece.length));

let site: Site;
let visited: Visit;
let page: Page;
/** Every request since the page was loaded. */
let requests: string[];

beforeAll(async () => {
  site = await openSite({ webgpu: false });
  visited = await visitScripted(site, { answers: [{}] });
  page = visited.page;
  requests = [];
  page.context().on('request', (request) => requests.push(request.url()));
});

afterAll(() => site?.close());

beforeEach(async () => {
  await page.getByTestId('library-new').click();
  requests.length = 0;
});

async function answer(text: string, piece = 50): Promise<string> {
  await installScripted(page, { answers: [{ text, piece }], contextLength: 10_000_000 });
  await send(page, 'Go');
  expect(await ended(page)).toBe('done');
  return textOf(lastAnswer(page));
}

/** The effects of an attack on the page. */
function harm(): Promise<unknown> {
  return page.evaluate(() => (window as unknown as { harm?: unknown }).harm ?? null);
}

// Here, so that no request of a later test is the page's own.
test('the page fetches two files of its own when an answer first has code and math', async () => {
  await answer('```js\nlet a = 1;\n```\n\n$a$');
  const files = () => requests.map((url) => /assets\/(\w+)-/.exec(url)?.[1]).sort();
  await expect.poll(files).toEqual(['code_modes', 'math_tex']);
});

test('these tests notice a handler, a script and a request', async () => {
  await page.evaluate(() => {
    const image = document.createElement('img');
    image.onerror = () => Object.assign(window, { harm: 'handler' });
    image.src = '/nowhere.png';
    document.body.append(image);
  });
  await expect.poll(harm, { interval: 20 }).toBe('handler');
  expect(requests.some((url) => url.endsWith('/nowhere.png'))).toBe(true);
  await page.evaluate(() => {
    document.querySelector('img')?.remove();
    Object.assign(window, { harm: null });
  });
});

const ATTACKS = [
  '<img src=x onerror="window.harm=1">',
  '<script>window.harm=1</script>',
  '<svg onload="window.harm=1"></svg>',
  '<iframe src="/spy"></iframe>',
  '[x](javascript:window.harm=1)',
  '[x](JaVa\tScRiPt:window.harm=1)',
  '[x](data:text/html,<script>window.harm=1</script>)',
  '![x](/spy.png?said=secret)',
  '![x](https://spy.invalid/x.png)',
  '<style>p{display:none}</style>',
  '<link rel=stylesheet href=/spy.css>',
  '<meta http-equiv=refresh content="0;url=/spy">',
  'https://spy.invalid/a',
  '```html\n<img src=x onerror="window.harm=1">\n```',
];

test("a model's text never runs or causes a request, and is shown as text", async () => {
  const shown = await answer(`${ATTACKS.join('\n\n')}\n`, 3);
  for (const piece of ['<img src=x onerror="window.harm=1">', '<script>window.harm=1</script>']) {
    expect(shown).toContain(piece);
  }
  const links = lastAnswer(page).locator('a[href]');
  await expect
    .poll(() => links.evaluateAll((all) => all.map((link) => link.getAttribute('href'))))
    .toEqual(['https://spy.invalid/a']);
  for (const link of await lastAnswer(page).locator('a:not([href])').all()) await link.click();
  await expect.poll(() => lastAnswer(page).locator('img, script, iframe, style, link, meta').count()).toBe(0);
  expect([await harm(), requests, visited.strangers]).toEqual([null, [], []]);
  expect(new URL(page.url()).pathname).toBe('/');
});

test('control characters, direction overrides and stacked marks stay in their place', async () => {
  const zalgo = `Z${'\u0301\u0316'.repeat(300)}`;
  const shown = await answer(
    `\u001b[31mred\u001b[0m \u0000 \u202eevil\u202c \ud800\n\n${zalgo}\n\n\`\`\`\nif \u2067x\u2069\n\`\`\`\n`,
    7,
  );
  expect(shown).toContain('␛[31mred␛[0m ␀ [U+202E]evil');
  expect(shown).toContain('if [U+2067]x[U+2069]');
  expect(shown).not.toMatch(/\p{Surrogate}/u);
  // A pointer hits the buttons under the answer.
  const copy = page.getByTestId('copy').last();
  const isOnTop = await copy.evaluate((button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    const root = button.getRootNode() as ShadowRoot;
    return button.contains(root.elementFromPoint(left + width / 2, top + height / 2));
  });
  expect(isOnTop).toBe(true);
  const clip = await lastAnswer(page)
    .locator('.text')
    .evaluate((element) => getComputedStyle(element).overflowY);
  expect(clip).toBe('clip');
});

const FLOODS: Record<string, string> = {
  'a megabyte in a line without spaces': fill('x', MEGA),
  'a megabyte of brackets': fill('[', MEGA),
  'emphasis and links': fill('*a*b [c](https://d.e) ', 300_000),
  'short paragraphs': fill('a\n\n', 30_000),
  'code of short lines': `\`\`\`\n${fill('x = 1\n')}`,
  'nested quotes': fill(`${'> '.repeat(10_000)}x\n`),
  'nested lists': Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}- x\n`).join(''),
  'rows of 5,000 columns': fill(`${'| a '.repeat(5000)}|\n`),
  'rows of two numbers': `| 1 | 2 |\n|---|---|\n${fill('| 3 | 4 |\n', 50_000)}`,
  'rows of two': fill('| a | b |\n|---|---|\n'),
  'newlines in code': `\`\`\`\n${fill('\n', 20_000)}`,
};

for (const [name, text] of Object.entries(FLOODS)) {
  test(`the page takes ${name}, at once, in small steps`, async () => {
    await page.evaluate(() => {
      const added: number[] = [];
      const observer = new MutationObserver((changes) => {
        const nodes = new Set<Node>(); // nodes added with their contents are reported more than once
        const walk = (node: Node) => {
          if (nodes.has(node)) return;
          nodes.add(node);
          node.childNodes.forEach(walk);
        };
        for (const { addedNodes } of changes) addedNodes.forEach(walk);
        added.push(nodes.size);
      });
      // The turn is created with its question, so the answer's text is observed as soon as it exists.
      const chat = document.querySelector('vivace-chat')!.shadowRoot!;
      const look = () => {
        const text = chat.querySelector('vivace-turn')?.shadowRoot?.querySelector('.text');
        if (text) observer.observe(text, { childList: true, subtree: true });
        else if ((window as unknown as { added: unknown }).added === added) requestAnimationFrame(look);
      };
      Object.assign(window, { added });
      look();
    });
    await answer(text, MEGA * 2);
    // The answer is complete when nothing is added for ten frames.
    await page.evaluate(async () => {
      const size = () =>
        document.querySelector('vivace-chat')!.shadowRoot!.querySelector('vivace-turn')!.shadowRoot!.textContent!
          .length;
      for (let still = 0, last = -1; still < 10; ) {
        await new Promise(requestAnimationFrame);
        const now = size();
        still = now === last ? still + 1 : 0;
        last = now;
      }
    });
    const added = await page.evaluate(() => {
      const { added } = window as unknown as { added: number[] };
      Object.assign(window, { added: null });
      return added;
    });
    expect(added.length).toBeGreaterThan(0);
    expect(Math.max(...added)).toBeLessThan(MOST_NODES);
  });
}
