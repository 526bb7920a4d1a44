// The readout of one token and the list of stalls as markup. They only show.

import { html, nothing } from 'lit';
import { formatMs } from '../panel/figure_format';
import type { Stall } from '../run/run_data';
import type { TokenReadout } from './readout';

export function renderReadout({ gap, where, text, stages, stall }: TokenReadout) {
  return html`<p class="line"><b>${gap}</b> ${where}, <code dir="ltr">${text}</code></p>
    <dl class="stages">${stages.map(({ label, value, definition }) => html`<div title=${definition}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
    ${stall ? html`<p class="line stalled">${stall}</p>` : nothing}`;
}

/** @param worst the longest ones @param count how many there were */
export function renderStalls(worst: readonly Stall[], count: number) {
  if (count === 0) return nothing;
  const title = count > worst.length ? `Stalls: ${count}, the longest` : 'Stalls';
  return html`<section class="stalls" data-testid="stalls">
    <h3 title="Gaps that are far longer than the others; a red ring marks them in the chart.">${title}</h3>
    <ul>${worst.map(({ token, gapMs, sentence }) => html`<li><b>${formatMs(gapMs)}</b> before token ${token}. ${sentence}</li>`)}</ul>
  </section>`;
}
