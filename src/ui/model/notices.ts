// <vivace-notices>: dismissible notices on top of a conversation. Shows each warning of the engine once. Fires
// `vivace-dismissed` when the reader has closed a notice: the focus was in it, and is lost.

import { css, html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Warning } from '../../engine/engine';
import { sayWarning } from '../../words/error_words';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';

export class VivaceNotices extends WordedElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; font: 400 var(--v-size) / 1.45 var(--v-font); color: var(--v-ink); }
      /* The answer to what the reader just did is in sight, however far the conversation is scrolled. */
      :host([said]) { position: sticky; z-index: 1; top: 8px; }
      .notice { display: flex; align-items: start; gap: 8px; margin-bottom: 8px; padding: 7px 6px 7px 14px; border-radius: 10px; background: var(--v-accent-soft); }
      .notice:last-child { margin-bottom: 20px; }
      p { flex: 1; margin: 0; padding: 4px 0; overflow-wrap: anywhere; }
    `,
  ];
  static override properties = { shown: { state: true } };
  declare shown: Warning[];
  /** The newest notice about the reader's own action. */
  private said: Warning | null = null;
  /** Warnings shown so far, dismissed ones included, so that none is shown twice. */
  private readonly known = new Set<string>();

  constructor() {
    super();
    this.shown = [];
  }

  show(warnings: readonly Warning[]): void {
    for (const warning of warnings) {
      const key = `${warning.code} ${sayWarning(warning).text}`; // several messages may have one sentence
      if (this.known.has(key)) continue;
      this.known.add(key);
      this.shown = [...this.shown, warning];
    }
  }

  /** Shows a notice about the reader's own action, each time anew, in place of an older notice with the same code. */
  say(warning: Warning): void {
    this.said = warning;
    this.shown = [warning, ...this.shown.filter(({ code }) => code !== warning.code)];
  }

  /** Forgets all notices. Another model may repeat the warnings of the old one. */
  clear(): void {
    this.known.clear();
    this.shown = [];
  }

  protected override updated(): void {
    this.toggleAttribute('said', this.shown[0] === this.said);
    this.hidden = this.shown.length === 0; // a place with room around it has none for nothing
  }

  override render() {
    const { dismiss } = words().notices;
    return repeat(
      this.shown,
      (warning) => warning,
      (warning) => this.renderNotice(warning, dismiss),
    );
  }

  private renderNotice(warning: Warning, dismiss: string) {
    const { text, detail } = sayWarning(warning);
    return html`<div class="notice" data-testid="notice" data-code=${warning.code} role="status">
        <p dir="auto" title=${detail || nothing}>${text}</p>
        <button class="icon small" aria-label=${dismiss} title=${dismiss} @click=${() => this.dismiss(warning)}>${icons.close}</button>
      </div>`;
  }

  private dismiss(warning: Warning): void {
    this.shown = this.shown.filter((other) => other !== warning);
    this.dispatchEvent(new CustomEvent('vivace-dismissed', { bubbles: true, composed: true }));
  }
}

if (!customElements.get('vivace-notices')) customElements.define('vivace-notices', VivaceNotices);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-notices': VivaceNotices;
  }
}
