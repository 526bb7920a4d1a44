// <vivace-loader>: the progress of a load in bytes, speed and time left, or the reason for a failure with buttons for
// what to do next. Fires `vivace-cancel-load`, and `vivace-load-offer` with the offer that the reader takes.

import { css, html, LitElement, nothing } from 'lit';
import type { LoadProgress } from '../../engine/engine';
import { type Advice, OFFER_LABELS, type Offer } from '../shared/advice';
import { sharedStyles } from '../shared/shared_styles';
import { describeProgress } from './model_words';

const STAGES: Record<LoadProgress['stage'], string> = {
  open: 'Opening the model',
  weights: 'Loading the weights',
  compile: 'Preparing the kernels',
  ready: 'Ready',
};

export type LoadState =
  | { kind: 'loading'; progress: LoadProgress | null }
  | { kind: 'canceled'; offers: readonly Offer[] }
  | { kind: 'failed'; advice: Advice }
  | { kind: 'ready' };

export class VivaceLoader extends LitElement {
  static override styles = [
    sharedStyles,
    css`
      :host { display: block; width: 100%; max-width: 480px; margin: 0 auto 26px; font: 400 14px / 1.45 var(--v-font); text-align: start; color: var(--v-ink); }
      .line { display: flex; align-items: baseline; gap: 12px; font-variant-numeric: tabular-nums; }
      .bytes { flex: 1; color: var(--v-muted); text-align: end; }
      .row { display: flex; align-items: center; gap: 12px; margin-top: 7px; }
      progress { flex: 1; height: 5px; appearance: none; border: 0; border-radius: 3px; overflow: hidden; background: var(--v-line); }
      progress::-webkit-progress-bar { background: var(--v-line); }
      progress::-webkit-progress-value { background: var(--v-accent); transition: inline-size 160ms linear; }
      progress::-moz-progress-bar { background: var(--v-accent); }
      progress:indeterminate { background: linear-gradient(90deg, var(--v-line), var(--v-accent), var(--v-line)) 0 0 / 200% 100%; animation: pass 1.4s linear infinite; }
      progress:indeterminate::-webkit-progress-bar { background: none; }
      @keyframes pass { from { background-position: 200% 0; } to { background-position: 0 0; } }
      @media (forced-colors: active) {
        progress { height: 8px; border: 1px solid; }
        progress::-webkit-progress-value { background: Highlight; forced-color-adjust: none; }
      }
      .advice { border-inline-start: 3px solid var(--v-danger); padding: 2px 0 2px 14px; font-size: 15px; overflow-wrap: anywhere; }
      .advice p { margin: 0 0 4px; }
      .advice strong { font-weight: 600; }
      .offers { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 12px; }
    `,
  ];
  static override properties = { state: { attribute: false } };
  declare state: LoadState;

  constructor() {
    super();
    this.state = { kind: 'loading', progress: null };
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
          <p>Loading was canceled. What has arrived from an address is kept where this browser allows it, and loading goes on from there.</p>
          ${this.renderOffers(state.offers)}
        </div>`;
      case 'failed':
        return html`<div class="advice" data-testid="load-progress" data-state="error" role="alert">
          <p><strong>${state.advice.what}</strong></p>
          <p>${state.advice.next}</p>
          ${this.renderOffers(state.advice.offers)}
        </div>`;
    }
  }

  private renderProgress(progress: LoadProgress | null) {
    const p = progress ?? { stage: 'open', loadedBytes: 0, totalBytes: 0, bytesPerSecond: null, secondsLeft: null };
    // A bar without a value is indeterminate: the length of the work is unknown.
    const known = p.totalBytes > 0 && p.stage !== 'compile';
    return html`<div data-testid="load-progress" data-state="loading" data-stage=${p.stage}>
      <div class="line"><span role="status">${STAGES[p.stage]}</span><span class="bytes">${describeProgress(p)}</span></div>
      <div class="row">
        ${
          known
            ? html`<progress max=${p.totalBytes} .value=${Math.min(p.loadedBytes, p.totalBytes)} aria-label="Model loaded"></progress>`
            : html`<progress aria-label=${STAGES[p.stage]}></progress>`
        }
        <button class="button" data-testid="cancel-load" @click=${() => this.fire('vivace-cancel-load')}>Cancel</button>
      </div>
    </div>`;
  }

  private renderOffers(offers: readonly Offer[]) {
    return html`<div class="offers">
      ${offers.map(
        (offer, i) => html`<button class="button ${i === 0 ? 'primary' : ''}" data-testid="load-${offer}"
          @click=${() => this.fire('vivace-load-offer', offer)}>${OFFER_LABELS[offer]}</button>`,
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
