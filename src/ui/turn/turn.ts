// <vivace-turn>: one question and its answer. The text of the answer is written once, as Markdown, while it streams.
// Fires `vivace-turn` with the action that the reader chose.

import { html, nothing, type PropertyValues } from 'lit';
import { language } from '../../words/language';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import type { Attachment } from '../conversation/attachments';
import {
  endedInThought,
  endRemark,
  excerptOf,
  type ShownCall,
  type Turn,
  timingParts,
} from '../conversation/conversation';
import type { VersionOf } from '../conversation/versions';
import { byline } from '../conversation/writers';
import { codeBlockStyles } from '../markdown/code_block_styles';
import { type Advice, fullContext, type Offer } from '../shared/advice';
import { icons } from '../shared/icons';
import { type Recovering, recoveryStyles, renderRecovery } from '../shared/recovery';
import { sharedStyles } from '../shared/shared_styles';
import { renderAdvice } from './advice_box';
import { copyText } from './copy';
import { focusPager, pagerStyles, renderPager } from './pager';
import { textStyles } from './text_styles';
import './thought';
import type { VivaceThought } from './thought';
import type { EditedQuestion } from './turn_editor';
import { turnStyles } from './turn_styles';
import { WrittenText } from './written_text';

/**
 * An action of the reader: ask in place of this turn, go on with its answer, change the limit that cut it, show another
 * version of it, take an offer, or fold or unfold the thinking.
 */
export type TurnAction =
  | { kind: 'ask'; question: string; attachments?: readonly Attachment[] }
  | { kind: 'continue' }
  | { kind: 'limit' }
  | { kind: 'step'; of: VersionOf; by: 1 | -1 }
  | { kind: 'offer'; offer: Offer }
  | { kind: 'run' }
  | { kind: 'fold'; toggled: Promise<unknown> };

export class VivaceTurn extends WordedElement {
  static override styles = [sharedStyles, recoveryStyles, turnStyles, pagerStyles, textStyles, codeBlockStyles];
  static override properties = {
    turn: { attribute: false },
    questionPlace: { attribute: false },
    questionPlaces: { attribute: false },
    answerPlace: { attribute: false },
    answerPlaces: { attribute: false },
    isLast: { attribute: false },
    isFull: { attribute: false },
    canForget: { attribute: false },
    canSwitch: { attribute: false },
    canContinue: { attribute: false },
    blocked: { attribute: false },
    opensRun: { attribute: false },
    hasFigures: { attribute: false },
    recovery: { attribute: false },
    copied: { state: true },
    editing: { state: true },
    opened: { state: true },
  };
  declare turn: Turn;
  /** Index of the question among its versions, from 0, and their number; and those of the answer. */
  declare questionPlace: number;
  declare questionPlaces: number;
  declare answerPlace: number;
  declare answerPlaces: number;
  /** True for the newest turn. Only it shows offers. */
  declare isLast: boolean;
  /** True when the context has no room left. */
  declare isFull: boolean;
  /** True when there are messages that the model could forget. */
  declare canForget: boolean;
  /** True if the model's thinking can be switched off. */
  declare canSwitch: boolean;
  /** True if the answer was cut and can go on. */
  declare canContinue: boolean;
  /** The reason why the model cannot be asked now, or ''. */
  declare blocked: string;
  /** True if a panel can show the run of the answer. */
  declare opensRun: boolean;
  /** True if the answer's times are shown. */
  declare hasFigures: boolean;
  /** The recovery of the engine that this answer waits for, or null. */
  declare recovery: Recovering | null;
  declare copied: 'question' | 'answer' | null;
  declare editing: boolean;
  /** True when a long question is shown whole. */
  declare opened: boolean;

  private readonly text = new WrittenText(() => this.showBusy());
  private frame = 0;

  constructor() {
    super();
    this.questionPlace = 0;
    this.questionPlaces = 1;
    this.answerPlace = 0;
    this.answerPlaces = 1;
    this.isLast = false;
    this.isFull = false;
    this.canForget = false;
    this.canSwitch = false;
    this.canContinue = false;
    this.blocked = '';
    this.opensRun = false;
    this.hasFigures = true;
    this.recovery = null;
    this.copied = null;
    this.editing = false;
    this.opened = false;
  }

  /**
   * Renders changes of the turn's data: text once per frame, however fast tokens come, and the end of an answer at
   * once.
   */
  refresh(): void {
    if (this.turn.state !== 'streaming') {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      this.requestUpdate();
      return;
    }
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      // Shows or hides the waiting sign and the thinking, or shows calls.
      if (this.text.length === 0 || this.turn.calls.length > 0) this.requestUpdate();
      this.write();
    });
  }

  /** Opens the editor of the question. */
  edit(): void {
    if (this.blocked === '') this.editing = true;
  }

  /** Puts the focus on the button of the version before (-1) or after (1). */
  focusStep(of: VersionOf, by: 1 | -1): void {
    focusPager(this.renderRoot, of, by);
  }

  override render() {
    const { turn } = this;
    return html`
      <div class="question">${this.editing ? this.renderEditor() : this.renderQuestion()}</div>
      <div class="answer">
        ${
          turn.reasoning
            ? html`<vivace-thought .turn=${turn} @vivace-fold=${(event: CustomEvent<Promise<unknown>>) => this.fire({ kind: 'fold', toggled: event.detail })}></vivace-thought>`
            : nothing
        }
        <article data-testid="message" data-role="assistant" data-state=${turn.state} aria-label=${words().turn.answer}>
          <div class="text"></div>
          ${turn.calls.map(renderCall)}
          ${endedInThought(turn) ? html`<p class="remark"><span data-testid="end">${endRemark(turn, this.canSwitch)}</span> ${this.renderWaysOn()}</p>` : nothing}
          ${turn.state === 'streaming' && isBlank(turn) ? html`<span class="waiting" aria-hidden="true"></span>` : nothing}
          ${turn.advice ? this.renderAdvice(turn.advice, true) : nothing}
        </article>
        ${turn.state === 'streaming' ? [renderWaiting(turn, this.recovery), this.renderPager('answer')] : this.renderFooter()}
        ${this.isLast && this.isFull ? this.renderAdvice(fullContext(), false) : nothing}
      </div>
    `;
  }

  protected override updated(_changed: PropertyValues<this>): void {
    this.write();
    this.showBusy();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private write(): void {
    const { turn } = this;
    this.renderRoot.querySelector<VivaceThought>('vivace-thought')?.refresh();
    const element = this.renderRoot.querySelector<HTMLElement>('.text')!;
    this.text.write(element, turn.answer, turn.state !== 'streaming');
  }

  /** Tells screen readers whether the answer still grows. */
  private showBusy(): void {
    const article = this.renderRoot.querySelector('[data-role=assistant]')!;
    article.ariaBusy = `${this.turn.state === 'streaming' || this.text.isBusy}`;
  }

  private renderQuestion() {
    const { question, attachments } = this.turn;
    const text = words().turn;
    const excerpt = excerptOf(question);
    const isCut = excerpt !== null && !this.opened;
    return html`
      ${attachments.length > 0 ? html`<vivace-files .files=${attachments}></vivace-files>` : nothing}
      <article data-testid="message" data-role="user" data-state="done" dir="auto" aria-label=${text.you}>${isCut ? `${excerpt}…` : question}</article>
      <div class="actions">
        <span class="quiet">
          ${this.action('copy-question', text.copyQuestion, this.copied === 'question' ? icons.done : icons.copy, this.copyQuestion)}
          ${this.asking('edit', text.edit, icons.edit, () => this.edit())}
        </span>
        ${
          excerpt === null
            ? nothing
            : html`<button class="link" data-testid="whole" aria-expanded=${this.opened} @click=${this.open}>
                ${this.opened ? text.showLess : text.showAll}
              </button>`
        }
        ${this.renderPager('question')}
      </div>`;
  }

  private renderPager(of: VersionOf) {
    const [place, places] =
      of === 'question' ? [this.questionPlace, this.questionPlaces] : [this.answerPlace, this.answerPlaces];
    return renderPager(of, { place, places }, (by) => this.fire({ kind: 'step', of, by }));
  }

  private renderEditor() {
    return html`<vivace-turn-editor .text=${this.turn.question} .files=${this.turn.attachments} .blocked=${this.blocked} @vivace-cancel=${this.endEditing}
      @vivace-save=${(event: CustomEvent<EditedQuestion>) => this.save(event.detail)}></vivace-turn-editor>`;
  }

  private renderAdvice(advice: Advice, isAlert: boolean) {
    const isOffered = (offer: Offer) =>
      (offer !== 'forget' || this.canForget) && (offer !== 'continue' || this.canContinue);
    const offers = this.isLast ? advice.offers.filter(isOffered) : [];
    return renderAdvice(advice, offers, {
      isAlert,
      blocked: this.blocked,
      onOffer: (offer) => this.fire({ kind: 'offer', offer }),
    });
  }

  private renderFooter() {
    const { turn } = this;
    // A full context has its own remark below, and thinking without an answer has it in the answer's place.
    const isTold = (this.isLast && this.isFull) || endedInThought(turn);
    const remark = isTold ? null : endRemark(turn);
    const by = byline(turn, Date.now(), language());
    return html`<footer>
      ${turn.answer ? this.action('copy', words().turn.copyAnswer, this.copied === 'answer' ? icons.done : icons.copy, this.copyAnswer) : nothing}
      ${turn.state === 'error' && this.isLast ? nothing : this.asking('again', words().turn.again, icons.again, () => this.fire({ kind: 'ask', question: turn.question }))}
      ${this.renderPager('answer')}
      ${remark ? html`<span class="end" data-testid="end">${remark}</span>` : nothing}
      ${isTold ? nothing : this.renderWaysOn()}
      ${turn.timing && this.hasFigures ? this.renderTiming(timingParts(turn.timing)) : nothing}
      ${by ? html`<span class="by" data-testid="by" title=${by.full}><bdi>${by.short}</bdi></span>` : nothing}
      ${turn.remarks.map((each) => html`<span class="end" data-testid="remark">${each}</span>`)}
    </footer>`;
  }

  /** The figures. No line begins with a dot. Where a panel listens, they open the run of the answer. */
  private renderTiming(parts: readonly string[]) {
    const line = parts.map((part, i) => html`<span>${part}${parts[i + 1] && ' ·'}</span> `);
    if (!this.opensRun || this.turn.run === undefined)
      return html`<span class="timing" data-testid="timing">${line}</span>`;
    return html`<button class="timing" data-testid="timing" title=${words().turn.openRun} @click=${() => this.fire({ kind: 'run' })}>${line}</button>`;
  }

  /** The remedies for a cut answer. Advice has buttons of its own. */
  private renderWaysOn() {
    const { turn, blocked } = this;
    if (!this.isLast || turn.advice) return nothing;
    return html`${
      this.canContinue
        ? html`<button class="link" data-testid="continue" title=${blocked} aria-disabled=${blocked !== ''}
            @click=${() => blocked || this.fire({ kind: 'continue' })}>${words().turn.goOn}</button>`
        : nothing
    }${
      turn.finishReason === 'length'
        ? html`<button class="link" data-testid="limit" @click=${() => this.fire({ kind: 'limit' })}>${words().turn.limit}</button>`
        : nothing
    }`;
  }

  private action(id: string, label: string, icon: unknown, act: () => void) {
    return html`<button class="icon small" data-testid=${id} title=${label} aria-label=${label} @click=${act}>${icon}</button>`;
  }

  /** A button that asks the model. While it cannot, the button's title says why. */
  private asking(id: string, label: string, icon: unknown, act: () => void) {
    const { blocked } = this;
    return html`<button class="icon small" data-testid=${id} title=${blocked ? `${label}: ${blocked}` : label} aria-label=${label}
      aria-disabled=${blocked !== ''} @click=${() => blocked || act()}>${icon}</button>`;
  }

  private button(id: string): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(`[data-testid=${id}]`);
  }

  private fire(detail: TurnAction): void {
    this.dispatchEvent(new CustomEvent('vivace-turn', { detail }));
  }

  private open = () => {
    this.opened = !this.opened;
  };

  private endEditing = async () => {
    this.editing = false;
    await this.updateComplete;
    this.button('edit')?.focus();
  };

  private save({ text, files }: EditedQuestion): void {
    if (text === this.turn.question && files.length === this.turn.attachments.length) void this.endEditing();
    else this.fire({ kind: 'ask', question: text, attachments: files });
  }

  private copyQuestion = () => this.copy('question', this.turn.question);
  private copyAnswer = () => this.copy('answer', this.turn.answer);

  private copy(which: 'question' | 'answer', text: string): Promise<void> {
    return copyText(text, (isCopied) => {
      this.copied = isCopied ? which : null;
    });
  }
}

/** True before the first word of an answer or of its thinking. */
function isBlank({ answer, reasoning, calls }: Turn): boolean {
  return answer === '' && reasoning === '' && calls.length === 0;
}

/** A call of a tool. The chat itself gives none, so it was not made. */
function renderCall({ name, arguments: given, error }: ShownCall) {
  return html`<div class="call" data-testid="call">
    <p>${error === null ? words().turn.call : words().turn.badCall(error)}</p>
    <pre>${error === null ? `${name} ${given}` : given}</pre>
  </div>`;
}

/** The cause of an answer's wait. Progress before the first word appears late, so that fast machines never show it. */
function renderWaiting(turn: Turn, recovery: Recovering | null) {
  const { prefill, waitsFor } = turn;
  const text = words().turn;
  if (recovery) return renderRecovery(recovery);
  if (waitsFor) return html`<p class="reading at-once">${text.waiting(waitsFor)}</p>`;
  if (!isBlank(turn)) return nothing;
  if (!prefill) return html`<p class="reading">${text.waitingForModel}</p>`;
  const { done, total } = prefill;
  return html`<p class="reading">${done > 0 ? text.readingPart(done, total) : text.reading}</p>`;
}

if (!customElements.get('vivace-turn')) customElements.define('vivace-turn', VivaceTurn);
