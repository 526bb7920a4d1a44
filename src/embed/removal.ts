// How parts of ours notice that a page took them off.

/** Calls back when this task of the page has ended without `element`: one that is only moved keeps what it has. */
export function whenRemoved(element: Element, callback: () => void): void {
  setTimeout(() => {
    if (!element.isConnected) callback();
  });
}

const NAME = 'vivace-embed';

/** The host of a widget: tells by events when it comes into a page and when it goes. */
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
