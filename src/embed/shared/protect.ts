// Protects our elements on other people's pages: gives them our colors, and keeps out inherited properties and the
// page's rules for every element.

import { type CSSResult, type ReactiveElement, unsafeCSS } from 'lit';
import themeCss from '../../ui/shared/theme.css?inline';

/** Resets the inherited properties that change the look or flow of text. `direction` and `lang` stay the page's. */
const inheritedReset = `
  color: var(--v-ink) !important; letter-spacing: normal !important;
  word-spacing: normal !important; text-transform: none !important; text-indent: 0 !important; text-align: start !important;
  text-shadow: none !important; white-space: normal !important; word-break: normal !important; hyphens: manual !important;
  visibility: visible !important; cursor: auto !important; pointer-events: auto !important; user-select: auto !important;
  list-style: disc !important; quotes: auto !important; tab-size: 8 !important; writing-mode: horizontal-tb !important;
  -webkit-text-fill-color: currentcolor !important;`;

/** The names that a page may set as --vivace-NAME, on our element or on any around it. */
const WEARABLE =
  /--v-(accent|accent-ink|accent-soft|bg|surface|sunken|line|ink|muted|danger|radius|radius-small|radius-large|font|mono):\s*([^;}]+)/g;
const worn = themeCss.replace(WEARABLE, '--v-$1: var(--vivace-$1, $2)');

/** Makes a host light or dark by its data-theme alone, against the page's rules. */
export const hostTheme = unsafeCSS(`${worn}
  :host { color-scheme: light dark !important; }
  :host([data-theme='light']) { color-scheme: light !important; }
  :host([data-theme='dark']) { color-scheme: dark !important; }`);

export function adopt(root: ShadowRoot, styles: readonly CSSResult[]): void {
  const sheets = styles.map(({ styleSheet }) => styleSheet).filter((sheet) => sheet !== undefined);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets.filter((s) => !root.adoptedStyleSheets.includes(s))];
}

/**
 * The host styles of a chat (flex, a column) and of a panel (block). A chat has the size of its place, whatever it
 * holds, and one of its own where the place has none.
 */
const displays = {
  flex: unsafeCSS(`:host { display: flex !important; flex-direction: column !important; background: var(--v-bg);
    box-sizing: border-box; contain: size; contain-intrinsic-size: 480px min(592px, 100dvh - 8px); padding-block-end: 8px;
    min-block-size: min(200px, 100%); min-inline-size: 0; max-inline-size: 100%;
    font: 400 var(--v-size-reading) / 1.5 var(--v-font) !important; ${inheritedReset} }`),
  block:
    unsafeCSS(`:host { display: block !important; box-sizing: border-box; padding: 16px 18px; background: var(--v-bg);
    font: 400 var(--v-size-small) / 1.45 var(--v-font) !important; font-variant-numeric: tabular-nums !important; ${inheritedReset} }`),
};
const hidden = unsafeCSS(':host([hidden]) { display: none !important; }');

/** Gives our element on another page its own colors and text. Its size and place stay the page's. */
export function protect(element: ReactiveElement, display: keyof typeof displays): void {
  adopt(element.renderRoot as ShadowRoot, [hostTheme, displays[display], hidden]);
}

/** Makes our element light or dark. `auto` follows the system and needs no attribute. */
export function showTheme(element: HTMLElement, theme: string): void {
  if (theme === 'auto') delete element.dataset.theme;
  else element.dataset.theme = theme;
}

const sheltered = unsafeCSS(
  ':host { all: initial !important; color-scheme: inherit !important; scrollbar-color: inherit !important; display: block !important; }',
);

/** Wraps our parts for a slot of our element, so that the page's rules for every element do not reach them. */
export function shelter(slot: string, ...parts: HTMLElement[]): HTMLElement {
  const host = document.createElement('div');
  host.slot = slot;
  const root = host.attachShadow({ mode: 'open' });
  adopt(root, [sheltered]);
  root.append(...parts);
  return host;
}
