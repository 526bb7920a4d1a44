// Footnotes of one answer: a reference leads to its footnote, and the footnote back. They find each other as nodes, so
// that no name in the page can clash.

import { words } from '../../words/words';

export class Footnotes {
  private readonly references = new Map<string, HTMLElement>();
  private readonly footnotes = new Map<string, HTMLElement>();

  createReference(label: string): HTMLElement {
    const button = createButton('note', label, words().text.footnote(label));
    if (!this.references.has(label)) this.references.set(label, button);
    button.addEventListener('click', () => go(this.footnotes.get(label)));
    return button;
  }

  createFootnote(label: string): HTMLElement {
    const button = createButton('note-back', `${label}. \u21a9\ufe0e`, words().text.backToText);
    if (!this.footnotes.has(label)) this.footnotes.set(label, button);
    button.addEventListener('click', () => go(this.references.get(label)));
    return button;
  }
}

function createButton(name: string, text: string, label: string): HTMLElement {
  const button = document.createElement('button');
  button.setAttribute('class', name);
  button.setAttribute('type', 'button');
  button.setAttribute('aria-label', label);
  button.appendChild(document.createTextNode(text));
  return button;
}

function go(target: HTMLElement | undefined): void {
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}
