// <vivace-models>: the dialog that chooses a model: one of the page's list, an address, files, or another model kept
// in this browser. Opened by show(). Fires `vivace-model` with a ChosenModel and closes,
// `vivace-cancel-load`, or `vivace-use-server`, whose listener fills the slot `server`.

import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { type CachedModel, cacheUsage, type Engine } from '../../engine/engine';
import { pageWords } from '../../words/page_words';
import { WordedElement } from '../../words/worded_element';
import type { ModelOffer } from '../catalogue/catalogue_list';
import '../catalogue/delete_model';
import type { Deleted } from '../catalogue/delete_model';
import { FollowOffers } from '../catalogue/follow_offers';
import type { Offers } from '../catalogue/offers';
import { renderDetail } from '../shared/advice_detail';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';
import './kept_prompts';
import type { VivaceKeptPrompts } from './kept_prompts';
import { readModelAddress, showAddress } from './model_address';
import { describeKept, describeUsage, describeUse } from './model_words';
import { modelsStyles } from './models_styles';
import { hubOf } from './page_options';

/** Detail of `vivace-model`. */
export interface ChosenModel {
  location: string | File[];
  /** Ask the network for a new version, even when the kept model is complete. */
  asks: boolean;
}

export class VivaceModels extends WordedElement {
  static override styles = [sharedStyles, modelsStyles];
  static override properties = {
    offers: { attribute: false },
    engine: { attribute: false },
    usage: { state: true },
    complaint: { state: true },
    deleted: { state: true },
  };
  /** The models that the page offers, and what is known of them. */
  declare offers: Offers | null;
  /** The engine that can measure this GPU, or null. */
  declare engine: Engine | null;
  declare private usage: Awaited<ReturnType<typeof cacheUsage>>;
  declare private complaint: string;
  /** The newest deletion. */
  declare private deleted: Deleted | null;

  constructor() {
    super();
    new FollowOffers(this);
    this.offers = null;
    this.engine = null;
    this.usage = null;
    this.complaint = '';
    this.deleted = null;
  }

  /** Opens the dialog over the page. Escape closes it and returns the focus to where it was. */
  show(): void {
    this.complaint = '';
    this.deleted = null;
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
    void this.refresh();
  }

  close(): void {
    this.renderRoot.querySelector('dialog')?.close();
  }

  /** Reads the list of kept models anew. */
  async refresh(): Promise<void> {
    const prompts = this.renderRoot.querySelector<VivaceKeptPrompts>('vivace-kept-prompts');
    const [usage] = await Promise.all([cacheUsage(), this.offers?.readKept(), prompts?.refresh()]);
    this.usage = usage;
  }

  override render() {
    const text = pageWords().models;
    return html`<dialog aria-labelledby="title" data-testid="models" @click=${this.closeOutside} @vivace-deleted=${this.onDeleted}>
      <div class="inside">
        <header>
          <h2 id="title">${text.title}</h2>
          <button class="icon" aria-label=${text.close} title=${text.close} data-testid="close-models" @click=${this.close}>${icons.close}</button>
        </header>
        <vivace-catalogue .offers=${this.offers} .engine=${this.engine} @vivace-offer=${this.onOffer}></vivace-catalogue>
        ${this.renderAddress()} ${this.renderFiles()}
        <slot name="server">
          <section>
            <h3>${text.server}</h3>
            <p class="help">${text.serverHelp}</p>
            <button class="button use-server" data-testid="use-server" @click=${this.useServer}>${text.useServer}</button>
          </section>
        </slot>
        ${this.renderKept()}
        ${this.renderDeleted()}
      </div>
    </dialog>`;
  }

  private renderAddress() {
    const text = pageWords().models;
    return html`<form @submit=${this.loadAddress} novalidate>
      <label for="address">${text.address}</label>
      <div class="row">
        <input id="address" data-testid="model-address" type="text" inputmode="url" dir="ltr" autocomplete="off" autocapitalize="off"
          spellcheck="false" placeholder="owner/name" aria-invalid=${this.complaint !== ''} aria-describedby="address-help"
          @input=${() => {
            this.complaint = '';
          }} />
        <button class="button primary" data-testid="load-address">${text.load}</button>
      </div>
      <p id="address-help" class=${this.complaint ? 'complaint' : 'help'} role=${this.complaint ? 'alert' : nothing} data-testid="address-help">
        ${this.complaint || text.addressHelp}
      </p>
    </form>`;
  }

  private renderFiles() {
    const text = pageWords().models;
    return html`<section>
      <h3>${text.files} ${this.renderRunning(null)}</h3>
      <div class="row wrap">
        <label class="button file">${text.openFiles}<input type="file" data-testid="open-files" multiple accept=".gguf,.safetensors,.json,.jinja" @change=${this.loadFiles} /></label>
        <label class="button file">${text.openFolder}<input type="file" data-testid="open-folder" webkitdirectory @change=${this.loadFiles} /></label>
      </div>
      <p class="help">${text.filesHelp}</p>
    </section>`;
  }

  private renderKept() {
    const { offers } = this;
    const text = pageWords().models;
    const kept = offers?.kept?.filter(({ location }) => !offers.find(location)) ?? null;
    return html`<section aria-labelledby="kept-title">
      <h3 id="kept-title" tabindex="-1">${text.kept}</h3>
      ${
        offers?.kept?.length !== 0
          ? html`<ul data-testid="kept">${repeat(
              kept ?? [],
              ({ location }) => location,
              (model) => this.renderModel(model),
            )}</ul>`
          : html`<p class="help" data-testid="kept-none">${text.noneKept}</p>`
      }
      ${offers?.kept?.length ? html`<p class="help" data-testid="kept-total">${describeUsage(offers.kept, this.usage)}</p>` : nothing}
      <vivace-kept-prompts @vivace-prompts-deleted=${this.onPromptsDeleted}></vivace-kept-prompts>
    </section>`;
  }

  private renderModel(model: CachedModel) {
    const { location, name } = model;
    const text = pageWords().models;
    return html`<li data-testid="kept-model" data-complete=${model.isComplete}>
      <div class="what">
        <strong>${name}</strong> ${this.renderRunning(location)}
        <span class="address" title=${location}><bdi dir="ltr">${showAddress(location, document.baseURI)}</bdi></span>
        <span>${describeKept(model)} · ${describeUse(model.usedAt, Date.now())}</span>
      </div>
      <div class="row">
        <button class="button" data-testid="load-kept" aria-label=${text.loadOf(name)} @click=${() => this.choose(location)}>${text.load}</button>
        ${
          model.isComplete
            ? html`<button class="button" data-testid="update" title=${text.updateHelp}
                aria-label=${text.updateOf(name)} @click=${() => this.choose(location, true)}>${text.update}</button>`
            : nothing
        }
        <vivace-delete-model .model=${model} .name=${name}></vivace-delete-model>
      </div>
    </li>`;
  }

  /** The mark of a running model. `location` null: opened files. */
  private renderRunning(location: string | null) {
    const running = this.offers?.running ?? null;
    const isRunning = location === null ? running !== null && typeof running !== 'string' : running === location;
    return isRunning ? html`<span class="running" data-testid="running">${pageWords().models.running}</span>` : nothing;
  }

  /** A deletion is seen in the list, and told to screen readers. A failure is told to everybody. */
  private renderDeleted() {
    const text = pageWords().catalogue;
    const { name = '', failure = null } = this.deleted ?? {};
    const said = failure === null ? name && text.deleted(name) : text.notDeleted(name);
    return html`<p class=${failure === null ? 'unseen' : 'complaint'} role="status">${said}</p>
      ${renderDetail({ detail: failure ?? '' })}`;
  }

  private loadAddress = (event: Event) => {
    event.preventDefault();
    const field = this.renderRoot.querySelector<HTMLInputElement>('#address')!;
    const read = readModelAddress(field.value, document.baseURI, hubOf(location.search, document.baseURI));
    if ('location' in read) {
      field.value = '';
      this.choose(read.location);
      return;
    }
    this.complaint = read.complaint;
    field.focus();
  };

  private loadFiles = (event: Event) => {
    const input = event.target as HTMLInputElement;
    const files = [...(input.files ?? [])];
    input.value = '';
    if (files.length > 0) this.choose(files);
  };

  private choose(location: ChosenModel['location'], asks = false): void {
    // Without this request the browser may delete stored models when it is short of space.
    const isForeign = typeof location === 'string' && new URL(location).origin !== new URL(document.baseURI).origin;
    if (isForeign) void navigator.storage?.persist?.().catch(() => {});
    this.close();
    const detail: ChosenModel = { location, asks };
    this.dispatchEvent(new CustomEvent('vivace-model', { detail, bubbles: true, composed: true }));
  }

  private onOffer = (event: CustomEvent<ModelOffer>) => {
    const { action, location } = event.detail;
    if (action === 'open') this.choose(location);
    else this.dispatchEvent(new CustomEvent('vivace-cancel-load', { bubbles: true, composed: true }));
  };

  private onDeleted = async (event: CustomEvent<Deleted>) => {
    this.deleted = event.detail;
    await this.refresh();
    this.renderRoot.querySelector<HTMLElement>('#kept-title')?.focus();
  };

  private onPromptsDeleted = async () => {
    this.usage = await cacheUsage();
    this.renderRoot.querySelector<HTMLElement>('#kept-title')?.focus(); // the button is gone
  };

  private useServer = () => void this.dispatchEvent(new CustomEvent('vivace-use-server'));

  private closeOutside = (event: Event) => {
    if ((event.target as Element).localName === 'dialog') this.close();
  };
}

if (!customElements.get('vivace-models')) customElements.define('vivace-models', VivaceModels);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-models': VivaceModels;
  }
}
