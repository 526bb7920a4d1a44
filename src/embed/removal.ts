// Detects that a page has removed one of our elements.

/** Calls back if `element` is off the page when the current task has ended. A moved element is not removed. */
export function whenRemoved(element: Element, callback: () => void): void {
  setTimeout(() => {
    if (!element.isConnected) callback();
  });
}

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
