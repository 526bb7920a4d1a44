// <vivace-next-step>: the way from a storyteller to a model that can talk about anything, on the first screen. Hidden
// while such a model runs or loads. Fires `vivace-offer`, bubbling, and `vivace-all-models`.

import { css, html, nothing } from 'lit';
import { formatSize } from '../../shared/format';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { sharedStyles } from '../shared/shared_styles';
import { cardState } from './card_state';
import type { ModelOffer } from './catalogue_list';
import { describeFit, describeSpeed } from './catalogue_words';
import { FollowOffers } from './follow_offers';
import { aboutOf, type CatalogueModel } from './list/catalogue';
import { fitOf } from './machine/fit';
import { speedOf } from './machine/speed';
import type { Offers } from './offers';

class VivaceNextStep extends WordedElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; max-width: 480px; min-height: 118px; margin: 22px auto 0; font: 400 var(--v-size) / 1.45 var(--v-font); color: var(--v-ink); }
      :host([hidden]) { display: none; }
      .step { display: block; width: 100%; padding: 13px 16px; border: 1px solid var(--v-accent); border-radius: 12px; background: var(--v-accent-soft); text-align: start; cursor: pointer; transition: border-color 120ms; }
      .step:hover { background: color-mix(in srgb, var(--v-accent) 8%, var(--v-accent-soft)); }
      .what { display: block; margin-bottom: 2px; color: var(--v-accent); font-size: var(--v-size-reading); font-weight: 600; text-wrap: balance; }
      .model { display: block; }
      .facts > :not(:last-child)::after { content: '\\a0·'; }
      .facts { display: block; margin-top: 2px; color: var(--v-muted); font-size: var(--v-size-small); }
      .all { display: block; margin: 8px auto 0; padding: 4px 10px; border: 0; background: none; color: var(--v-muted); font-size: var(--v-size); text-decoration: underline; text-underline-offset: 3px; cursor: pointer; }
      .all:hover { color: var(--v-ink); }
      @media (pointer: coarse) { .all { min-height: 44px; } }
    `,
  ];
  static override properties = { offers: { attribute: false } };
  declare offers: Offers | null;

  constructor() {
    super();
    new FollowOffers(this);
    this.offers = null;
  }

  protected override willUpdate(): void {
    const { offers } = this;
    this.hidden = offers !== null && offers.machine !== null && this.modelToOffer(offers) === null;
  }

  override render() {
    const { offers } = this;
    const model = offers && this.modelToOffer(offers);
    if (!offers?.machine || !model) return nothing;
    const text = pageWords().catalogue;
    const { machine, seen } = offers;
    const isHere = cardState(model, offers).kind === 'downloaded';
    const speed = describeSpeed(speedOf(model, machine, seen), machine);
    const facts = [describeFit(fitOf(model, machine, seen), machine), ...(speed ? [speed] : [])];
    return html`<button class="step" data-testid="next-step" data-id=${model.id} @click=${() => this.offer(model)}>
        <span class="what">${isHere ? text.openAble(model.name) : text.getAble(formatSize(model.downloadBytes, language()).replace(' ', '\u00a0'))}</span>
        <span class="model">${isHere ? '' : html`<b>${model.name}</b> · `}${aboutOf(model, language())}</span>
        <span class="facts">${facts.map(({ text, title }) => html`<span title=${title}>${text}</span> `)}</span>
      </button>
      <button class="all" data-testid="all-models" @click=${() => this.dispatchEvent(new CustomEvent('vivace-all-models'))}>${text.all}</button>`;
  }

  /** The model to offer, or null while one that can talk about anything runs or loads. */
  private modelToOffer({ models, recommended, running, loading, machine }: Offers): CatalogueModel | null {
    if (!machine) return null;
    const now = loading?.location ?? running;
    const tellsStories = models.some((model) => model.tellsStories && model.location === now);
    return tellsStories || now === null ? recommended : null;
  }

  private offer({ location }: CatalogueModel): void {
    const detail: ModelOffer = { action: 'open', location };
    this.dispatchEvent(new CustomEvent('vivace-offer', { detail, bubbles: true, composed: true }));
  }
}

if (!customElements.get('vivace-next-step')) customElements.define('vivace-next-step', VivaceNextStep);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-next-step': VivaceNextStep;
  }
}
