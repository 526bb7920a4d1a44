// <vivace-catalogue>: the cards of all models that the page offers, the recommended one first, and a button that
// measures this GPU for their speeds. Fires `vivace-offer` with a ModelOffer, bubbling.

import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Engine } from '../../engine/engine';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { sharedStyles } from '../shared/shared_styles';
import type { CardAction } from './catalogue_card';
import type { CatalogueModel } from './list/catalogue';
import './catalogue_card';
import { listStyles } from './catalogue_styles';
import { FollowOffers } from './follow_offers';
import type { Offers } from './offers';

/** Detail of `vivace-offer`: a model to open, or a load to cancel. */
export interface ModelOffer {
  readonly action: CardAction;
  readonly location: string;
}

type Measuring = 'idle' | 'running' | 'failed';

class VivaceCatalogue extends WordedElement {
  static override styles = [sharedStyles, listStyles];
  static override properties = {
    offers: { attribute: false },
    engine: { attribute: false },
    measuring: { state: true },
  };
  declare offers: Offers | null;
  /** The engine that measures, or null while none is ready. */
  declare engine: Engine | null;
  declare private measuring: Measuring;

  constructor() {
    super();
    new FollowOffers(this, () => this.redraw());
    this.offers = null;
    this.engine = null;
    this.measuring = 'idle';
  }

  override render() {
    const { offers } = this;
    if (!offers) return nothing;
    const text = pageWords().catalogue;
    const { recommended } = offers;
    const first = (model: CatalogueModel) => (model === recommended ? 0 : 1);
    const models = [...offers.models].sort((a, b) => first(a) - first(b));
    return html`<section aria-label=${text.list}>
      ${this.renderComplaint(offers)}
      <div class="cards">
        ${repeat(
          models,
          ({ id }) => id,
          (model) => html`<vivace-model-card .model=${model} .offers=${offers} ?recommended=${model === recommended}
            @vivace-card=${(event: CustomEvent<CardAction>) => this.offer(event.detail, model)}></vivace-model-card>`,
        )}
      </div>
      ${this.renderMeasure(offers)}
    </section>`;
  }

  private renderComplaint({ complaints, models }: Offers) {
    if (complaints.length === 0) return nothing;
    const text = pageWords().catalogue;
    return html`<p class="complaint" role="status" data-testid="catalogue-complaint">
      ${models.length > 1 ? text.incomplete : text.unreadable} ${complaints.join(' ')}
    </p>`;
  }

  /** On a GPU whose memory was not measured. */
  private renderMeasure({ machine, seen }: Offers) {
    const { engine, measuring } = this;
    if (machine?.gpu !== 'hardware' || seen.readGBps !== null || engine?.info.backend !== 'webgpu') return nothing;
    const text = pageWords().catalogue;
    return html`<p class="measure">
      <button class="button" data-testid="measure" ?disabled=${measuring === 'running'} @click=${this.measure}>
        ${measuring === 'running' ? text.measuring : text.measure}
      </button>
      <span role="status">${measuring === 'failed' ? text.measureFailed : text.measureTitle}</span>
    </p>`;
  }

  private readonly measure = async () => {
    const { engine, offers } = this;
    if (!engine || !offers) return;
    this.measuring = 'running';
    try {
      offers.noteRoofline(await engine.roofline());
      this.measuring = 'idle';
    } catch {
      this.measuring = 'failed';
    }
  };

  private offer(action: CardAction, { location }: CatalogueModel): void {
    const detail: ModelOffer = { action, location };
    this.dispatchEvent(new CustomEvent('vivace-offer', { detail, bubbles: true, composed: true }));
  }

  /** The cards have the same properties as before, and other contents. */
  private redraw(): void {
    this.requestUpdate();
    for (const card of this.renderRoot.querySelectorAll('vivace-model-card')) (card as WordedElement).requestUpdate();
  }
}

if (!customElements.get('vivace-catalogue')) customElements.define('vivace-catalogue', VivaceCatalogue);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-catalogue': VivaceCatalogue;
  }
}
