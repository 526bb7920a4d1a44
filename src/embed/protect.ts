// What an element needs on a page that is not ours: our colors, and nothing that it would inherit or be told by rules for every element.

import { type CSSResult, type ReactiveElement, unsafeCSS } from 'lit';
import themeCss from '../ui/shared/theme.css?inline';

/** Inherited properties that would change how text looks or flows; `direction` and `lang` are the page's to choose. */
const inheritedReset = `
  color: var(--v-ink) !important; letter-spacing: normal !important;
  word-spacing: normal !important; text-transform: none !important; text-indent: 0 !important; text-align: start !important;
  text-shadow: none !important; white-space: normal !important; word-break: normal !important; hyphens: manual !important;
  visibility: visible !important; cursor: auto !important; pointer-events: auto !important; user-select: auto !important;
  list-style: disc !important; quotes: auto !important; tab-size: 8 !important; writing-mode: horizontal-tb !important;
  -webkit-text-fill-color: currentcolor !important;`;

/** A host of ours is light or dark as its data-theme says, whatever the page says of its elements. */
export const hostTheme = unsafeCSS(`${themeCss}
  :host { color-scheme: light dark !important; }
  :host([data-theme='light']) { color-scheme: light !important; }
  :host([data-theme='dark']) { color-scheme: dark !important; }`);

export function adopt(root: ShadowRoot, styles: readonly CSSResult[]): void {
  const sheets = styles.map(({ styleSheet }) => styleSheet).filter((sheet) => sheet !== undefined);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets.filter((s) => !root.adoptedStyleSheets.includes(s))];
}

/** Of a chat, which is a column, and of a panel. */
const displays = {
  flex: unsafeCSS(`:host { display: flex !important; flex-direction: column !important; background: var(--v-bg);
    font: 400 16px / 1.5 var(--v-font) !important; ${inheritedReset} }`),
  block:
    unsafeCSS(`:host { display: block !important; box-sizing: border-box; padding: 16px 18px; background: var(--v-bg);
    font: 400 13px / 1.45 var(--v-font) !important; font-variant-numeric: tabular-nums !important; ${inheritedReset} }`),
};
const hidden = unsafeCSS(':host([hidden]) { display: none !important; }');

/** Gives an element of ours that stands in somebody else's page its own colors and text; its size and place stay the page's. */
export function protect(element: ReactiveElement, display: keyof typeof displays): void {
  adopt(element.renderRoot as ShadowRoot, [hostTheme, displays[display], hidden]);
}

const sheltered = unsafeCSS(
  ':host { all: initial !important; color-scheme: inherit !important; display: block !important; }',
);

/** Puts parts of ours into a slot of ours so that a page's rules for every element do not reach them there. */
export function shelter(slot: string, ...parts: HTMLElement[]): HTMLElement {
  const host = document.createElement('div');
  host.slot = slot;
  const root = host.attachShadow({ mode: 'open' });
  adopt(root, [sheltered]);
  root.append(...parts);
  return host;
}
