// Markdown of a model as nodes: the same for any pieces of the text, safe for any text, and bounded per frame and in
// size.

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MarkdownWriter } from '../../../src/ui/markdown/markdown';
import { directionOf, safeHref, visibleText } from '../../../src/ui/markdown/markdown_text';
import { importTranslation } from '../../../src/words/import_translation';
import { useLanguage } from '../../../src/words/language';
import { cpuMs } from '../../cpu_time';
import { FakeElement, fakeDocument } from './fake_dom';
import { findUnsafe, framesByHand, HOSTILE, piece, render } from './rendered';

beforeEach(() => {
  vi.stubGlobal('document', fakeDocument);
  // The parser reports odd input through console.assert, and continues.
  vi.stubGlobal('console', { ...console, assert: () => {} });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Letters that one frame may write, and elements: a node costs at least 20 letters. */
const FRAME_LETTERS = 12_000;
const MOST_NODES = FRAME_LETTERS / 20;

for (const input of HOSTILE) {
  test(`stays harmless: ${JSON.stringify(input).slice(0, 60)}`, () => {
    expect(findUnsafe(render([input]))).toEqual([]);
    expect(findUnsafe(render([...input]))).toEqual([]);
  });
}

test('the search for unsafe nodes finds what the unguarded renderer leaves behind', async () => {
  const smd = await import('streaming-markdown');
  const root = new FakeElement('div');
  const parser = smd.parser(smd.default_renderer(root as unknown as HTMLElement));
  smd.parser_write(parser, '[a](javascript:alert(1)) ![b](https://example.com/x.png)');
  smd.parser_end(parser);
  expect(findUnsafe(root)).toEqual(expect.arrayContaining(['href=javascript:alert(1', '<img>', 'img[src]']));
});

test('random mixtures of Markdown and hostile pieces, cut anywhere, stay harmless', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), fc.integer({ min: 1, max: 5 }), (pieces, step) => {
      const text = pieces.join('');
      const chunks: string[] = [];
      for (let i = 0; i < text.length; i += step) chunks.push(text.slice(i, i + step));
      expect(findUnsafe(render(chunks))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('ordinary Markdown comes out as elements and text', () => {
  const root = render(['# Cat\n\nA **brave** ', '*cat* with [a link](https://example.com/cat).\n\n- one\n- two\n']);
  expect(root.text()).toContain('A brave cat with a link.');
  expect(root.descendants().map((e) => e.tag)).toEqual(['h1', 'p', 'strong', 'em', 'a', 'ul', 'li', 'li']);
  const link = root.descendants().find((e) => e.tag === 'a')!;
  expect(Object.fromEntries(link.attributes)).toEqual({
    href: 'https://example.com/cat',
    title: 'https://example.com/cat',
    rel: 'noopener noreferrer nofollow',
    target: '_blank',
  });
});

for (const [what, text, href, shown] of [
  ['with brackets', '[Go](https://a.b/Go_(game)) is old.', 'https://a.b/Go_(game)', 'Go is old.'],
  ['with brackets twice', '([Go](https://a.b/f(1)/g(2)))', 'https://a.b/f(1)/g(2)', '(Go)'],
  ['with brackets in brackets', '[a](https://x.y/z_(u(w))) is old.', 'https://x.y/z_(u(w))', 'a is old.'],
  ['with brackets that lie deep', '[a](https://x.y/((((b))(c)))) b)', 'https://x.y/((((b))(c)))', 'a b)'],
  ['with inner brackets that lack the last', '[a](https://x.y/z_(u(w)) (b)', 'https://x.y/z_(u(w)', 'a (b)'],
  [
    'that lacks its last bracket',
    '[Go](https://a.b/Go_(game), is (very) old.',
    'https://a.b/Go_(game',
    'Go, is (very) old.',
  ],
  ['that ends the text without its last bracket', '[Go](https://a.b/Go_(game)', 'https://a.b/Go_(game', 'Go'],
  ['with a bracket that opens nothing', '[Go](https://a.b/Go) (a game)', 'https://a.b/Go', 'Go (a game)'],
] as const) {
  test(`the address of a link ${what}`, () => {
    const root = render([text]);
    expect(root.text().trim()).toBe(shown);
    const links = root.descendants().filter((e) => e.tag === 'a');
    expect(links.map(({ attributes }) => attributes.get('href'))).toEqual([href]);
  });
}

test('brackets that are no link are shown', () => {
  expect(render(['list[0] and [1], then [open']).text()).toBe('list[0] and [1], then [open');
  expect(render(['see [a](https://e.f) [b](javascript:x) [c]\n\nnext']).text()).toBe('see a b [c]next');
});

test('an image becomes its description', () => {
  const root = render(['see ![a gray cat](https://example.com/cat.png)']);
  expect(root.text()).toBe('see a gray cat');
});

test('safeHref judges the address that a browser would open', () => {
  expect(safeHref('https://example.com')).toBe('https://example.com');
  expect(safeHref('HTTP://example.com')).toBe('HTTP://example.com');
  expect(safeHref('mailto:a@example.com')).toBe('mailto:a@example.com');
  expect(safeHref('#part')).toBe('#part');
  expect(safeHref(' ht\ntps://example.com')).toBe('https://example.com');
  for (const bad of ['javascript:x', 'java\nscript:x', '/local', 'page.html', '', 'file:///x', '\u0000javascript:x']) {
    expect(safeHref(bad)).toBeNull();
  }
});

test('code has a bar with its language and a button that copies it as it was written, while it streams, too', async () => {
  const writeText = vi.fn(async (_text: string) => {});
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  const root = new FakeElement('div');
  const { budget } = framesByHand();
  const writer = new MarkdownWriter(root as unknown as HTMLElement, budget);
  writer.write('```python\nprint("\u202etxt")\n  x = 1\n');
  const [block] = root.children;
  expect([block!.attributes.get('aria-label'), block!.text()]).toEqual([
    'Code, python',
    'print("[U+202E]txt")\n  x = 1',
  ]);
  const button = block!.descendants().find(({ tag }) => tag === 'button')!;
  button.listeners.get('click')!();
  await vi.waitFor(() => expect(button.attributes.get('aria-label')).toBe('Copied'));
  writer.write('y = 2\n```\nAfter');
  writer.end();
  button.listeners.get('click')!();
  expect(writeText.mock.calls).toEqual([['print("\u202etxt")\n  x = 1'], ['print("\u202etxt")\n  x = 1\ny = 2']]);
  expect(root.children.map(({ tag }) => tag)).toEqual(['div', 'p']);
});

test('a table scrolls in a box of its own', () => {
  const root = render(['| a | b |\n|---|---|\n| 1 | 2 |\n']);
  expect(root.children.map(({ attributes }) => attributes.get('class'))).toEqual(['table-box']);
  expect(root.descendants().map(({ tag }) => tag)).toEqual([
    'div',
    'table',
    'thead',
    'tr',
    'th',
    'th',
    'tbody',
    'tr',
    'td',
    'td',
  ]);
});

for (const [nColumns, rows] of [
  [1, 1200],
  [2, 400],
  [20, 100],
] as const) {
  test(`a row of ${nColumns} is added to no table of more than 500 cells, and each has the head`, () => {
    const row = (word: string) => `|${` ${word} |`.repeat(nColumns)}\n`;
    const root = render([row('h'), row('---'), ...Array.from({ length: rows }, (_, i) => row(String(i)))]);
    const tables = root.descendants().filter(({ tag }) => tag === 'table');
    const cells = tables.map((table) => table.descendants().filter(({ tag }) => tag === 'td' || tag === 'th').length);
    expect(Math.max(...cells)).toBeLessThanOrEqual(500 + 2 * nColumns);
    expect(tables.map((table) => table.children.map(({ tag }) => tag))).toEqual(tables.map(() => ['thead', 'tbody']));
    expect(tables.map((table) => table.children[0].text().replace(/ /g, ''))).toEqual(
      tables.map(() => 'h'.repeat(nColumns)),
    );
    const body = tables.flatMap((table) => table.children[1].children.map((tr) => tr.text().replace(/ /g, '')));
    expect(body).toEqual(Array.from({ length: rows }, (_, i) => String(i).repeat(nColumns)));
  });
}

test('a head that is long is not repeated over each part of a table', () => {
  const root = render([`| ${'h'.repeat(10_000)} | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(600)}`]);
  expect(
    root
      .descendants()
      .filter(({ tag }) => tag === 'thead')
      .map((head) => head.text().length),
  ).toEqual([10_005, 0, 0]);
});

test('nodes once written stay', () => {
  const root = new FakeElement('div');
  const { budget } = framesByHand();
  const writer = new MarkdownWriter(root as unknown as HTMLElement, budget);
  const text = '# One\n\ntwo **three** `four`\n\n```js\nfive\n```\n\n- six\n- seven\n\n| a |\n|---|\n| b |\n\nend';
  let before: FakeElement[] = [];
  for (const letter of text) {
    writer.write(letter);
    const after = root.descendants();
    expect(before.every((element) => after.includes(element))).toBe(true);
    before = after;
  }
});

test('characters that would leave their place are made visible', () => {
  expect(visibleText('a\u001b[31mb\u0000c\td\r\n\u009b', false)).toBe('a␛[31mb␀c\td\n\ufffd');
  expect(visibleText('\ud800x\udc00 😀', false)).toBe('\ufffdx\ufffd 😀');
  expect(visibleText('\u202eevil\u202c \u2067שלום\u2069', false)).toBe('[U+202E]evil\u202c \u2067שלום\u2069');
  expect(visibleText('\u202eevil\u202c', true)).toBe('[U+202E]evil[U+202C]');
});

test('a text has the direction of its first letter, once there is one', () => {
  for (const text of ['', '12 | 34', '**']) expect(directionOf(text)).toBe('');
  for (const text of ['Hello مرحبا', '# 日本語', `${'1 '.repeat(600)}مرحبا`]) {
    expect(directionOf(text)).toBe('ltr');
  }
  for (const text of ['مرحبا world', '**שלום**', '12. ދިވެހި', '𞤀𞤣']) expect(directionOf(text)).toBe('rtl');
});

/** Enough letters to make quadratic time take seconds. */
const FLOOD = 200_000;
const fill = (piece: string) => piece.repeat(Math.ceil(FLOOD / piece.length));
/** Texts with which a model could hold up a page. */
const FLOODS: Record<string, string> = {
  'a line without spaces': fill('x'),
  'opening brackets': fill('['),
  asterisks: fill('*'),
  backticks: fill('`'),
  tildes: fill('~'),
  underscores: fill('_'),
  dollars: fill('$'),
  'dashes and spaces': fill('- '),
  'list marks before a word': `${fill('- ')}x`,
  hashes: fill('#'),
  digits: fill('1'),
  spaces: fill(' '),
  'spaces after a line': `x\n${fill(' ')}x`,
  newlines: fill('\n'),
  'short lines': fill('a\n'),
  paragraphs: fill('a\n\n'),
  'list items': fill('- a\n'),
  rules: fill('---\n'),
  emphasis: fill('*a*b'),
  links: fill('[a](https://a.b) '),
  'a link without an end': `[a](https://${fill('a')}`,
  'an address without an end': `https://${fill('a')}`,
  'the language of a fence': `\`\`\`${fill('a')}`,
  'code in one line': `\`\`\`\n${fill('x')}`,
  'code of short lines': `\`\`\`\n${fill('x\n')}`,
  'code blocks': fill('```\na\n```\n'),
  'nested quotes': fill(`${'> '.repeat(10_000)}x\n`),
  'growing quotes': Array.from({ length: 600 }, (_, i) => `${'>'.repeat(i)} x\n`).join(''),
  'nested lists': Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}- x\n`).join(''),
  'a row of columns': fill('| a '),
  'rows of columns': fill(`${'| a '.repeat(5000)}|\n`),
  'rows of two': fill('| a | b |\n'),
  'rows of nothing': fill('|'),
  'the line under a head': `| a |\n|${fill('-')}`,
  tasks: fill('- [x] a\n'),
  'marks on one letter': `a${fill('\u0301')}`,
  'halves of characters': fill('\ud83d'),
  overrides: fill('\u202e'),
  emoji: fill('😀'),
};

/** The size of a tree, as far as it costs a browser. */
interface Size {
  nodes: number;
  depth: number;
  /** Most letters directly in one element. */
  longest: number;
}

function sizeOf(root: FakeElement): Size {
  const size = { nodes: 0, depth: 0, longest: 0 };
  const walk = (element: FakeElement, depth: number) => {
    let letters = 0;
    for (const child of element.childNodes) {
      size.nodes += 1;
      if (child instanceof FakeElement) walk(child, depth + 1);
      else letters += child.length;
    }
    size.depth = Math.max(size.depth, depth);
    size.longest = Math.max(size.longest, letters);
  };
  walk(root, 0);
  return size;
}

for (const [name, text] of Object.entries(FLOODS)) {
  test(`a flood of ${name} is written in frames, in linear time, into a bounded tree`, () => {
    const root = new FakeElement('div');
    const { budget, frame } = framesByHand();
    const writer = new MarkdownWriter(root as unknown as HTMLElement, budget);
    const started = cpuMs();
    writer.write(text);
    writer.end();
    expect(sizeOf(root).nodes).toBeLessThan(MOST_NODES);
    while (frame());
    expect(cpuMs() - started).toBeLessThan(20_000);
    const { nodes, depth, longest } = sizeOf(root);
    expect(nodes).toBeLessThan(15_000);
    expect(depth).toBeLessThan(25);
    expect(longest).toBeLessThan(65_000);
    expect(findUnsafe(root)).toEqual([]);
  });
}

test('a line too hard to parse is shown as plain text, and Markdown continues after it', () => {
  const long = `[a](https://${'b'.repeat(5000)}`;
  const root = render([`# Before\n\n${long}\n\n**after**\n`]);
  expect(root.children.map(({ tag, attributes }) => [tag, attributes.get('class')])).toEqual([
    ['h1', undefined],
    ['p', undefined],
    ['p', 'plain'],
    ['p', undefined],
  ]);
  expect(root.text().replaceAll('b', '')).toBe('Before[a](https://after');
  expect(
    root.children
      .at(-1)!
      .descendants()
      .map(({ tag }) => tag),
  ).toEqual(['strong']);
});

test('a long block goes on in runs with its emphasis, and loses no letter', () => {
  const words = Array.from({ length: 5000 }, (_, i) => `w${i}`).join(' ');
  const root = render([`**${words}**`]);
  expect(root.text()).toBe(words);
  const tags = root.descendants().map(({ tag }) => tag);
  expect(tags).toEqual(['p', 'strong', 'span', 'strong', 'span', 'strong', 'span', 'strong']);
});

test('lines of long code are not cut between runs', () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `line ${i}\n`);
  const root = render([`\`\`\`\n${lines.join('')}\`\`\`\n`]);
  const runs = root.descendants().filter(({ attributes }) => attributes.get('class') === 'run');
  expect(runs.length).toBeGreaterThan(2);
  for (const run of runs) expect(run.text()).toMatch(/^line /);
  expect(`${root.text()}\n`).toBe(lines.join(''));
});

test('one long answer does not keep another from beginning, and both end', () => {
  const { budget, frame } = framesByHand();
  const [long, short] = [new FakeElement('div'), new FakeElement('div')];
  const [first, second] = [long, short].map((root) => new MarkdownWriter(root as unknown as HTMLElement, budget));
  first!.write('x'.repeat(3 * FRAME_LETTERS));
  second!.write('short');
  first!.end();
  second!.end();
  expect([long.text().length < 2 * FRAME_LETTERS, short.text()]).toEqual([true, '']);
  while (frame());
  expect([long.text().length, short.text()]).toEqual([3 * FRAME_LETTERS, 'short']);
});

test('finish() writes all waiting text at once and reports each end', () => {
  const { budget, frame } = framesByHand();
  const ended: number[] = [];
  const [first, second] = [new FakeElement('div'), new FakeElement('div')].map((root, i) => {
    const writer = new MarkdownWriter(root as unknown as HTMLElement, budget, () => ended.push(i));
    writer.write('x'.repeat(3 * FRAME_LETTERS));
    writer.end();
    return root;
  });
  frame();
  expect([first!.text().length < 3 * FRAME_LETTERS, ended]).toEqual([true, []]);
  budget.finish();
  expect(ended).toEqual([0, 1]);
  expect([first!.text().length, second!.text().length]).toEqual([3 * FRAME_LETTERS, 3 * FRAME_LETTERS]);
  while (frame());
  expect([first!.text().length, ended]).toEqual([3 * FRAME_LETTERS, [0, 1]]);
});

test('tables and tasks have their names for screen readers in the language of the interface', async () => {
  const namesOf = () =>
    render(['| a |\n|---|\n| b |\n\n- [x] done\n'])
      .descendants()
      .map((each) => each.attributes.get('aria-label'))
      .filter(Boolean);
  expect(namesOf()).toEqual(['Table', 'Task']);
  await useLanguage('de', importTranslation);
  expect(namesOf()).toEqual(['Tabelle', 'Aufgabe']);
  await useLanguage('ja', importTranslation);
  expect(namesOf()).toEqual(['表', 'タスク']);
  await useLanguage('en', importTranslation);
});
