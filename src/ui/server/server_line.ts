// <vivace-server-line>: where what is written goes, under the field, and in the settings the button that takes the
// consent back. Fires `vivace-withdraw`.

import { css, html, nothing } from 'lit';
import { sharedStyles } from '../shared/shared_styles';
import type { ServerChoice } from './server_choice';
import { hostOf } from './server_choice';
import { inTongue, SpokenElement, say } from './tongue';

/** The present work of a server, in a sentence. @param isHere whether the page's own model answers */
function whereTextGoes(choice: ServerChoice, isHere: boolean): string {
  const { line } = say();
  const host = hostOf(choice);
  if (choice.rule === 'remote') return line.remote(host);
  if (typeof choice.rule === 'object') return line.longer(host, inTongue(choice.rule.longerThan));
  return isHere ? line.here(host) : line.loaded(host);
}

export class VivaceServerLine extends SpokenElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; color: var(--v-muted); font: 400 var(--v-size-small) / 1.4 var(--v-font); overflow-wrap: anywhere; }
      p { margin: 0; }
      .line { padding: 5px 4px 0; text-align: center; }
      h3 { margin: 14px 0 4px; color: var(--v-ink); font-size: var(--v-size); font-weight: 600; }
      .button { margin-top: 8px; color: var(--v-ink); }
    `,
  ];
  static override properties = {
    choice: { attribute: false },
    isHere: { attribute: false },
    inSettings: { type: Boolean },
  };
  declare choice: ServerChoice | null;
  declare isHere: boolean;
  declare inSettings: boolean;

  constructor() {
    super();
    this.choice = null;
    this.isHere = false;
    this.inSettings = false;
  }

  override render() {
    const { choice } = this;
    if (!choice) return nothing;
    const text = say();
    if (!this.inSettings)
      return html`<p class="line" role="status" data-testid="server-line">${whereTextGoes(choice, this.isHere)}</p>`;
    return html`<section data-testid="server-settings"><h3>${text.title}</h3>
      <p>${text.withdrawHelp(hostOf(choice))}</p>
      <button class="button" data-testid="withdraw" @click=${() => this.dispatchEvent(new CustomEvent('vivace-withdraw', { bubbles: true, composed: true }))}>${text.withdraw}</button>
    </section>`;
  }
}

if (!customElements.get('vivace-server-line')) customElements.define('vivace-server-line', VivaceServerLine);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-server-line': VivaceServerLine;
  }
}
