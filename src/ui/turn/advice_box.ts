// The box of advice under an answer: what happened, what to do next, and buttons.

import { html, nothing } from 'lit';
import { words } from '../../words/words';
import type { Advice, Offer } from '../shared/advice';
import { renderDetail } from '../shared/advice_detail';

/** Offers that ask the model again, so it must be free. */
const ASKING: readonly Offer[] = ['retry', 'continue', 'edit', 'forget', 'no-system'];

/** @param isAlert true after a failure @param blocked the reason why the model cannot be asked now, or '' */
export function renderAdvice(
  advice: Advice,
  offers: readonly Offer[],
  { isAlert, blocked, onOffer }: { isAlert: boolean; blocked: string; onOffer: (offer: Offer) => void },
) {
  const button = (offer: Offer) => {
    const reason = ASKING.includes(offer) ? blocked : '';
    return html`<button class="button" data-testid="offer-${offer}" title=${reason || words().offers[offer]}
      aria-disabled=${reason !== ''} @click=${() => reason || onOffer(offer)}>${words().offers[offer]}</button>`;
  };
  return html`<div class="advice" data-testid="advice" role=${isAlert ? 'alert' : 'note'}>
    <p><strong>${advice.what}</strong></p>
    <p>${advice.next}</p>
    ${renderDetail(advice)}
    ${offers.length > 0 ? html`<p class="offers">${offers.map(button)}</p>` : nothing}
  </div>`;
}
