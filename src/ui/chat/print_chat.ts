// Prints a chat: all turns that it shows, in light colors, without the controls around them. Turns get their styles
// only while the page prints. A rule for printing in their own styles would be in the first load.

import { type CSSResult, css } from 'lit';
import { pageBudget } from '../markdown/frame_budget';
import type { VivaceChat } from './chat';

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

/**
 * Makes the page print the conversation of a chat.
 * @param themed makes the chat light or dark @param place a tree with styles for paper
 */
export function printChat(
  chat: VivaceChat,
  themed: HTMLElement,
  place: readonly [DocumentOrShadowRoot, CSSResult],
  signal?: AbortSignal,
): void {
  const { dataset } = themed;
  /** Takes the styles off again. Null: nothing prints. */
  let end: (() => void) | null = null;
  const begin = () => {
    end?.();
    const { theme } = dataset;
    const turns = [...chat.renderRoot.querySelectorAll('vivace-turn')].map((turn) => turn.shadowRoot!);
    const ends = [add(chat.shadowRoot!, chatStyles), add(...place), ...turns.map((root) => add(root, turnStyles))];
    dataset.theme = 'light';
    end = () => {
      if (theme) dataset.theme = theme;
      else delete dataset.theme;
      for (const each of ends) each();
      end = null;
    };
    pageBudget.finish(); // a long answer takes several frames, and a print does not wait for them
  };
  addEventListener('beforeprint', begin, { signal });
  addEventListener('afterprint', () => end?.(), { signal });
}

/** Returns what takes the style sheet off again. */
function add(root: DocumentOrShadowRoot, { styleSheet }: CSSResult): () => void {
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, styleSheet!];
  return () => {
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter((sheet) => sheet !== styleSheet);
  };
}
