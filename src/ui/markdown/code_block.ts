// A block of code with a bar above: the language, and a button that copies the code as the model wrote it. The bar
// contains no text nodes (code_block_styles.ts paints its words), so a selection never includes them.

import { words } from '../../words/words';
import { CodeColors, type ColorRoom } from './code_colors';

/** Milliseconds for which the button shows that it has copied. */
const COPIED_MS = 1600;

export interface CodeBlock {
  block: HTMLElement;
  /** The element that takes the text. */
  code: HTMLElement;
  /** The text that the button copies. */
  source: { text: string };
  /** The colors of the code, once its language is known. */
  colors: CodeColors | null;
  setLanguage(language: string): void;
}

function element(name: string, attributes: Record<string, string>): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

/** @param onColors is called when the colors of a block have work to do */
export function createCodeBlock(room: ColorRoom, onColors: (colors: CodeColors) => void): CodeBlock {
  const text = words().turn;
  const source = { text: '' };
  const block = element('div', { class: 'code-block', role: 'group', 'aria-label': text.code });
  const bar = element('div', { class: 'code-bar' });
  const button = element('button', {
    class: 'code-copy',
    type: 'button',
    'aria-label': text.copyCode,
    'data-label': text.copyQuestion,
    'data-done': text.copied,
  });
  const pre = element('pre', { tabindex: '0' }); // long lines scroll, also by keyboard
  const code = element('code', {});
  button.addEventListener('click', () => void copy(source.text, code, button));
  bar.appendChild(button);
  block.appendChild(bar);
  pre.appendChild(code);
  block.appendChild(pre);
  return {
    block,
    code,
    source,
    colors: null,
    setLanguage(language) {
      this.colors = new CodeColors(code, language, room, onColors);
      code.setAttribute('data-language', language);
      bar.setAttribute('data-language', language);
      block.setAttribute('aria-label', words().turn.codeIn(language));
    },
  };
}

async function copy(text: string, code: HTMLElement, button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection()?.selectAllChildren(code); // the page may not copy; the reader can
    return;
  }
  button.setAttribute('data-copied', '');
  button.setAttribute('aria-label', words().turn.copied);
  setTimeout(() => {
    button.removeAttribute('data-copied');
    button.setAttribute('aria-label', words().turn.copyCode);
  }, COPIED_MS);
}
