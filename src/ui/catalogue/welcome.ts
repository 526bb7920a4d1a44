// <vivace-welcome>: what the page is, in one line, and the model in words, for the first screen. Small, because it is
// there at the first paint.

import { css, html, nothing } from 'lit';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import { aboutOf, type CatalogueModel } from './catalogue';

class VivaceWelcome extends WordedElement {
  static override styles = css`
    :host { display: block; max-width: 660px; margin: 0 auto 26px; font: 400 var(--v-size-reading) / 1.5 var(--v-font); }
    p { margin: 0; text-wrap: balance; }
    .model { min-height: 1.5em; margin-top: 6px; color: var(--v-muted); font-size: var(--v-size); }
    .model b { color: var(--v-ink); font-weight: 600; }
  `;
  static override properties = { model: { attribute: false }, name: {} };
  /** The model that runs or loads, if it is one of the list. */
  declare model: CatalogueModel | null;
  /** The name of any other model. */
  declare name: string;

  constructor() {
    super();
    this.model = null;
    this.name = '';
  }

  override render() {
    const { model, name } = this;
    const about = model ? html`<span aria-hidden="true"> · </span>${aboutOf(model, language())}` : nothing;
    return html`<p data-testid="lead">${pageWords().catalogue.lead}</p>
      <p class="model" dir="auto" data-testid="model-in-words"><b>${model?.name ?? name}</b>${about}</p>`;
  }
}

if (!customElements.get('vivace-welcome')) customElements.define('vivace-welcome', VivaceWelcome);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-welcome': VivaceWelcome;
  }
}
