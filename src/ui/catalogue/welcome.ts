// <vivace-welcome>: what the page is, in one line, and the model in words, for the first screen. The model's line takes
// the room of the progress of a load, which names the model until then. Small, because it is there at the first paint.

import { css, html, nothing } from 'lit';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { aboutOf, type CatalogueModel } from './list/catalogue';

class VivaceWelcome extends WordedElement {
  static override styles = css`
    :host { display: block; max-width: 660px; margin: 0 auto 16px; font: 400 var(--v-size-reading) / 1.5 var(--v-font); }
    p { margin: 0; text-wrap: balance; }
    .model { display: grid; align-content: center; min-height: calc(var(--v-room) + 14px); color: var(--v-muted); font-size: var(--v-size); }
    .model b { color: var(--v-ink); font-weight: 600; }
  `;
  static override properties = { model: { attribute: false }, name: {}, lead: {}, waits: { type: Boolean } };
  /** The model that runs or loads, if it is one of the list. */
  declare model: CatalogueModel | null;
  /** The name of any other model. */
  declare name: string;
  /** A sentence about the page, in place of the usual one. */
  declare lead: string;
  /** True until a model is ready. */
  declare waits: boolean;

  constructor() {
    super();
    this.model = null;
    this.name = '';
    this.lead = '';
    this.waits = true;
  }

  override render() {
    const { model, name, lead, waits } = this;
    const about = model ? html`<span aria-hidden="true"> · </span>${aboutOf(model, language())}` : nothing;
    return html`<p data-testid="lead">${lead || pageWords().catalogue.lead}</p>
      ${waits ? nothing : html`<p class="model" dir="auto" data-testid="model-in-words"><span><b>${model?.name ?? name}</b>${about}</span></p>`}`;
  }
}

if (!customElements.get('vivace-welcome')) customElements.define('vivace-welcome', VivaceWelcome);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-welcome': VivaceWelcome;
  }
}
