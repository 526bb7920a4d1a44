import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MarkdownWriter, safeHref } from '../../src/ui/markdown';
import { FakeElement, fakeDocument } from './fake_dom';

const ELEMENTS = new Set(
  'p br hr h1 h2 h3 h4 h5 h6 em strong s code a span ul ol li input pre table thead tbody tr th td blockquote'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(['class', 'href', 'title', 'rel', 'target', 'data-language', 'start', 'checked']);

beforeEach(() => {
  vi.stubGlobal('document', fakeDocument);
  // The parser notes nonsense in its input there, and goes on.
  vi.spyOn(console, 'assert').mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function render(chunks: readonly string[]): FakeElement {
  const root = new FakeElement('div');
  const writer = new MarkdownWriter(root as unknown as HTMLElement);
  for (const chunk of chunks) writer.write(chunk);
  writer.end();
  return root;
}

function findUnsafe(root: FakeElement): string[] {
  const unsafe: string[] = [];
  for (const element of root.descendants()) {
    if (!ELEMENTS.has(element.tag)) unsafe.push(`<${element.tag}>`);
    for (const [name, value] of element.attributes) {
      if (!ATTRIBUTES.has(name)) unsafe.push(`${element.tag}[${name}]`);
      if (name === 'class' && value !== 'image' && value !== 'math') unsafe.push(`class=${value}`);
      if (name === 'href' && !/^(https?:|mailto:|#)/i.test(value)) unsafe.push(`href=${value}`);
      if (name === 'href' && element.attributes.get('rel') !== 'noopener noreferrer nofollow') unsafe.push('no rel');
    }
  }
  return unsafe;
}

const HOSTILE = [
  '[a](javascript:alert(1))',
  '[a](JaVaScRiPt:alert(1))',
  '[a](java\tscript:alert(1))',
  '[a](\u0001javascript:alert(1))',
  '[a](\u200bjavascript:alert(1))',
  '[a](data:text/html,<script>alert(1)</script>)',
  '[a](vbscript:x)',
  '[a](blob:https://example.com/1)',
  '[a](//example.com/x)',
  '![a](https://example.com/spy.png?q=secret)',
  '![a](javascript:alert(1))',
  '[![a](https://example.com/x.png)](javascript:alert(1))',
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<a href="javascript:alert(1)">x</a>',
  '<style>body{display:none}</style>',
  '```js onload=alert(1) class="x"\ncode\n```',
  '```"><script>\ncode\n```',
  '$$<img src=x onerror=alert(1)>$$',
  '| a | <b onclick=x> |\n|---|---|\n| ![x](http://e.com/a) | [y](javascript:1) |\n',
  '999999999999999999. a\n',
];

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
  const piece = fc.oneof(
    fc.constantFrom(
      ...HOSTILE,
      '[',
      '](',
      ')',
      '![',
      '`',
      '```',
      '\n',
      '\n\n',
      '> ',
      '- [x] ',
      '1. ',
      '|',
      '---',
      '**',
      '_',
      '$',
    ),
    fc.string({ maxLength: 8 }),
    fc.constantFrom('https://a.b/c', 'javascript:', 'data:', '\t', '\u0000', '\\'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), fc.integer({ min: 1, max: 5 }), (pieces, step) => {
      const text = pieces.join('');
      const chunks: string[] = [];
      for (let i = 0; i < text.length; i += step) chunks.push(text.slice(i, i + step));
      expect(findUnsafe(render(chunks))).toEqual([]);
    }),
    { numRuns: 2000 },
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

test('an image becomes its description', () => {
  const root = render(['see ![a grey cat](https://example.com/cat.png)']);
  expect(root.text()).toBe('see a grey cat');
});

test('safeHref judges what a browser would open', () => {
  expect(safeHref('https://example.com')).toBe('https://example.com');
  expect(safeHref('HTTP://example.com')).toBe('HTTP://example.com');
  expect(safeHref('mailto:a@example.com')).toBe('mailto:a@example.com');
  expect(safeHref('#part')).toBe('#part');
  expect(safeHref(' ht\ntps://example.com')).toBe('https://example.com');
  for (const bad of ['javascript:x', 'java\nscript:x', '/local', 'page.html', '', 'file:///x', '\u0000javascript:x']) {
    expect(safeHref(bad)).toBeNull();
  }
});
