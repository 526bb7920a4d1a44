// The line below the chat that says what is kept and lets the visitor delete it.

import type { KeptWords } from '../../words/en/kept';

const STYLES = `
  .kept { display: flex; flex-wrap: wrap; justify-content: center; gap: 0 8px; margin: 0; padding: 0 18px 8px;
    color: var(--v-muted); font-size: var(--v-size-small); text-align: center; }
  .kept button { padding: 0; border: 0; background: none; font: inherit; color: var(--v-accent); text-decoration: underline;
    cursor: pointer; }
  @media (pointer: coarse) { .kept { align-items: center; } .kept button { min-width: 44px; min-height: 44px; } }`;

/** `gone`: another tab has deleted the conversation, and can undo that. */
export type KeptState = 'nothing' | 'kept' | 'deleted' | 'gone' | 'tooLong' | 'refused';

export class KeptLine {
  private readonly said = document.createElement('span');
  private readonly button = document.createElement('button');

  /** @param onPress the visitor deletes the conversation, or undoes that */
  constructor(
    private readonly place: HTMLElement,
    onPress: () => void,
  ) {
    const root = place.getRootNode() as ShadowRoot;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    this.said.setAttribute('role', 'status');
    this.button.type = 'button';
    // The second click of a double one would undo what the first has deleted.
    this.button.addEventListener('click', ({ detail }) => detail < 2 && onPress());
    place.className = 'kept';
    place.replaceChildren(this.said, this.button);
  }

  show(state: KeptState, days: number, text: KeptWords): void {
    const { kept, deleted, tooLong, refused } = text;
    this.place.hidden = state === 'nothing';
    this.said.textContent = { nothing: '', kept: kept(days), deleted, gone: deleted, tooLong, refused }[state];
    this.button.textContent = state === 'deleted' ? text.undo : text.delete;
    this.button.hidden = state === 'refused' || state === 'gone';
  }
}
