// <vivace-delete-model>: deletes a downloaded model after a question in its place. Fires `vivace-deleted`, bubbling,
// with the model's name and the error that kept it there, if one did.

import { css, html, nothing } from 'lit';
import { type CachedModel, deleteCachedModel } from '../../engine/engine';
import { formatSize } from '../../shared/format';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { sharedStyles } from '../shared/shared_styles';

/** Detail of `vivace-deleted`. `failure` is the error's own sentence, or null if the model is gone. */
export interface Deleted {
  readonly name: string;
  readonly failure: string | null;
}

class VivaceDeleteModel extends WordedElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: inline-flex; }
      .row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
      .danger { border-color: transparent; background: var(--v-danger); color: var(--v-surface); }
    `,
  ];
  static override properties = { model: { attribute: false }, name: {}, asking: { state: true } };
  declare model: CachedModel | null;
  /** The model's name for people. */
  declare name: string;
  declare private asking: boolean;

  constructor() {
    super();
    this.model = null;
    this.name = '';
    this.asking = false;
  }

  override render() {
    const { model, name } = this;
    if (!model) return nothing;
    const text = pageWords().catalogue;
    if (!this.asking)
      return html`<button class="button" data-testid="delete" aria-label=${text.deleteOf(name)} @click=${() => this.ask(true)}>${text.delete}</button>`;
    return html`<div class="row" role="group" aria-label=${text.deleteOf(name)}>
      <span>${text.deleteAsk(formatSize(model.bytes, language()))}</span>
      <button class="button danger" data-testid="confirm-delete" @click=${() => this.delete(model)}>${text.delete}</button>
      <button class="button" data-testid="keep" @click=${() => this.ask(false)}>${text.keep}</button>
    </div>`;
  }

  /** Asks, or withdraws the question. The focus stays here. */
  private async ask(asking: boolean): Promise<void> {
    this.asking = asking;
    await this.updateComplete;
    this.renderRoot.querySelector('button')?.focus();
  }

  private async delete({ location }: CachedModel): Promise<void> {
    this.asking = false;
    let failure: string | null = null;
    try {
      await deleteCachedModel(location);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    const detail: Deleted = { name: this.name, failure };
    this.dispatchEvent(new CustomEvent('vivace-deleted', { detail, bubbles: true, composed: true }));
  }
}

if (!customElements.get('vivace-delete-model')) customElements.define('vivace-delete-model', VivaceDeleteModel);
