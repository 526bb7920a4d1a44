// <vivace-consent>: asks whether what is written may go to a server, which it names. A dialog over the page, or with
// `inline` a part of a chat. Without consent it keeps a button that asks again, if it is inline.

import { css, html, nothing } from 'lit';
import { sharedStyles } from '../shared/shared_styles';
import { hostOf, isReadable, type ServerChoice } from './server_choice';
import { inTongue, SpokenElement, say } from './tongue';

export class VivaceConsent extends SpokenElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; text-align: start; }
      dialog {
        width: min(30rem, calc(100vw - 24px)); max-height: calc(100dvh - 24px); padding: 20px 22px; border: 1px solid var(--v-line); border-radius: var(--v-radius-large);
        background: var(--v-surface); color: var(--v-ink); font: 400 var(--v-size) / 1.5 var(--v-font); overflow-y: auto; overflow-wrap: anywhere;
      }
      dialog:not(:modal) { position: static; width: auto; max-width: 480px; margin: 0 auto 20px; }
      dialog::backdrop { background: var(--v-scrim); }
      h2 { margin: 0 0 8px; font-size: var(--v-size-reading); font-weight: 600; text-wrap: balance; }
      p { margin: 0 0 8px; }
      .clear { color: var(--v-danger); }
      .row { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 14px; }
      .refused { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin: 0 0 12px; font: 400 var(--v-size) / 1.45 var(--v-font); color: var(--v-ink); }
    `,
  ];
  static override properties = { choice: { state: true }, inline: { type: Boolean }, isAsking: { state: true } };
  declare inline: boolean;
  declare private choice: ServerChoice | null;
  declare private isAsking: boolean;
  private answer: ((mayAsk: boolean) => void) | null = null;

  constructor() {
    super();
    this.inline = false;
    this.choice = null;
    this.isAsking = false;
  }

  /** Settles with the person's answer. An older question is answered with no. */
  async ask(choice: ServerChoice): Promise<boolean> {
    this.settle(false);
    this.choice = choice;
    this.isAsking = true;
    const answer = new Promise<boolean>((resolve) => {
      this.answer = resolve;
    });
    await this.updateComplete;
    const dialog = this.renderRoot.querySelector('dialog');
    if (this.isAsking && dialog && !dialog.open) this.inline ? dialog.show() : dialog.showModal();
    return answer;
  }

  /** Takes the question back. */
  clear(): void {
    this.settle(false);
    this.choice = null;
  }

  override render() {
    const { choice } = this;
    if (!choice) return nothing;
    const text = say();
    const host = hostOf(choice);
    const { rule } = choice;
    if (!this.isAsking)
      return this.inline
        ? html`<p class="refused" data-testid="consent-refused"><span>${(rule === 'remote' ? text.refusedAll : text.refused)(host)}</span>
            <button class="button" data-testid="consent-again" @click=${this.askAgain}>${text.askAgain}</button></p>`
        : nothing;
    const what =
      rule === 'remote'
        ? text.asks.remote(host)
        : rule === 'remote-until-loaded'
          ? text.asks.loaded(host)
          : text.asks.longer(host, inTongue(rule.longerThan));
    return html`<dialog aria-labelledby="title" aria-describedby="what" data-testid="consent" @cancel=${this.refuse}>
      <h2 id="title">${text.ask(host)}</h2>
      <p id="what">${what}</p>
      ${isReadable(choice) ? html`<p class="clear">${text.inTheClear}</p>` : nothing}
      <div class="row">
        <button class="button primary" data-testid="consent-allow" @click=${() => this.settle(true)}>${text.allow}</button>
        <button class="button" data-testid="consent-refuse" @click=${this.refuse}>${text.refuse}</button>
      </div>
    </dialog>`;
  }

  private refuse = () => this.settle(false);

  private askAgain = () => {
    this.dispatchEvent(new CustomEvent('vivace-consent-again'));
  };

  private settle(mayAsk: boolean): void {
    this.isAsking = false;
    this.renderRoot.querySelector('dialog')?.close(); // gives the focus back before it goes
    if (mayAsk) this.choice = null; // nothing is refused
    this.answer?.(mayAsk);
    this.answer = null;
  }
}

if (!customElements.get('vivace-consent')) customElements.define('vivace-consent', VivaceConsent);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-consent': VivaceConsent;
  }
}
