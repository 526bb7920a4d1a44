// The box under an answer that failed: what happened, what to do, and buttons for it.

import { html, nothing } from 'lit';
import { type Advice, OFFER_LABELS, type Offer } from '../shared/advice';

/** Offers that ask the model again, which needs one that is free. */
const ASKING: readonly Offer[] = ['retry', 'edit', 'forget', 'no-system'];

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
