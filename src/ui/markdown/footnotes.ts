// Footnotes of one answer: a reference leads to its footnote, and the footnote back. They find each other as nodes, so
// that no name in the page can clash.

import { words } from '../../words/words';

type Buttons = Map<string, HTMLElement>;

export class Footnotes {
  private readonly references: Buttons = new Map();
  private readonly footnotes: Buttons = new Map();

  createReference(label: string): HTMLElement {
    const button = createButton('note', label, words().text.footnote(label));
    return connect(button, label, this.references, this.footnotes);
  }

  createFootnote(label: string): HTMLElement {
    const button = createButton('note-back', `${label}. \u21a9\ufe0e`, words().text.backToText);
    return connect(button, label, this.footnotes, this.references);
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

/** Makes a button of `from` lead to that of the same label in `to`. Others lead to the first of a label. */
function connect(button: HTMLElement, label: string, from: Buttons, to: Buttons): HTMLElement {
  if (!from.has(label)) from.set(label, button);
  button.addEventListener('click', () => {
    const target = to.get(label);
    target?.focus();
    target?.scrollIntoView({ block: 'nearest' });
  });
  return button;
}
