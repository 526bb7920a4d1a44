// <vivace-kept-prompts>: what prompts take in this browser's storage, and a button that deletes them.

import { css, html, nothing } from 'lit';
import { deleteStoredPrompts, storedPromptBytes } from '../../engine/engine';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { sizeText } from '../shared/amounts';
import { sharedStyles } from '../shared/shared_styles';

export class VivaceKeptPrompts extends WordedElement {
  static override styles = [
    sharedStyles,
    css`
      .row { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px; }
      p { flex: 1 1 240px; margin: 0; color: var(--v-muted); font-size: var(--v-size-small); }
    `,
  ];
  static override properties = { bytes: { state: true }, said: { state: true } };
  declare private bytes: number;
  /** The newest announcement for screen readers. */
  declare private said: string;

  constructor() {
    super();
    this.bytes = 0;
    this.said = '';
  }

  /** Asks the storage anew. */
  async refresh(): Promise<void> {
    this.said = '';
    this.bytes = await storedPromptBytes();
  }

  override render() {
    const { bytes, said } = this;
    const text = pageWords().kept;
    const row = html`<div class="row" data-testid="kept-prompts">
      <p id="what">${text.prompts(sizeText(bytes))}</p>
      <button class="button" data-testid="delete-prompts" aria-describedby="what" @click=${this.delete}>${text.deletePrompts}</button>
    </div>`;
    return html`${bytes > 0 ? row : nothing}<p class="unseen" role="status">${said}</p>`;
  }

  private delete = async () => {
    await deleteStoredPrompts().catch(() => {}); // the figure tells what is left
    this.bytes = await storedPromptBytes();
    if (this.bytes === 0) this.said = pageWords().kept.deletedPrompts;
    this.dispatchEvent(new CustomEvent('vivace-prompts-deleted', { bubbles: true, composed: true }));
  };
}

if (!customElements.get('vivace-kept-prompts')) customElements.define('vivace-kept-prompts', VivaceKeptPrompts);
