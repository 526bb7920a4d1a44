// <vivace-turn>: one question and its answer. The answer's text is written once, as Markdown, while it streams; nothing is rendered twice.
// Fires `vivace-offer` with what the reader asks for: to try again, to edit, to load the model again.

import { html, LitElement, nothing, type PropertyValues } from 'lit';
import { type Advice, OFFER_LABELS, type Offer } from './advice';
import { endRemark, type Turn, timingParts } from './conversation';
import { icons } from './icons';
import { MarkdownWriter } from './markdown';
import { sharedStyles } from './shared_styles';
import { turnStyles } from './turn_styles';

export class VivaceTurn extends LitElement {
  static override styles = [sharedStyles, turnStyles];
  static override properties = {
    turn: { attribute: false },
    isLast: { type: Boolean },
    busy: { type: Boolean },
    copied: { state: true },
  };
  declare turn: Turn;
  /** Only the newest turn can be edited or tried again. */
  declare isLast: boolean;
  /** An answer is being written somewhere in the conversation. */
  declare busy: boolean;
  declare copied: 'question' | 'answer' | null;

  private writer: MarkdownWriter | null = null;
  private written = 0;
  private ended = false;
  private frame = 0;

  constructor() {
    super();
    this.isLast = false;
    this.busy = false;
    this.copied = null;
  }

  /** The turn's data has changed. Text is written once a frame, however fast tokens come; the end of an answer at once. */
  refresh(): void {
    if (this.turn.state !== 'streaming') {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      this.requestUpdate();
      return;
    }
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.written === 0) this.requestUpdate(); // the sign of waiting comes and goes
      this.write();
    });
  }

  override render() {
    const { turn } = this;
    return html`
      <div class="question">
        <article data-testid="message" data-role="user" data-state="done" dir="auto" aria-label="You">${turn.question}</article>
        <div class="actions">
          ${this.action('copy-question', 'Copy', this.copied === 'question' ? icons.done : icons.copy, this.copyQuestion)}
          ${this.isLast && !this.busy ? this.action('edit', 'Edit', icons.edit, () => this.offer('edit')) : nothing}
        </div>
      </div>
      <div class="answer">
        <article data-testid="message" data-role="assistant" data-state=${turn.state} dir="auto" aria-label="Answer"
          aria-busy=${turn.state === 'streaming'}>
          ${turn.remarks.map((remark) => html`<p class="remark">${remark}</p>`)}
          <div class="text"></div>
          ${turn.state === 'streaming' && turn.answer === '' ? html`<span class="waiting" aria-hidden="true"></span>` : nothing}
          ${turn.advice ? this.renderAdvice(turn.advice) : nothing}
        </article>
        ${turn.state === 'streaming' ? this.renderWaiting() : this.renderFooter()}
      </div>
    `;
  }

  protected override updated(_changed: PropertyValues<this>): void {
    this.write();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private write(): void {
    const { turn } = this;
    this.writer ??= new MarkdownWriter(this.renderRoot.querySelector<HTMLElement>('.text')!);
    if (turn.answer.length > this.written) {
      this.writer.write(turn.answer.slice(this.written));
      this.written = turn.answer.length;
      this.dispatchEvent(new CustomEvent('vivace-grown', { bubbles: true, composed: true }));
    }
    if (turn.state !== 'streaming' && !this.ended) {
      this.ended = true;
      this.writer.end();
    }
  }

  /** A slow machine says what it does before its first word; on a fast one nobody sees this. */
  private renderWaiting() {
    const { answer, prefill, waitsFor } = this.turn;
    if (waitsFor) return html`<p class="reading at-once">Waiting: ${waitsFor}</p>`;
    if (answer !== '' || !prefill) return nothing;
    const progress = prefill.done > 0 ? `, ${prefill.done} of ${prefill.total} tokens` : '';
    return html`<p class="reading">Reading the conversation${progress}</p>`;
  }

  private renderAdvice(advice: Advice) {
    const offers = this.isLast ? advice.offers : [];
    return html`<div class="advice" role="alert">
      <p><strong>${advice.what}</strong></p>
      <p>${advice.next}</p>
      ${
        offers.length > 0
          ? html`<p class="offers">
              ${offers.map((o) => html`<button class="button" @click=${() => this.offer(o)}>${OFFER_LABELS[o]}</button>`)}
            </p>`
          : nothing
      }
    </div>`;
  }

  private renderFooter() {
    const { turn } = this;
    const remark = endRemark(turn);
    return html`<footer>
      ${turn.answer ? this.action('copy', 'Copy the answer', this.copied === 'answer' ? icons.done : icons.copy, this.copyAnswer) : nothing}
      ${this.isLast && !this.busy && !turn.advice ? this.action('again', 'Answer again', icons.again, () => this.offer('retry')) : nothing}
      ${turn.timing ? html`<span class="timing" data-testid="timing">${timingParts(turn.timing).map((part, i) => html`${i > 0 ? ' · ' : ''}<span>${part}</span>`)}</span>` : nothing}
      ${remark ? html`<span class="end">${remark}</span>` : nothing}
    </footer>`;
  }

  private action(id: string, label: string, icon: unknown, act: () => void) {
    return html`<button class="icon small" data-testid=${id} title=${label} aria-label=${label} @click=${act}>${icon}</button>`;
  }

  private offer(offer: Offer): void {
    this.dispatchEvent(new CustomEvent('vivace-offer', { detail: offer, bubbles: true, composed: true }));
  }

  private copyQuestion = () => this.copy('question', this.turn.question);
  private copyAnswer = () => this.copy('answer', this.turn.answer);

  private async copy(which: 'question' | 'answer', text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return; // the page is not allowed to; the text can be selected
    }
    this.copied = which;
    setTimeout(() => {
      this.copied = null;
    }, 1600);
  }
}

if (!customElements.get('vivace-turn')) customElements.define('vivace-turn', VivaceTurn);
