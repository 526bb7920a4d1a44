// The head of the panel: its title, the light of a running run, and the buttons for a run.

import { html, nothing } from 'lit';
import type { RunData } from '../run/run_data';

interface Toolbar {
  run: RunData & { isRunning: boolean };
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

export function renderToolbar({ run, isOdd, isLog, whyNotPin, onLog, onPin, onJson, onCsv }: Toolbar) {
  const isEmpty = run.tokens.length === 0;
  const pinTitle = whyNotPin ?? 'Keep this run in the chart and compare later ones with it';
  return html`<header>
    <h2 title="TBT: milliseconds between two tokens as they arrive, bursts not smoothed.">Time between tokens</h2>
    ${run.isRunning ? html`<span class=${isOdd ? 'live odd' : 'live'} role="img" aria-label="running" title="Running"></span>` : nothing}
    <span class="tools">
      <button data-testid="log" aria-pressed=${isLog} title="Logarithmic scale of milliseconds" @click=${onLog}>Log</button>
      <button data-testid="pin" ?disabled=${whyNotPin !== null} title=${pinTitle} @click=${onPin}>Pin</button>
      <button data-testid="json" ?disabled=${isEmpty} title="Save this run as JSON" @click=${onJson}>JSON</button>
      <button data-testid="csv" ?disabled=${isEmpty} title="Save this run as CSV" @click=${onCsv}>CSV</button>
    </span>
  </header>`;
}
