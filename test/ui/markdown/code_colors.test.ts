// Colors of code: whole lines while they stream, no letter changed, bounded in time and size, readable in both themes.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import * as modes from '../../../src/ui/markdown/code_modes';
import { MarkdownWriter } from '../../../src/ui/markdown/markdown';
import { provideParts, withPart } from '../../../src/ui/markdown/parts';
import { cpuMs } from '../../cpu_time';
import { FakeElement, fakeDocument } from './fake_dom';
import { findUnsafe, framesByHand, render } from './rendered';

beforeAll(async () => {
  provideParts({ code: async () => modes });
  await new Promise((resolve) => withPart('code', resolve));
});
beforeEach(() => {
  vi.stubGlobal('document', fakeDocument);
  vi.stubGlobal('console', { ...console, assert: () => {} });
});
afterEach(() => void vi.unstubAllGlobals());

const coloredIn = (root: FakeElement) =>
  root
    .descendants()
    .filter(({ attributes }) => /^code-(?!block|bar|copy)/.test(attributes.get('class') ?? ''))
    .map((element) => [element.attributes.get('class')?.slice('code-'.length), element.text()]);

const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`;

test('words of a language have their colors, of an unknown language none', () => {
  expect(coloredIn(render([fence('python', 'def cat(n):\n    return "a" * 3  # purr')]))).toEqual([
    ['keyword', 'def'],
    ['name', 'cat'],
    ['keyword', 'return'],
    ['string', '"a"'],
    ['number', '3'],
    ['comment', '# purr'],
  ]);
  expect(coloredIn(render([fence('cobolt', 'def cat')]))).toEqual([]);
  expect(coloredIn(render([fence('', 'def cat')]))).toEqual([]);
});

const SAMPLES: Record<string, string> = {
  js: 'const a = "x";',
  ts: 'type A = string;',
  json: '{"a": 1}',
  bash: 'for f in *; do echo "$f"; done',
  c: 'int main(void) { return 0; }',
  cpp: 'class A { int b = 1; };',
  csharp: 'public class A { }',
  java: 'public static void main',
  kotlin: 'fun main() { val a = 1 }',
  scala: 'def a = 1',
  dart: 'void main() { var a = 1; }',
  objc: 'return 1;',
  css: 'a { color: red; }',
  html: '<p class="a">b</p>',
  xml: '<a b="c"/>',
  sql: 'SELECT a FROM b',
  rust: 'fn main() { let a = 1; }',
  go: 'func main() { return 1 }',
  ruby: 'def a; 1; end',
  swift: 'let a = 1',
  yaml: 'a: 1 # b',
  toml: 'a = "b"',
  diff: '+ a\n- b',
  dockerfile: 'FROM a',
  haskell: 'let a = 1',
  lua: 'local a = 1',
  powershell: 'function A { return 1 }',
  r: 'f <- function(x) 1',
};

for (const [language, code] of Object.entries(SAMPLES)) {
  test(`${language} has colors`, () => expect(coloredIn(render([fence(language, code)]))).not.toEqual([]));
}

test('a line has its colors as soon as it is whole, and keeps them', () => {
  const root = new FakeElement('div');
  const { budget, frame } = framesByHand();
  const writer = new MarkdownWriter(root as unknown as HTMLElement, budget);
  const write = (text: string) => {
    writer.write(text);
    while (frame());
    return coloredIn(root);
  };
  expect(write('```js\nlet a = 1')).toEqual([]);
  const first = [
    ['keyword', 'let'],
    ['name', 'a'],
    ['number', '1'],
  ];
  expect(write('\nl')).toEqual(first);
  const [let1] = root.descendants().filter(({ tag }) => tag === 'span');
  expect(write('et b')).toEqual(first);
  writer.end();
  while (frame());
  expect(coloredIn(root)).toEqual([...first, ['keyword', 'let'], ['name', 'b']]);
  expect(root.descendants().filter(({ tag }) => tag === 'span')[0]).toBe(let1);
});

test('comments and strings go on over lines and pieces', () => {
  expect(coloredIn(render([...fence('js', '/* a\n let b\n*/ let c')]))).toEqual([
    ['comment', '/* a'],
    ['comment', ' let b'],
    ['comment', '*/'],
    ['keyword', 'let'],
    ['name', 'c'],
  ]);
});

const LANGUAGES = Object.keys(SAMPLES);
const soup = fc.array(
  fc.oneof(
    fc.constantFrom(...LANGUAGES.map((language) => SAMPLES[language]!)),
    fc.string(),
    fc.constantFrom('\n', '"', "'", '`', '/*', '<!--', '((', '${', '<<EOF\n', '\\'),
  ),
  { maxLength: 12 },
);

test('colors change no letter and make nothing but colored text, for any code in any language', () => {
  fc.assert(
    fc.property(soup, fc.constantFrom(...LANGUAGES), fc.integer({ min: 1, max: 7 }), (pieces, language, step) => {
      const text = fence(language, pieces.join('').replaceAll('```', ''));
      const chunks: string[] = [];
      for (let i = 0; i < text.length; i += step) chunks.push(text.slice(i, i + step));
      const root = render(chunks);
      expect(findUnsafe(root)).toEqual([]);
      expect(root.text()).toBe(render([text.replace(language, 'unknown')]).text());
    }),
    { numRuns: 300 },
  );
});

test('of 200 KB of code the first part has colors, and nothing takes long', () => {
  const code = 'let a = 1;\n'.repeat(20_000);
  const started = cpuMs();
  const root = render([fence('js', code)]);
  expect(root.text().trimEnd()).toBe(code.trimEnd());
  expect(coloredIn(root)).toHaveLength(12_000);
  expect(cpuMs() - started).toBeLessThan(20_000);
});

test('a line of 200 KB stays plain', () => {
  expect(coloredIn(render([fence('js', `let a = ${'1+'.repeat(100_000)}`)]))).toEqual([]);
});

for (const [what, line] of Object.entries({
  parentheses: '('.repeat(1000),
  brackets: '[{<'.repeat(300),
  quotes: '"a" '.repeat(250),
  gaps: `${' '.repeat(32)}x`.repeat(30),
  backslashes: '\\'.repeat(1000),
  stars: '/*'.repeat(500),
})) {
  test(`lines of ${what} are read in little time in every language`, () => {
    const started = cpuMs();
    for (const language of LANGUAGES) {
      const color = modes.startColoring(language)!;
      for (let i = 0; i < 3; i++)
        expect(
          color(line)
            .map(({ text }) => text)
            .join(''),
        ).toBe(line);
    }
    expect(cpuMs() - started).toBeLessThan(10_000);
  });
}

test('a wide gap, which takes some patterns seconds, ends the colors of its block', () => {
  const code = `a: 1\n${' '.repeat(900)}x\nb: 2`;
  expect(coloredIn(render([fence('yaml', code)])).map(([, text]) => text?.trim())).toEqual(['a', ':', '1']);
});

test('long code keeps its runs, and the colored lines go on in them', () => {
  const lines = Array.from({ length: 1500 }, (_, i) => `let v${i};\n`).join('');
  const root = render([fence('js', lines.slice(0, -1))]);
  const runs = root.descendants().filter(({ attributes }) => attributes.get('class') === 'run');
  expect(runs.length).toBeGreaterThan(2);
  expect(root.text()).toBe(lines.slice(0, -1));
  expect(coloredIn(root).filter(([color]) => color === 'keyword')).toHaveLength(1500);
});

/** The relative luminance of a color, #rrggbb. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test('each color can be read on the ground of code, in both themes', () => {
  const file = (name: string) => readFileSync(path.resolve(import.meta.dirname, '../../../src/ui', name), 'utf8');
  const pairs = (css: string, what: RegExp) =>
    [...css.matchAll(what)].map(([, light = '', dark = '']) => [light, dark]);
  const [ground] = pairs(file('shared/theme.css'), /--v-sunken: light-dark\((#\w{6}), (#\w{6})\)/g);
  const colors = pairs(file('markdown/code_color_styles.ts'), /color: light-dark\((#\w{6}), (#\w{6})\)/g);
  expect(colors).toHaveLength(8);
  for (const color of colors) {
    for (const theme of [0, 1]) {
      const [low = 0, high = 0] = [luminance(color[theme]!), luminance(ground![theme]!)].sort((a, b) => a - b);
      expect((high + 0.05) / (low + 0.05), color[theme]).toBeGreaterThan(4.5);
    }
  }
});
