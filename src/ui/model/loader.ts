// <vivace-loader>: the progress of a load in bytes, speed and time left, or the reason for a failure with buttons for
// what to do next. Fires `vivace-cancel-load`, and `vivace-load-offer` with the offer that the reader takes.

import { css, html, nothing } from 'lit';
import type { EngineLoadProgress } from '../../engine/engine';
import { WordedElement } from '../../words/worded_element';
import { words } from '../../words/words';
import type { Advice, Offer } from '../shared/advice';
import { renderDetail } from '../shared/advice_detail';
import { barStyles, describeProgress, describeWait, renderBar } from '../shared/load_bar';
import { sharedStyles } from '../shared/shared_styles';

/** The wait for another tab after which the reader may go on without that tab. */
const ALONE_AFTER_MS = 5000;

export type LoadState =
  | { kind: 'loading'; progress: EngineLoadProgress | null }
  | { kind: 'canceled'; offers: readonly Offer[] }
  /** `code`: that of the error, or ''. */
  | { kind: 'failed'; advice: Advice; code?: string }
  | { kind: 'ready' };

export class VivaceLoader extends WordedElement {
  static override styles = [
    sharedStyles,
    barStyles,
    css`
      /* What stands below keeps its place while the words change, and when the model is ready. */
      :host { display: block; width: 100%; min-height: var(--v-room); max-width: 480px; margin: 0 auto 14px; font: 400 var(--v-size) / 1.45 var(--v-font); text-align: start; color: var(--v-ink); }
      .row { display: flex; align-items: center; gap: 12px; font-variant-numeric: tabular-nums; }
      .line { flex: 1; min-width: 0; }
      .line p { margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      b { font-weight: 600; }
      .bytes { min-height: 1lh; color: var(--v-muted); }
      progress { display: block; width: 100%; margin-top: 7px; }
      .advice { border-inline-start: 3px solid var(--v-danger); padding: 2px 0 2px 14px; font-size: var(--v-size-reading); overflow-wrap: anywhere; }
      .advice p { margin: 0 0 4px; }
      .advice strong { font-weight: 600; }
      .offers { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 12px; }
    `,
  ];
  static override properties = { state: { attribute: false }, name: {} };
  declare state: LoadState;
  /** The model's name, if people know it by one. */
  declare name: string;

  constructor() {
    super();
    this.state = { kind: 'loading', progress: null };
    this.name = '';
  }

  protected override willUpdate(): void {
    this.toggleAttribute('ready', this.state.kind === 'ready');
  }

  override render() {
    const { state } = this;
    switch (state.kind) {
      case 'ready':
        return nothing;
      case 'loading':
        return this.renderProgress(state.progress);
      case 'canceled':
        return html`<div class="box" data-testid="load-progress" data-state="canceled">
          <p>${words().load.canceled}</p>
          ${this.renderOffers(state.offers)}
        </div>`;
      case 'failed':
        return html`<div class="advice" data-testid="load-progress" data-state="error" role="alert">
          <p><strong>${state.advice.what}</strong></p>
          <p>${state.advice.next}</p>
          ${renderDetail(state.advice)}
          ${this.renderOffers(state.advice.offers)}
        </div>`;
    }
  }

  private renderProgress(progress: EngineLoadProgress | null) {
    const p = progress ?? { stage: 'open', loadedBytes: 0, totalBytes: 0, bytesPerSecond: null, secondsLeft: null };
    const text = words().load;
    const wait = describeWait(p);
    const mayGoOn = p.goOnAlone && (p.waitsMs ?? 0) >= ALONE_AFTER_MS;
    // All bytes are here: what is left is their way to the GPU, and the kernels.
    const stage = p.stage === 'weights' && p.totalBytes > 0 && p.loadedBytes >= p.totalBytes ? 'compile' : p.stage;
    return html`<div data-testid="load-progress" data-state="loading" data-stage=${p.stage}>
      <div class="row">
        <div class="line"><p role="status">${this.name ? html`<b>${this.name}</b> · ` : nothing}${wait ? text.otherTab : text[stage]}</p><p class="bytes">${wait || describeProgress(p)}</p></div>
        ${mayGoOn ? html`<button class="button" data-testid="go-on-alone" @click=${() => p.goOnAlone?.()}>${text.alone}</button>` : nothing}
        <button class="button" data-testid="cancel-load" @click=${() => this.fire('vivace-cancel-load')}>${text.cancel}</button>
      </div>
      ${renderBar(progress)}
    </div>`;
  }

  private renderOffers(offers: readonly Offer[]) {
    return html`<div class="offers">
      ${offers.map(
        (offer, i) => html`<button class="button ${i === 0 ? 'primary' : ''}" data-testid="load-${offer}"
          @click=${() => this.fire('vivace-load-offer', offer)}>${words().offers[offer]}</button>`,
      )}
      <slot></slot>
    </div>`;
  }

  private fire(name: string, detail?: Offer): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

if (!customElements.get('vivace-loader')) customElements.define('vivace-loader', VivaceLoader);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-loader': VivaceLoader;
  }
}
