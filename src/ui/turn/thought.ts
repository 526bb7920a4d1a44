// <vivace-thought>: the thinking before an answer, folded. Its text is written only once it is unfolded, as Markdown
// like the answer. Fires `vivace-fold` before it folds or unfolds, with a promise of the end.

import { html, nothing } from 'lit';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import { isThinking, type Turn, thoughtLabel } from '../conversation/conversation';
import { codeBlockStyles } from '../markdown/code_block_styles';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';
import { copyText } from './copy';
import { textStyles } from './text_styles';
import { thoughtStyles } from './thought_styles';
import { WrittenText } from './written_text';

export class VivaceThought extends WordedElement {
  static override styles = [sharedStyles, textStyles, codeBlockStyles, thoughtStyles];
  static override properties = { turn: { attribute: false }, copied: { state: true } };
  declare turn: Turn;
  declare copied: boolean;

  private readonly text = new WrittenText();
  private shownLabel = '';

  constructor() {
    super();
    this.copied = false;
  }

  /** Shows what has changed in the turn's data. */
  refresh(): void {
    if (thoughtLabel(this.turn) !== this.shownLabel && !isThinking(this.turn)) this.requestUpdate();
    if (this.fold?.open) this.write();
  }

  override render() {
    this.shownLabel = thoughtLabel(this.turn);
    const label = this.copied ? words().turn.copied : words().turn.copyThought;
    return html`<details data-state=${isThinking(this.turn) ? 'thinking' : 'done'} @toggle=${this.onToggle}>
      <summary data-testid="thought" @click=${this.onClick}>
        ${icons.think}<span>${this.shownLabel}</span><span class="arrow" aria-hidden="true">›</span>
      </summary>
      <div class="body" data-testid="thought-body">
        <div class="text"></div>
        ${
          isThinking(this.turn)
            ? nothing
            : html`<button class="icon small" data-testid="copy-thought" title=${label} aria-label=${label} @click=${this.copy}>${this.copied ? icons.done : icons.copy}</button>`
        }
      </div>
    </details>`;
  }

  private get fold(): HTMLDetailsElement | null {
    return this.renderRoot.querySelector('details');
  }

  private write(): void {
    const element = this.renderRoot.querySelector<HTMLElement>('.text')!;
    this.text.write(element, this.turn.reasoning, !isThinking(this.turn));
  }

  /** Runs before the fold opens or closes. */
  private onClick = () => {
    const toggled = new Promise((resolve) => this.fold?.addEventListener('toggle', resolve, { once: true }));
    this.dispatchEvent(new CustomEvent('vivace-fold', { detail: toggled }));
    this.write();
  };

  /** The browser unfolds without a click, too. */
  private onToggle = () => {
    if (this.fold?.open) this.write();
  };

  private copy = () =>
    copyText(this.turn.reasoning.trim(), (isCopied) => {
      this.copied = isCopied;
    });
}

if (!customElements.get('vivace-thought')) customElements.define('vivace-thought', VivaceThought);
