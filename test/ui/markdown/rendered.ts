// Markdown rendered into a fake document, and the search for nodes that a model's text may never make.

import fc from 'fast-check';
import { FrameBudget } from '../../../src/ui/markdown/frame_budget';
import { MarkdownWriter } from '../../../src/ui/markdown/markdown';
import { FakeElement } from './fake_dom';

const ELEMENTS = new Set(
  'p br hr h1 h2 h3 h4 h5 h6 em strong s code a span ul ol li input pre table thead tbody tr th td blockquote div button math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mpadded mphantom mstyle menclose'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(
  'class href title rel target data-language data-label data-done start checked tabindex role aria-label aria-hidden type display displaystyle scriptlevel mathvariant stretchy symmetric largeop movablelimits accent accentunder fence separator form lspace rspace minsize maxsize width height depth voffset linethickness columnalign rowspacing columnspacing columnspan rowspan notation'.split(
    ' ',
  ),
);
const CLASSES = new Set([
  'image',
  'math',
  'math math-display',
  'math-source',
  'note',
  'note-back',
  'align-left',
  'align-center',
  'align-right',
  'run',
  'plain',
  'table-box',
  'code-block',
  'code-bar',
  'code-copy',
]);
const COLORS = /^code-(?:keyword|string|comment|number|name|property|inserted|deleted)$/;

/** Frames under the test's control, each short. */
export function framesByHand(): { budget: FrameBudget; frame(): boolean } {
  const frames: (() => void)[] = [];
  const budget = new FrameBudget({ now: () => 0, nextFrame: (callback) => frames.push(callback) });
  const frame = () => {
    const callback = frames.shift();
    callback?.();
    return callback !== undefined;
  };
  return { budget, frame };
}

/** Renders the pieces of a text. Needs `fakeDocument` as the global document. */
export function render(chunks: readonly string[]): FakeElement {
  const root = new FakeElement('div');
  const { budget, frame } = framesByHand();
  const writer = new MarkdownWriter(root as unknown as HTMLElement, budget);
  for (const chunk of chunks) writer.write(chunk);
  writer.end();
  while (frame());
  return root;
}

/** Elements, attributes and addresses that are not on the list of harmless ones. */
export function findUnsafe(root: FakeElement): string[] {
  const unsafe: string[] = [];
  for (const element of root.descendants()) {
    if (!ELEMENTS.has(element.tag)) unsafe.push(`<${element.tag}>`);
    for (const [name, value] of element.attributes) {
      if (!ATTRIBUTES.has(name)) unsafe.push(`${element.tag}[${name}]`);
      if (name === 'class' && !CLASSES.has(value) && !/^(?:tml-[a-z-]+ ?)+$/.test(value) && !COLORS.test(value))
        unsafe.push(`class=${value}`);
      if (name === 'href' && !/^(https?:|mailto:|#)/i.test(value)) unsafe.push(`href=${value}`);
      if (name === 'href' && element.attributes.get('rel') !== 'noopener noreferrer nofollow') unsafe.push('no rel');
    }
  }
  return unsafe;
}

/** Texts that try to run or to request something. */
export const HOSTILE = [
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

/** Pieces of Markdown, hostile ones among them. */
export const piece = fc.oneof(
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
    '$$',
    '\\(',
    '\\)',
    '\\[',
    '\\]',
    '[^1]',
    '[^1]: ',
    '\\frac{1}{2}',
    '|:-:|--:|\n',
    '\ufdd0',
  ),
  fc.string({ maxLength: 8 }),
  fc.constantFrom('https://a.b/c', 'javascript:', 'data:', '\t', '\u0000', '\\'),
);
