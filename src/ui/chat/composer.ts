// <vivace-composer>: the field for messages. Enter sends, Shift+Enter breaks the line, the button sends or stops.
// Fires `vivace-send` with the text, `vivace-stop`, `vivace-recall` at ArrowUp in an empty
// field, and `vivace-wait` at Enter while nothing can be sent.

import { css, html, type PropertyValues } from 'lit';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import { fitHeight, prepareField } from '../shared/field_height';
import { icons } from '../shared/icons';
import { isComposing } from '../shared/input_method';
import { sharedStyles } from '../shared/shared_styles';

export class VivaceComposer extends WordedElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; }
      .box {
        border: 1px solid var(--v-line); border-radius: 18px; background: var(--v-surface);
        box-shadow: 0 6px 24px -12px var(--v-shadow); padding: 12px 10px 8px 16px; cursor: text;
      }
      .box:has(textarea:focus-visible) { border-color: var(--v-accent); box-shadow: 0 0 0 1px var(--v-accent), 0 6px 24px -12px var(--v-shadow); }
      textarea:focus-visible { outline: none; }
      textarea {
        display: block; width: 100%; max-height: min(40vh, 260px); padding: 0; border: 0; outline: none; resize: none; background: none;
        color: var(--v-ink); font: 400 var(--v-size-reading) / 1.5 var(--v-font); overflow-y: auto;
      }
      textarea::placeholder { color: var(--v-muted); opacity: 1; }
      .row { display: flex; align-items: center; gap: 2px; margin-top: 6px; margin-inline-start: -8px; }
      .tools { display: flex; align-items: center; gap: 2px; flex: 1; min-width: 0; }
      .round {
        flex: none; display: grid; place-items: center; width: 36px; height: 36px; border: 0; border-radius: 50%; padding: 0;
        background: var(--v-accent); color: var(--v-accent-ink); cursor: pointer;
      }
      .round:disabled { background: var(--v-sunken); color: var(--v-muted); opacity: 1; }
      .round.stop { background: var(--v-ink); color: var(--v-bg); }
      @media (pointer: coarse) {
        .round { width: 44px; height: 44px; }
      }
      @media (forced-colors: active) {
        .box:has(textarea:focus-visible) { outline: 2px solid Highlight; outline-offset: 2px; }
        .round { border: 1px solid; }
      }
      /* In a low window, such as one at 400 % zoom, all is one line. */
      @media (max-height: 400px) {
        .box { display: flex; align-items: center; gap: 4px; padding: 4px 6px 4px 12px; }
        textarea { flex: 1; min-width: 0; max-height: 72px; }
        .row { flex: none; margin: 0; }
      }
    `,
  ];
  static override properties = {
    value: { state: true },
    streaming: { type: Boolean },
    blocked: {},
    placeholder: {},
  };
  declare value: string;
  declare streaming: boolean;
  /** The reason why nothing can be sent, or ''. The reader can write already. */
  declare blocked: string;
  declare placeholder: string;
  private losesFocus = false;

  constructor() {
    super();
    this.value = '';
    this.streaming = false;
    this.blocked = '';
    this.placeholder = '';
  }

  /** Puts a text into the field, with the cursor at its end. */
  async edit(text: string): Promise<void> {
    this.value = text;
    await this.updateComplete;
    this.area.focus();
    this.area.setSelectionRange(text.length, text.length);
  }

  override focus(): void {
    this.area?.focus();
  }

  override render() {
    const text = words().composer;
    const canSend = this.blocked === '' && this.value.trim() !== '';
    return html`<div class="box" @click=${this.onBoxClick}>
      <slot name="above"></slot>
      <textarea data-testid="prompt" rows="1" aria-label=${text.label} enterkeyhint="send"
        placeholder=${this.placeholder} .value=${this.value}
        @beforeinput=${prepareField} @input=${this.onInput} @keydown=${this.onKey}></textarea>
      <div class="row">
        <div class="tools"><slot></slot></div>
        <slot name="end"></slot>
        ${
          this.streaming
            ? html`<button class="round stop" data-testid="stop" title=${text.stopTitle} aria-label=${text.stop} @click=${this.stop}>
                ${icons.stop}
              </button>`
            : html`<button class="round" data-testid="send" ?disabled=${!canSend} @click=${this.send} aria-label=${text.send}
                title=${this.blocked || text.sendTitle}>${icons.send}</button>`
        }
      </div>
    </div>`;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.losesFocus =
      changed.has('streaming') && !this.streaming && this.shadowRoot?.activeElement?.matches('.stop') === true;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('value') || changed.has('placeholder')) fitHeight(this.area); // a narrow one breaks both
    if (this.losesFocus) this.area.focus(); // the stop button had it, and is gone
  }

  private get area(): HTMLTextAreaElement {
    return this.renderRoot.querySelector('textarea')!;
  }

  private onInput = (event: Event) => {
    this.value = (event.target as HTMLTextAreaElement).value;
  };

  private onKey = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === 'ArrowUp' && this.area.value === '') {
      event.preventDefault();
      this.dispatchEvent(new CustomEvent('vivace-recall'));
    }
  };

  private onBoxClick = (event: Event) => {
    if (event.target === event.currentTarget) this.area.focus();
  };

  send = () => {
    const text = this.value.trim();
    if (this.streaming || text === '') return;
    if (this.blocked !== '') {
      this.dispatchEvent(new CustomEvent('vivace-wait'));
      return;
    }
    this.value = '';
    this.area.focus();
    this.dispatchEvent(new CustomEvent('vivace-send', { detail: text }));
  };

  private stop = () => {
    this.dispatchEvent(new CustomEvent('vivace-stop'));
  };
}

if (!customElements.get('vivace-composer')) customElements.define('vivace-composer', VivaceComposer);
