// Math, footnotes and the alignment of tables: what is one and what only looks like one, however the text is cut, and
// bounds for hostile formulas.

import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import * as math from '../../../src/ui/markdown/math_tex';
import { provideParts, withPart } from '../../../src/ui/markdown/parts';
import { cpuMs } from '../../cpu_time';
import { type FakeElement, fakeDocument } from './fake_dom';
import { findUnsafe, render } from './rendered';

beforeAll(async () => {
  provideParts({ math: async () => math });
  await new Promise((resolve) => withPart('math', resolve));
});
beforeEach(() => {
  vi.stubGlobal('document', fakeDocument);
  vi.stubGlobal('console', { ...console, assert: () => {} });
});
afterEach(() => void vi.unstubAllGlobals());

const classOf = (element: FakeElement) => element.attributes.get('class') ?? '';
const formulas = (root: FakeElement) => root.descendants().filter((element) => /^math( |$)/.test(classOf(element)));
/** The sources of the formulas, and the text with an `x` for each. */
function read(text: string): [sources: string[], rest: string] {
  const roots = [render([text]), render([...text])];
  const [whole, letters] = roots.map((root): [string[], string] => {
    const found = formulas(root);
    const sources = found.map((box) => box.childNodes[0] as FakeElement).map((source) => source.text());
    for (const box of found) box.childNodes.splice(0, 9, ...box.childNodes.slice(0, 0));
    return [sources, root.text()];
  });
  expect(letters).toEqual(whole);
  return whole!;
}

for (const [text, sources, rest] of [
  ['so $x^2$ is', ['$x^2$'], 'so  is'],
  ['$x$', ['$x$'], ''],
  ['**$x$** and [$y$](https://a.b)', ['$x$', '$y$'], ' and '],
  ['$2x+1$.', ['$2x+1$'], '.'],
  ['\\(a\\) b \\[E = mc^2\\]', ['\\(a\\)', '\\[E = mc^2\\]'], ' b '],
  ['$$\na\n=b\n$$\nend', ['$$\na\n=b\n$$'], 'end'],
  ['- a\n  $$b$$', ['$$b$$'], 'a'],
  ['$|a|$', ['$|a|$'], ''],
  ['$5 and $6', [], '$5 and $6'],
  ['$5/$6', [], '$5/$6'],
  ['from $5, or US$ 7', [], 'from $5, or US$ 7'],
  ['it is $5 but $x$', ['$x$'], 'it is $5 but '],
  ['$HOME is set\nand more', [], '$HOME is setand more'],
  ['a \\$x\\$ b', [], 'a $x$ b'],
  ['`$x$`', [], '$x$'],
  ['```sh\n$a$\n$b$\n```', [], '$a$\n$b$'],
  ['    $a$\n    $b$', [], '$a$\n$b$'],
  ['[a](https://b.c/$d$)', [], 'a'],
  ['$$$$', [], '$$$$'],
  ['$ x $', [], '$ x $'],
  ['\\(a', [], '\\(a'],
  ['\\[a\n\nb', [], '\\[ab'],
] as const) {
  test(`math in ${JSON.stringify(text)}`, () => expect(read(text)).toEqual([sources, rest]));
}

test('a formula is MathML, and its source is what is copied', () => {
  const [box] = formulas(render(['$\\frac{1}{2}$']));
  const [source, set] = box!.children;
  expect([source!.text(), source!.attributes.get('aria-hidden')]).toEqual(['$\\frac{1}{2}$', 'true']);
  expect(set!.descendants().map(({ tag }) => tag)).toEqual(['mfrac', 'mn', 'mn']);
});

/** Six commands within one another. */
function within(open: string): string {
  const close = [...open.replace(/{x}|\[x]/, '')].map((letter) => ({ '{': '}', '[': ']', $: '$' })[letter] ?? '');
  return `${open.repeat(6)}x${close.reverse().join('').repeat(6)}`;
}

for (const tex of [
  '\\frac{1}{',
  '\\nonsense',
  '\\def\\a{\\a\\a}\\a',
  '\\newcommand\\a{b}\\a',
  '\\let\\a=b',
  '{'.repeat(1900) + '}'.repeat(1900),
  '\\left('.repeat(300),
  '\\begin{matrix}'.repeat(200),
  `x${'^{x'.repeat(500)}`,
  '\\href{javascript:alert(1)}{x}',
  '\\includegraphics{https://a.b/c.png}',
  '\\url{https://a.b}',
  'a'.repeat(5000),
  ...[
    '\\equilibriumRight{',
    '\\equilibriumLeft[x]{',
    '\\cancelto{x}{',
    '\\cancelto{x}\\sqrt{',
    '\\mathllap{',
    '\\llap{\\rlap{',
    '\\ce{A <=>>[\\ce{',
    '\\ce{^{$',
  ].map(within),
]) {
  test(`the source is shown of ${tex.slice(0, 40)}`, () => {
    expect(math.readMath(tex, true)).toBeNull();
    const [box] = formulas(render([`$$${tex}$$`]));
    if (box) expect(box.children.map((child) => [child.tag, child.attributes.size])).toEqual([['code', 0]]);
  });
}

test('commands beside one another are set, however many', () => {
  for (const tex of ['\\ce{A <=>> B <<=> C ->[\\Delta] ^{2}_{1}D}', '\\cancelto{0}{x^{2}}', '\\mathllap{x}'])
    expect(math.readMath(`${tex} `.repeat(8), true), tex).not.toBeNull();
});

test('sizes and styles are bounded, and nothing can name an element or fetch', () => {
  const texts = [
    '\\rule{99999em}{99999em}',
    '\\rule{999999pt}{1pt}',
    '\\hspace{99999cm}x',
    '\\color{url(https://a.b)}x',
    '\\textcolor{red}{x}',
    '\\htmlId{a}{x}',
    '\\class{a}{x}',
    '\\label{a}x\\tag{1}',
    '\\colorbox{red}{x}',
    '\\raisebox{9999em}{x}',
  ];
  for (const tex of texts) {
    const root = render([`$$${tex}$$`]);
    expect(findUnsafe(root), tex).toEqual([]);
    for (const element of root.descendants()) {
      const given = [...element.attributes.values(), ...Object.values(element.style)].join(' ');
      const values = given.replace(/#[\da-f]{6}/g, 'a color');
      expect(values, tex).not.toMatch(/(?<![.\d#])\d{4}|[:(]/);
    }
  }
});

for (const [what, text] of Object.entries({
  dollars: '$'.repeat(1_000_000),
  'dollars and letters': '$a '.repeat(100_000),
  'open brackets': '\\['.repeat(200_000),
  'open parentheses': '\\(x'.repeat(100_000),
  'footnotes without an end': '[^a'.repeat(100_000),
  formulas: '$x$ '.repeat(20_000),
  footnotes: '[^1] '.repeat(20_000),
  'formulas of many signs': `$$${'x+'.repeat(1900)}x$$\n\n`.repeat(50),
})) {
  test(`a flood of ${what} takes little time and room`, () => {
    const started = cpuMs();
    const root = render([text]);
    expect(cpuMs() - started).toBeLessThan(30_000);
    expect(root.descendants().length).toBeLessThan(60_000);
    expect(findUnsafe(root)).toEqual([]);
  });
}

test('marks after a dollar that is money are read', () => {
  const root = render(['It is $6, said Euler[^1], or \\(x\\).\n']);
  expect(formulas(root)).toHaveLength(1);
  expect(root.text()).toMatch(/^It is \$6, said Euler1, or /);
});

test('a footnote and its reference lead to one another', () => {
  const root = render(['Cats purr[^1], dogs bark[^b-2].\n\n[^1]: Often.\n\n[^b-2]: Loudly. See [^1].\n\n[^a b] [^]']);
  const buttons = root.descendants().filter(({ tag }) => tag === 'button');
  expect(buttons.map((button) => [classOf(button), button.text(), button.attributes.get('aria-label')])).toEqual([
    ['note', '1', 'Footnote 1'],
    ['note', 'b-2', 'Footnote b-2'],
    ['note-back', '1. \u21a9\ufe0e', 'Back to the text'],
    ['note-back', 'b-2. \u21a9\ufe0e', 'Back to the text'],
    ['note', '1', 'Footnote 1'],
  ]);
  const went: string[] = [];
  for (const button of buttons)
    Object.assign(button, { focus: () => went.push(classOf(button)), scrollIntoView: () => {} });
  for (const button of buttons) button.listeners.get('click')!();
  expect(went).toEqual(['note-back', 'note-back', 'note', 'note', 'note-back']);
  expect(root.text()).toContain('[^a b] [^]');
});

test('the columns of a table stand as its second line says', () => {
  const root = render(['| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |\n']);
  const cells = root.descendants().filter(({ tag }) => tag === 'th' || tag === 'td');
  const row = ['align-left', 'align-center', 'align-right', ''];
  expect(cells.map(classOf)).toEqual([...row, ...row]);
});
