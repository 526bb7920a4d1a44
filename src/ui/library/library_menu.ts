// The menu of a conversation in the list: rename, export, copy, delete. One menu serves all rows.

import { html, type LitElement, type ReactiveController } from 'lit';
import { pageWords } from '../../words/page_words';
import type { RowActions } from './library_rows';

const ITEMS = [
  { name: 'rename', act: 'startRename' },
  { name: 'exportMarkdown', act: 'exportMarkdown' },
  { name: 'copyMarkdown', act: 'copyMarkdown' },
  { name: 'export', act: 'export' },
  { name: 'delete', act: 'delete' },
] as const;

export class LibraryMenu implements ReactiveController {
  private id = '';
  private button: HTMLElement | null = null;

  constructor(
    private readonly host: LitElement,
    private readonly actions: RowActions,
  ) {
    host.addController(this);
  }

  hostDisconnected(): void {
    this.button = null;
  }

  /** Opens the menu at the button of a row. */
  async open(id: string, button: HTMLElement): Promise<void> {
    this.id = id;
    this.button = button;
    const { menu } = this;
    if (!menu) return;
    menu.showPopover();
    place(menu, button.getBoundingClientRect());
    this.items[0]?.focus();
  }

  render() {
    const text = pageWords().library;
    return html`<div class="menu" popover role="menu" aria-label=${text.actions} @keydown=${this.onKey}>
      ${ITEMS.map(
        ({ name, act }) =>
          html`<button role="menuitem" tabindex="-1" class=${name} data-testid=${`library-${name}`} @click=${() => this.choose(act)}>${text[name]}</button>`,
      )}
    </div>`;
  }

  private choose(act: (typeof ITEMS)[number]['act']): void {
    this.close();
    this.actions[act](this.id);
  }

  private close(): void {
    this.menu?.hidePopover();
    this.button?.focus();
  }

  private get menu(): HTMLElement | null {
    return this.host.renderRoot.querySelector<HTMLElement>('.menu');
  }

  private get items(): HTMLElement[] {
    return [...(this.menu?.querySelectorAll<HTMLElement>('button') ?? [])];
  }

  private onKey = (event: KeyboardEvent) => {
    const { items } = this;
    const at = items.indexOf(event.composedPath()[0] as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to !== undefined) items.at(to % items.length)?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** Below the button, or above it where there is no room, within the window. */
function place(menu: HTMLElement, at: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = menu;
  const left = Math.max(8, Math.min(at.right - width, innerWidth - width - 8));
  const top = at.bottom + 4 + height > innerHeight ? at.top - 4 - height : at.bottom + 4;
  menu.style.left = `${left}px`;
  menu.style.top = `${Math.max(8, top)}px`;
}
