// <vivace-tune>: the attention in use and its reason, and a button that lets the engine tune this GPU.
// Fires `vivace-tuning` with {done, total} while the tuner runs and null at its end, and, not bubbling, `vivace-tuned`
// with the outcome.

import { html, nothing, type PropertyValues } from 'lit';
import type { AttentionChoice, Engine, EngineInfo, TuneOutcome, TuneResult } from '../../engine/engine';
import { saveText } from '../../shared/save_text';
import { panelWords } from '../../words/panel_words';
import { sayReason } from '../../words/reasons';
import { WordedElement } from '../../words/worded_element';
import { tuneToJson } from '../run/export';
import { renderDecode, renderPrefill, renderProducts } from './tune_parts';
import { tuneStyles } from './tune_styles';
import { tuneTables } from './tune_table';
import { keptText, lastMeasured, tuneFailure, whyNotTune } from './tune_texts';

interface TuneProgress {
  done: number;
  /** 0 until the first candidate is measured. */
  total: number;
}

type TuneState =
  | { kind: 'idle' }
  | ({ kind: 'running'; abort: AbortController } & TuneProgress)
  | ({ kind: 'canceled' } & TuneProgress)
  | { kind: 'failed'; message: string }
  | { kind: 'done'; outcome: TuneOutcome };

class VivaceTune extends WordedElement {
  static override styles = tuneStyles;
  static override properties = {
    engine: { attribute: false },
    info: { attribute: false },
    attention: { attribute: false },
    answering: { type: Boolean },
    state: { state: true },
    results: { state: true },
  };
  /** Null while no model is loaded. A new engine ends the tuning of the old one and clears its tables. */
  declare engine: Engine | null;
  declare info: EngineInfo | null;
  /** The attention in use, as last reported. */
  declare attention: AttentionChoice | null;
  /** True while an answer occupies the GPU. */
  declare answering: boolean;
  declare state: TuneState;
  declare results: TuneResult[];

  constructor() {
    super();
    this.engine = null;
    this.info = null;
    this.attention = null;
    this.answering = false;
    this.state = { kind: 'idle' };
    this.results = [];
  }

  cancel(): void {
    if (this.state.kind === 'running') this.state.abort.abort();
  }

  override render() {
    const { attention, state, results } = this;
    return html`<section>
      <h3>${panelWords().tuning.title}</h3>
      ${attention ? renderChoice(attention) : nothing}
      ${state.kind === 'running' ? this.renderProgress(state) : this.renderStart()}
      <p class="outcome ${state.kind}" role="status">${this.outcomeText()}</p>
      ${tuneTables(results, 'prefill').map(renderPrefill)}
      ${renderDecode(tuneTables(results, 'decode'))}
      ${renderProducts(tuneTables(results, 'product'))}
    </section>`;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('engine') || changed.get('engine') === undefined) return;
    this.cancel();
    this.results = [];
    if (this.state.kind !== 'idle') this.move({ kind: 'idle' });
  }

  private renderStart() {
    const { info, answering } = this;
    const reason = whyNotTune({ hasModel: this.engine !== null, info, isAnswering: answering });
    const text = panelWords().tuning;
    const what = text.help;
    return html`<div class="start">
      <button class="tune" data-testid="tune" ?disabled=${reason !== null} title=${reason ?? what} @click=${this.start}>
        ${text.start}
      </button>
      ${
        this.state.kind === 'done'
          ? html`<button class="tune" data-testid="tune-json" title=${text.saveJson} @click=${this.saveJson}>JSON</button>`
          : nothing
      }
      ${this.results.length === 0 ? html`<p class="note">${answering ? what : (reason ?? what)}</p>` : nothing}
    </div>`;
  }

  private renderProgress({ done, total, abort }: Extract<TuneState, { kind: 'running' }>) {
    const last = this.results.at(-1);
    const text = panelWords().tuning;
    const count = total > 0 ? text.count(done, total) : text.prepares;
    return html`<div class="progress" data-testid="tune-progress" data-done=${done} data-total=${total}>
      <div class="row">
        ${
          total > 0
            ? html`<progress max=${total} .value=${done} aria-label=${text.measured}></progress>`
            : html`<progress aria-label=${text.preparing}></progress>`
        }
        <span class="count">${count}</span>
        <button class="tune" data-testid="cancel-tune" @click=${this.onCancel}>
          ${abort.signal.aborted ? text.cancels : text.cancel}
        </button>
      </div>
      <p class="note last">${last ? lastMeasured(last) : text.compiling}</p>
    </div>`;
  }

  private outcomeText(): string {
    const { state } = this;
    const text = panelWords().tuning;
    switch (state.kind) {
      case 'idle':
      case 'running':
        return '';
      case 'canceled':
        return state.total > 0 ? text.canceledAfter(state.done, state.total) : text.canceled;
      case 'failed':
        return state.message;
      case 'done':
        return keptText(state.outcome);
      default:
        throw state satisfies never;
    }
  }

  private start = async () => {
    const { engine } = this;
    if (!engine || this.state.kind === 'running') return;
    const abort = new AbortController();
    const { signal } = abort;
    const isCurrent = () => this.state.kind === 'running' && this.state.abort === abort;
    let progress: TuneProgress = { done: 0, total: 0 };
    this.results = [];
    this.move({ kind: 'running', abort, ...progress });
    const onResult = (result: TuneResult, done: number, total: number) => {
      if (!isCurrent()) return;
      progress = { done, total };
      this.results = [...this.results, result];
      this.move({ kind: 'running', abort, ...progress });
    };
    try {
      const outcome = await engine.tune({ signal, onResult });
      if (!isCurrent()) return;
      this.results = outcome.results;
      this.dispatchEvent(new CustomEvent('vivace-tuned', { detail: outcome }));
      this.move({ kind: 'done', outcome });
    } catch (error) {
      if (!isCurrent()) return;
      this.move(signal.aborted ? { kind: 'canceled', ...progress } : { kind: 'failed', message: tuneFailure(error) });
    }
  };

  /** Enters a state and announces it. The focus moves from a button to the one that replaces it. */
  private move(state: TuneState): void {
    const hadFocus = this.shadowRoot?.activeElement?.matches('[data-testid=tune], [data-testid=cancel-tune]');
    const swaps = (state.kind === 'running') !== (this.state.kind === 'running');
    this.state = state;
    const detail: TuneProgress | null = state.kind === 'running' ? { done: state.done, total: state.total } : null;
    this.dispatchEvent(new CustomEvent('vivace-tuning', { detail, bubbles: true, composed: true }));
    if (!hadFocus || !swaps) return;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('button:not(:disabled)')?.focus());
  }

  private onCancel = () => {
    this.cancel();
    this.requestUpdate();
  };

  private saveJson = () => {
    if (this.state.kind !== 'done') return;
    saveText('vivace-attention.json', 'application/json', tuneToJson(this.state.outcome, this.info));
  };
}

function renderChoice({ prefill, decode, reason }: AttentionChoice) {
  const text = panelWords().tuning;
  return html`<dl>
      <div title=${text.prefillHelp}><dt>${text.prefill}</dt><dd data-figure="attention-prefill">${prefill}</dd></div>
      <div title=${text.decodeHelp}><dt>${text.decode}</dt><dd data-figure="attention-decode">${decode}</dd></div>
    </dl>
    <p class="note reason" data-figure="attention-reason">${sayReason(reason)}</p>`;
}

if (!customElements.get('vivace-tune')) customElements.define('vivace-tune', VivaceTune);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-tune': VivaceTune;
  }
}
