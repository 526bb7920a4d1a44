// The head of the panel: its title, the light of a running run, and the buttons for a run.

import { html, nothing } from 'lit';
import { panelWords } from '../../words/panel_words';
import { formatMoment } from '../history/runs_rows';
import type { RunData } from '../run/run_data';

interface Toolbar {
  run: RunData;
  isRunning: boolean;
  /** Alternates with the drawings, so that the light of a running run blinks. */
  isOdd: boolean;
  isLog: boolean;
  /** The reason why the run cannot be pinned, or null. */
  whyNotPin: string | null;
  onLog: () => void;
  onPin: () => void;
  onJson: () => void;
  onCsv: () => void;
}

export function renderToolbar({ run, isRunning, isOdd, isLog, whyNotPin, onLog, onPin, onJson, onCsv }: Toolbar) {
  const isEmpty = run.tokens.length === 0;
  const text = panelWords().toolbar;
  return html`<header>
    <h2 tabindex="-1" title=${text.titleHelp}>${text.title}</h2>
    ${isRunning ? html`<span class=${isOdd ? 'live odd' : 'live'} role="img" aria-label=${text.running} title=${text.running}></span>` : nothing}
    <span class="tools">
      <button data-testid="log" aria-pressed=${isLog} title=${text.logHelp} @click=${onLog}>${text.log}</button>
      <button data-testid="pin" ?disabled=${whyNotPin !== null} title=${whyNotPin ?? text.pinHelp} @click=${onPin}>${text.pin}</button>
      <button data-testid="json" ?disabled=${isEmpty} title=${text.saveJson} @click=${onJson}>JSON</button>
      <button data-testid="csv" ?disabled=${isEmpty} title=${text.saveCsv} @click=${onCsv}>CSV</button>
    </span>
  </header>`;
}

/** The head of a panel without a run: what will come, and no figures. */
export function renderInvitation() {
  const { title, invitation } = panelWords().toolbar;
  return html`<header><h2>${title}</h2></header>
    <p class="invitation" data-testid="invitation">${invitation}</p>`;
}

/** The line that says which earlier run is shown, with the way back. */
export function renderOpened({ origin }: RunData, onClose: () => void) {
  const text = panelWords().runs;
  return html`<p class="opened" data-testid="opened-run">
    <span dir="auto">${text.opened(origin.name || formatMoment(origin.startedAt))}</span>
    <button data-testid="close-run" @click=${onClose}>${text.back}</button>
  </p>`;
}
