// <vivace-model-card>: a model of the list: what it is good at, its download, its fit and its speed here, its license,
// and the one thing to do next. Fires `vivace-card` with what the reader chose. Does not bubble.

import { html, nothing } from 'lit';
import { formatParameters, formatSize } from '../../shared/format';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { percentText } from '../shared/amounts';
import { sharedStyles } from '../shared/shared_styles';
import { cardState, keptOf } from './card_state';
import { cardStyles } from './catalogue_styles';
import { describeFit, describeSpeed, type Explained } from './catalogue_words';
import { aboutOf, type CatalogueModel } from './list/catalogue';
import { fitOf } from './machine/fit';
import { READING_SPEED, speedOf } from './machine/speed';
import type { Offers } from './offers';
import './delete_model';

/** Detail of `vivace-card`. */
export type CardAction = 'open' | 'cancel';

class VivaceModelCard extends WordedElement {
  static override styles = [sharedStyles, cardStyles];
  static override properties = {
    model: { attribute: false },
    offers: { attribute: false },
    recommended: { type: Boolean },
  };
  declare model: CatalogueModel | null;
  declare offers: Offers | null;
  declare recommended: boolean;

  constructor() {
    super();
    this.model = null;
    this.offers = null;
    this.recommended = false;
  }

  override render() {
    const { model, offers } = this;
    if (!model || !offers) return nothing;
    const text = pageWords().catalogue;
    const state = cardState(model, offers);
    return html`<article data-testid="card" data-id=${model.id} data-state=${state.kind} aria-labelledby="name">
      ${this.recommended ? html`<p class="badge" data-testid="recommended">${isSlow(model, offers) ? text.lightest : text.recommended}</p>` : nothing}
      <h3 id="name">${model.name}</h3>
      <p class="about">${aboutOf(model, language())}</p>
      <p class="facts">${factsOf(model, offers).map(({ text, title }) => html`<span title=${title}>${text}</span>`)}</p>
      <p class="facts">${this.renderLicense(model)}</p>
      <div class="do">${this.renderActions(model, offers)}</div>
    </article>`;
  }

  private renderLicense({ license, unverified }: CatalogueModel) {
    const text = pageWords().catalogue;
    const link = html`<a href=${license.url} target="_blank" rel="noopener noreferrer" title=${text.licenseTitle}>${text.license(license.name)}</a>`;
    return unverified.length > 0
      ? html`<span>${link}</span><span title=${unverified.join('\n')}>${text.untested}</span>`
      : link;
  }

  private renderActions(model: CatalogueModel, offers: Offers) {
    const text = pageWords().catalogue;
    const { name } = model;
    const state = cardState(model, offers);
    const size = formatSize(model.downloadBytes, language());
    switch (state.kind) {
      case 'running':
        return html`<span class="state" data-testid="running">${text.running}</span>${this.renderDelete(model, offers)}`;
      case 'loading':
        return html`<span class="state" role="status">${state.percent === null ? text.opening : text.downloading(percentText(state.percent / 100))}</span>
          ${this.button('cancel', text.cancel, text.cancelOf(name))}`;
      case 'downloaded':
        return html`${this.button('open', text.open, text.openOf(name), true)}<span class="state">${text.downloaded}</span>${this.renderDelete(model, offers)}`;
      case 'resume':
        return html`${this.button('open', text.resume, text.resumeOf(name), true)}<span class="state">${text.partly(percentText(state.percent / 100))}</span>${this.renderDelete(model, offers)}`;
      case 'get': {
        if (isOwn(model))
          return html`${this.button('open', text.open, text.openOf(name))}<span class="state">${text.withPage}</span>`;
        const isTooLarge = offers.machine !== null && fitOf(model, offers.machine, offers.seen).verdict === 'no';
        if (isTooLarge) return this.button('open', text.tryAnyway, text.tryOf(name, size));
        return this.button('open', text.get, text.getOf(name, size), this.recommended);
      }
      default:
        return state satisfies never;
    }
  }

  private renderDelete(model: CatalogueModel, offers: Offers) {
    const kept = keptOf(model, offers.kept);
    return kept ? html`<vivace-delete-model .model=${kept} .name=${model.name}></vivace-delete-model>` : nothing;
  }

  private button(action: CardAction, label: string, name: string, isPrimary = false) {
    return html`<button class="button ${isPrimary ? 'primary' : ''}" data-testid="card-${action}" aria-label=${name} title=${name}
      @click=${() => this.dispatchEvent(new CustomEvent<CardAction>('vivace-card', { detail: action }))}>${label}</button>`;
  }
}

/** The size of a model and, of one that does not run, its fit and its speed. */
function factsOf(model: CatalogueModel, { machine, seen, running }: Offers): Explained[] {
  const text = pageWords().catalogue;
  const size = {
    text: formatSize(model.downloadBytes, language()),
    title: text.parameters(formatParameters(model.parameters, language())),
  };
  if (!machine) return [size];
  const fit = fitOf(model, machine, seen);
  const hasSpeed = fit.verdict !== 'no' && !model.tellsStories;
  const told = hasSpeed ? describeSpeed(speedOf(model, machine, seen), machine) : null;
  return [size, ...(running === model.location ? [] : [describeFit(fit, machine)]), ...(told ? [told] : [])];
}

/** True for a model that comes with the page. */
function isOwn({ repository }: CatalogueModel): boolean {
  return repository === '';
}

/** True if the model is known to write slower here than people read. */
function isSlow(model: CatalogueModel, { machine, seen }: Offers): boolean {
  const speed = machine && speedOf(model, machine, seen);
  return speed !== null && speed.wordsPerSecond < READING_SPEED;
}

if (!customElements.get('vivace-model-card')) customElements.define('vivace-model-card', VivaceModelCard);
