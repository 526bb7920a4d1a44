// <vivace-models>: the dialog that chooses a model: the storyteller, an address, files, or a model kept in this
// browser. Opened by show(). Fires `vivace-model` with a ChosenModel and closes. `running` marks the running model.

import { html, LitElement, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import {
  type CachedModel,
  cacheUsage,
  deleteCachedModel,
  listCachedModels,
  type ModelLocation,
} from '../../engine/engine';
import { formatSize } from '../../shared/format';
import { icons } from '../shared/icons';
import { sharedStyles } from '../shared/shared_styles';
import { readModelAddress, showAddress } from './model_address';
import { describeKept, describeUsage, describeUse } from './model_words';
import { modelsStyles } from './models_styles';
import { DEFAULT_MODEL, hubOf } from './page_options';

/** Detail of `vivace-model`. */
export interface ChosenModel {
  location: string | File[];
  /** Ask the network for a new version, even when the kept model is complete. */
  asks: boolean;
}

export class VivaceModels extends LitElement {
  static override styles = [sharedStyles, modelsStyles];
  static override properties = {
    running: { attribute: false },
    kept: { state: true },
    usage: { state: true },
    complaint: { state: true },
    asking: { state: true },
    said: { state: true },
  };
  /** The running model, in the form given to the engine. */
  declare running: ModelLocation | null;
  /** Null until the list is read. */
  declare private kept: CachedModel[] | null;
  declare private usage: Awaited<ReturnType<typeof cacheUsage>>;
  declare private complaint: string;
  /** Location of the model whose deletion waits for confirmation. */
  declare private asking: string | null;
  /** The newest announcement for screen readers. */
  declare private said: string;

  constructor() {
    super();
    this.running = null;
    this.kept = null;
    this.usage = null;
    this.complaint = '';
    this.asking = null;
    this.said = '';
  }

  /** Opens the dialog over the page. Escape closes it and returns the focus to where it was. */
  show(): void {
    this.complaint = '';
    this.asking = null;
    this.said = '';
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
    void this.refresh();
  }

  close(): void {
    this.renderRoot.querySelector('dialog')?.close();
  }

  /** Reads the list of kept models anew. */
  async refresh(): Promise<void> {
    const [kept, usage] = await Promise.all([listCachedModels().catch(() => []), cacheUsage()]);
    this.kept = kept;
    this.usage = usage;
  }

  override render() {
    return html`<dialog aria-labelledby="title" data-testid="models" @click=${this.closeOutside}>
      <div class="inside">
        <header>
          <h2 id="title">Models</h2>
          <button class="icon" aria-label="Close" title="Close" data-testid="close-models" @click=${this.close}>${icons.close}</button>
        </header>
        ${this.renderStoryteller()} ${this.renderAddress()} ${this.renderFiles()} ${this.renderKept()}
        <p class="unseen" role="status">${this.said}</p>
      </div>
    </dialog>`;
  }

  private renderStoryteller() {
    const location = new URL(DEFAULT_MODEL, document.baseURI).href;
    return html`<section class="card" data-testid="storyteller">
      <div>
        <h3>Storyteller ${this.renderRunning(location)}</h3>
        <p>Tells short stories. 15 million parameters, 15 MB; it comes with this page.</p>
      </div>
      <button class="button" @click=${() => this.choose(location)}>Load</button>
    </section>`;
  }

  private renderAddress() {
    return html`<form @submit=${this.loadAddress} novalidate>
      <label for="address">A Hugging Face repository or an address</label>
      <div class="row">
        <input id="address" data-testid="model-address" type="text" inputmode="url" dir="ltr" autocomplete="off" autocapitalize="off"
          spellcheck="false" placeholder="owner/name" aria-invalid=${this.complaint !== ''} aria-describedby="address-help"
          @input=${() => {
            this.complaint = '';
          }} />
        <button class="button primary" data-testid="load-address">Load</button>
      </div>
      <p id="address-help" class=${this.complaint ? 'complaint' : 'help'} role=${this.complaint ? 'alert' : nothing} data-testid="address-help">
        ${this.complaint || 'owner/name, owner/name@revision, owner/name:Q4_K_M, owner/name/file.gguf, or any https address of a .gguf file or a folder.'}
      </p>
    </form>`;
  }

  private renderFiles() {
    return html`<section>
      <h3>Files of this machine ${this.renderRunning(null)}</h3>
      <div class="row wrap">
        <label class="button file">Open files…<input type="file" data-testid="open-files" multiple accept=".gguf,.safetensors,.json,.jinja" @change=${this.loadFiles} /></label>
        <label class="button file">Open a folder…<input type="file" data-testid="open-folder" webkitdirectory @change=${this.loadFiles} /></label>
      </div>
      <p class="help">A .gguf file, or a folder with config.json and safetensors. Both can be dropped anywhere on the page, too. They stay where they are.</p>
    </section>`;
  }

  private renderKept() {
    const { kept } = this;
    return html`<section aria-labelledby="kept-title">
      <h3 id="kept-title" tabindex="-1">Kept in this browser</h3>
      ${
        kept === null || kept.length > 0
          ? html`<ul data-testid="kept">${repeat(
              kept ?? [],
              ({ location }) => location,
              (model) => this.renderModel(model),
            )}</ul>`
          : html`<p class="help" data-testid="kept-none">Nothing yet. A model that is loaded from an address is kept here, where the browser allows it, and loads without a network then.</p>`
      }
      ${kept?.length ? html`<p class="help" data-testid="kept-total">${describeUsage(kept, this.usage)}</p>` : nothing}
    </section>`;
  }

  private renderModel(model: CachedModel) {
    const { location, name } = model;
    return html`<li data-testid="kept-model" data-complete=${model.isComplete}>
      <div class="what">
        <strong>${name}</strong> ${this.renderRunning(location)}
        <span class="address" title=${location}><bdi dir="ltr">${showAddress(location, document.baseURI)}</bdi></span>
        <span>${describeKept(model)} · ${describeUse(model.usedAt, Date.now())}</span>
      </div>
      ${
        this.asking === location
          ? html`<div class="row" role="group" aria-label="Delete ${name}?">
              <span>Delete ${formatSize(model.bytes)}?</span>
              <button class="button danger" data-testid="confirm-delete" @click=${() => this.delete(model)}>Delete</button>
              <button class="button" data-testid="keep" @click=${() => this.ask(null, location)}>Keep</button>
            </div>`
          : html`<div class="row">
              <button class="button" data-testid="load-kept" aria-label="Load ${name}" @click=${() => this.choose(location)}>Load</button>
              ${
                model.isComplete
                  ? html`<button class="button" data-testid="update" title="Asks whether there is a new version, and loads it"
                      aria-label="Update ${name}" @click=${() => this.choose(location, true)}>Update</button>`
                  : nothing
              }
              <button class="button" data-testid="delete" data-location=${location} aria-label="Delete ${name}" @click=${() => this.ask(location, location)}>Delete</button>
            </div>`
      }
    </li>`;
  }

  /** The mark of a running model. `location` null: opened files. */
  private renderRunning(location: string | null) {
    const isRunning =
      location === null ? this.running !== null && typeof this.running !== 'string' : this.running === location;
    return isRunning ? html`<span class="running" data-testid="running">running</span>` : nothing;
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

  /** Asks for confirmation of a deletion, or with null withdraws the question. The focus stays on the row. */
  private async ask(location: string | null, row: string): Promise<void> {
    this.asking = location;
    await this.updateComplete;
    const confirm = this.renderRoot.querySelector<HTMLElement>('[data-testid=confirm-delete]');
    const buttons = [...this.renderRoot.querySelectorAll<HTMLElement>('[data-testid=delete]')];
    (location === null ? buttons.find((button) => button.dataset.location === row) : confirm)?.focus();
  }

  private async delete({ location, name }: CachedModel): Promise<void> {
    this.asking = null;
    try {
      await deleteCachedModel(location);
      this.said = `${name} was deleted.`;
    } catch (error) {
      this.said = `${name} could not be deleted (${error instanceof Error ? error.message : error}). Try again.`;
    }
    await this.refresh();
    this.renderRoot.querySelector<HTMLElement>('#kept-title')?.focus();
  }

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
