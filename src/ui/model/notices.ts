// <vivace-notices>: dismissible notices on top of a conversation: what the engine warns of, once each.

import { css, html, LitElement } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Warning } from '../../engine/engine';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';

export class VivaceNotices extends LitElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; font: 400 14px / 1.45 var(--v-font); color: var(--v-ink); }
      .notice { display: flex; align-items: start; gap: 8px; margin-bottom: 8px; padding: 7px 6px 7px 14px; border-radius: 10px; background: var(--v-accent-soft); }
      p { flex: 1; margin: 0; padding: 4px 0; overflow-wrap: anywhere; }
    `,
  ];
  static override properties = { shown: { state: true } };
  declare shown: Warning[];
  /** Dismissed or not: nothing is said twice. */
  private readonly known = new Set<string>();

  constructor() {
    super();
    this.shown = [];
  }

  show(warnings: readonly Warning[]): void {
    for (const warning of warnings) {
      const key = `${warning.code} ${warning.message}`;
      if (this.known.has(key)) continue;
      this.known.add(key);
      this.shown = [...this.shown, warning];
    }
  }

  /** For what a reader has just done: said as often as it is done, once at a time. */
  say(warning: Warning): void {
    this.shown = [...this.shown.filter(({ code }) => code !== warning.code), warning];
  }

  /** For another model: what was said of the old one may be said again. */
  clear(): void {
    this.known.clear();
    this.shown = [];
  }

  override render() {
    return repeat(
      this.shown,
      (warning) => warning,
      (warning) => html`<div class="notice" data-testid="notice" data-code=${warning.code} role="status">
        <p dir="auto">${warning.message}</p>
        <button class="icon small" aria-label="Dismiss" title="Dismiss" @click=${() => this.dismiss(warning)}>${icons.close}</button>
      </div>`,
    );
  }

  private dismiss(warning: Warning): void {
    this.shown = this.shown.filter((other) => other !== warning);
  }
}

if (!customElements.get('vivace-notices')) customElements.define('vivace-notices', VivaceNotices);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-notices': VivaceNotices;
  }
}
