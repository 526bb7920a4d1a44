// A small panel in the corner of the page: what happened so far, and a button for each fault.

import type { Faults } from './page';
import { FAULTS, faultNames } from './plan';

const STYLE = `
details { position: fixed; right: 8px; bottom: 8px; z-index: 9999; max-height: 70vh; max-width: 28rem; overflow: auto;
  background: Canvas; color: CanvasText; border: 1px solid; border-radius: 6px; padding: 4px 8px; font: 13px/1.5 system-ui; }
button { font: inherit; display: block; width: 100%; text-align: left; }
pre { white-space: pre-wrap; margin: 0; }`;

function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text = ''): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

/** @param complaint why the address's plan was not taken, or '' */
export function showPanel(faults: () => Faults, complaint: string): { update(): void } {
  const place = element('div');
  place.dataset.testid = 'faults';
  const root = place.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet(); // a policy may forbid style elements
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const panel = element('details');
  const title = element('summary', 'Faults');
  const log = element('pre', complaint);
  panel.open = complaint !== '';
  panel.append(title, log);
  for (const name of faultNames()) {
    const button = element('button', name);
    button.title = FAULTS[name].what;
    button.onclick = () => faults().now(name);
    panel.append(button);
  }
  root.append(panel);
  const show = () => document.body.append(place);
  if (document.body) show();
  else addEventListener('DOMContentLoaded', show, { once: true });
  return {
    update() {
      const { happened } = faults();
      const newest = happened.slice(-8).map(({ name, where, atMs }) => {
        return `${new Date(atMs).toLocaleTimeString()} ${name} (${where})`;
      });
      title.textContent = `Faults: ${happened.length}`;
      log.textContent = newest.join('\n');
    },
  };
}
