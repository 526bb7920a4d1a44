// The base of elements with texts: they render again when the language changes.

import { LitElement } from 'lit';
import { onLanguage } from './language';

export class WordedElement extends LitElement {
  private stopHearing: (() => void) | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopHearing ??= onLanguage(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopHearing?.();
    this.stopHearing = null;
  }
}
