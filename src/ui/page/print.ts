// Prints the conversation: all turns that the page shows, in light colors, without the controls around them. Turns get
// their styles only while the page prints. A rule for printing in their own styles would be in the first load.

import { type CSSResult, css } from 'lit';
import type { VivaceChat } from '../chat/chat';

const pageStyles = css`@media print {
  body, body > main:is(*, .timing) { display: block; height: auto; }
  body > :not(main), main > :not(vivace-chat) { display: none !important; }
}`;

const chatStyles = css`@media print {
  :host { display: block; }
  .scroller { overflow: visible; }
  .column { max-width: none; padding: 0; }
  .dock, .earlier, slot { display: none; }
  vivace-turn { content-visibility: visible; }
}`;

const turnStyles = css`@media print {
  button:not(.timing), .actions { display: none !important; }
  .question article { border: 1px solid var(--v-line); }
  .text pre { white-space: pre-wrap; }
  .table-box { overflow: visible; }
}`;

/** Makes the page print the conversation of its chat. */
export function printConversation(chat: VivaceChat): void {
  const { dataset } = document.documentElement;
  let { theme } = dataset;
  const roots = () => [...chat.renderRoot.querySelectorAll('vivace-turn')].map((turn) => turn.shadowRoot);
  addEventListener('beforeprint', () => {
    ({ theme } = dataset);
    dataset.theme = 'light';
    add(document, pageStyles);
    add(chat.shadowRoot, chatStyles);
    for (const root of roots()) add(root, turnStyles);
  });
  addEventListener('afterprint', () => {
    dataset.theme = theme;
    remove(document, pageStyles);
    remove(chat.shadowRoot, chatStyles);
    for (const root of roots()) remove(root, turnStyles);
  });
}

function add(root: DocumentOrShadowRoot | null, { styleSheet }: CSSResult): void {
  if (root && styleSheet) root.adoptedStyleSheets = [...root.adoptedStyleSheets, styleSheet];
}

function remove(root: DocumentOrShadowRoot | null, { styleSheet }: CSSResult): void {
  if (root) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((sheet) => sheet !== styleSheet);
}
