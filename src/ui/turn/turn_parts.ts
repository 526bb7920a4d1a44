// Pieces of a turn that only show: what the model does before its first word, what can be done when an answer failed, the way through
// the versions of a question.

import { html, nothing } from 'lit';
import type { Turn } from '../conversation/conversation';
import { type Advice, OFFER_LABELS, type Offer } from '../model/advice';

/** Why no model can be asked that has ended. */
export const ENDED = 'Load the model again first.';

/** Offers that ask the model again, which needs one that is free. */
const ASKING: readonly Offer[] = ['retry', 'edit', 'forget', 'no-system'];

/** A slow machine says what it does before its first word; on a fast one nobody sees this. */
export function renderWaiting({ answer, prefill, waitsFor }: Turn) {
  if (waitsFor) return html`<p class="reading at-once">Waiting: ${waitsFor}</p>`;
  if (answer !== '') return nothing;
  if (!prefill) return html`<p class="reading">Waiting for the model</p>`;
  const progress = prefill.done > 0 ? `, ${prefill.done} of ${prefill.total} tokens` : '';
  return html`<p class="reading">Reading the conversation${progress}</p>`;
}

/** What happened, what to do, and buttons for it. `isAlert` where something failed. */
export function renderAdvice(
  { what, next }: Advice,
  offers: readonly Offer[],
  { isAlert, blocked, onOffer }: { isAlert: boolean; blocked: string; onOffer: (offer: Offer) => void },
) {
  const button = (offer: Offer) => {
    const reason = ASKING.includes(offer) ? blocked : '';
    return html`<button class="button" data-testid="offer-${offer}" title=${reason || OFFER_LABELS[offer]}
      aria-disabled=${reason !== ''} @click=${() => reason || onOffer(offer)}>${OFFER_LABELS[offer]}</button>`;
  };
  return html`<div class="advice" data-testid="advice" role=${isAlert ? 'alert' : 'note'}>
    <p><strong>${what}</strong></p>
    <p>${next}</p>
    ${offers.length > 0 ? html`<p class="offers">${offers.map(button)}</p>` : nothing}
  </div>`;
}

/** ‹ 2/3 › */
export function renderPager(place: number, places: number, onStep: (by: 1 | -1) => void) {
  const button = (by: 1 | -1, label: string, sign: string, isEnd: boolean) =>
    html`<button class="icon small" data-testid=${by < 0 ? 'version-before' : 'version-after'} title=${label} aria-label=${label}
      aria-disabled=${isEnd} @click=${() => isEnd || onStep(by)}>${sign}</button>`;
  return html`<span class="pager" role="group" aria-label="Versions of this message">
    ${button(-1, 'Version before', '‹', place === 0)}
    <span data-testid="version" aria-label="Version ${place + 1} of ${places}" role="img">${place + 1}/${places}</span>
    ${button(1, 'Next version', '›', place === places - 1)}
  </span>`;
}
