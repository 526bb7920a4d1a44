// The element that holds the button and the window of a script tag.

import { whenRemoved } from '../../shared/removal';

const NAME = 'vivace-embed';

/** The host of a widget. Fires `vivace-connected` and `vivace-removed`. */
class WidgetHost extends HTMLElement {
  connectedCallback(): void {
    this.dispatchEvent(new Event('vivace-connected'));
  }

  disconnectedCallback(): void {
    whenRemoved(this, () => this.dispatchEvent(new Event('vivace-removed')));
  }
}

export function createWidgetHost(): HTMLElement {
  if (!customElements.get(NAME)) customElements.define(NAME, WidgetHost);
  return document.createElement(NAME);
}
