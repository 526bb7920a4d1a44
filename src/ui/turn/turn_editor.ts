// <vivace-turn-editor>: the field in which the reader edits a question, in the question's place. Enter sends,
// Shift+Enter breaks the line, Escape cancels. Fires `vivace-save` with the text and the
// files that are left, and `vivace-cancel`.

import { css, html, nothing } from 'lit';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import type { Attachment } from '../conversation/attachments';
import { fitHeight, prepareField } from '../shared/field_height';
import { isComposing } from '../shared/input_method';
import { sharedStyles } from '../shared/shared_styles';

export interface EditedQuestion {
  text: string;
  files: readonly Attachment[];
}

class VivaceTurnEditor extends WordedElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; width: 100%; margin-bottom: 14px; }
      textarea {
        display: block; width: 100%; max-height: 50vh; padding: 10px 14px; border: 1px solid var(--v-accent); border-radius: 14px; resize: none;
        background: var(--v-surface); color: var(--v-ink); font: 400 var(--v-size-reading) / 1.5 var(--v-font); overflow-y: auto; overscroll-behavior: contain;
      }
      textarea:focus-visible { outline: none; box-shadow: 0 0 0 1px var(--v-accent); }
      @media (forced-colors: active) { textarea:focus-visible { outline: 2px solid Highlight; } }
      [aria-disabled='true'] { opacity: 0.45; cursor: default; }
      vivace-files { margin-bottom: 8px; }
      .row { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 8px; margin-top: 8px; }
    `,
  ];
  static override properties = { text: { attribute: false }, files: { attribute: false }, blocked: {} };
  declare text: string;
  /** The files of the question. They can be removed. */
  declare files: readonly Attachment[];
  /** The reason why nothing can be sent now, or ''. */
  declare blocked: string;

  constructor() {
    super();
    this.text = '';
    this.files = [];
    this.blocked = '';
  }

  override render() {
    const text = words().editor;
    const { files } = this;
    return html`
      ${files.length > 0 ? html`<vivace-files removable .files=${files} @vivace-remove=${this.onRemove}></vivace-files>` : nothing}
      <textarea data-testid="edit-text" rows="1" aria-label=${text.label} enterkeyhint="send"
        .value=${this.text} @beforeinput=${prepareField} @input=${() => fitHeight(this.area)} @keydown=${this.onKey}></textarea>
      <div class="row">
        <button class="button" data-testid="edit-cancel" title=${text.cancelTitle} @click=${() => this.fire('vivace-cancel')}>${text.cancel}</button>
        <button class="button primary" data-testid="edit-save" title=${this.blocked || text.sendTitle}
          aria-disabled=${this.blocked !== ''} @click=${this.save}>${text.send}</button>
      </div>`;
  }

  protected override firstUpdated(): void {
    fitHeight(this.area);
    this.area.focus();
    this.area.setSelectionRange(this.text.length, this.text.length);
  }

  private get area(): HTMLTextAreaElement {
    return this.renderRoot.querySelector('textarea')!;
  }

  private onKey = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === 'Escape') {
      event.stopPropagation(); // Escape must not stop or close anything else
      event.preventDefault();
      this.fire('vivace-cancel');
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      this.save();
    }
  };

  private onRemove = (event: CustomEvent<number>) => {
    this.files = this.files.toSpliced(event.detail, 1);
  };

  private save = () => {
    const text = this.area.value.trim();
    if (this.blocked === '' && text !== '') this.fire('vivace-save', { text, files: this.files });
  };

  private fire(name: string, detail?: EditedQuestion): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

if (!customElements.get('vivace-turn-editor')) customElements.define('vivace-turn-editor', VivaceTurnEditor);
