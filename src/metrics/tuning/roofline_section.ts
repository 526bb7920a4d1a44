// <vivace-roofline>: a button that lets the engine measure how fast this GPU reads memory, the bound for every token.
// Fires `vivace-roofline`, not bubbling, with the result, or with null when another GPU takes over.

import { html, nothing, type PropertyValues } from 'lit';
import type { Engine, EngineInfo, Roofline } from '../../engine/engine';
import { sayError } from '../../words/error_words';
import { panelWords } from '../../words/panel_words';
import { WordedElement } from '../../words/worded_element';
import { formatSpeed } from '../shared/figure_format';
import { tuneStyles } from './tune_styles';

type State = { kind: 'idle' | 'running' } | { kind: 'failed'; message: string } | { kind: 'done'; roofline: Roofline };

class VivaceRoofline extends WordedElement {
  static override styles = tuneStyles;
  static override properties = {
    engine: { attribute: false },
    info: { attribute: false },
    busy: { type: Boolean },
    state: { state: true },
  };
  /** Null while no model is loaded. */
  declare engine: Engine | null;
  declare info: EngineInfo | null;
  /** True while an answer or a tuning occupies the GPU. */
  declare busy: boolean;
  declare state: State;

  constructor() {
    super();
    this.engine = null;
    this.info = null;
    this.busy = false;
    this.state = { kind: 'idle' };
  }

  override render() {
    const { state } = this;
    if (this.info && this.info.backend !== 'webgpu') return nothing;
    const reason = this.whyNot();
    const text = panelWords().roofline;
    return html`<button class="tune" data-testid="roofline" ?disabled=${reason !== null || state.kind === 'running'}
        title=${reason ?? text.help} @click=${this.start}>${state.kind === 'running' ? text.running : text.start}</button>
      <p class="note" role="status" data-testid="roofline-result">${this.outcome()}</p>`;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('info');
    if (!before || !this.info || before.adapter === this.info.adapter) return;
    this.state = { kind: 'idle' };
    this.tell(null);
  }

  private whyNot(): string | null {
    const { noModel, busy } = panelWords().roofline;
    if (!this.engine) return noModel;
    return this.busy ? busy : null;
  }

  private outcome(): string {
    const { state } = this;
    if (state.kind === 'failed') return state.message;
    if (state.kind !== 'done') return '';
    const { readGBps, clock } = state.roofline;
    return panelWords().roofline.result(formatSpeed(readGBps), clock);
  }

  private readonly start = async () => {
    const { engine } = this;
    if (!engine || this.state.kind === 'running') return;
    this.state = { kind: 'running' };
    try {
      const roofline = await engine.roofline();
      this.state = { kind: 'done', roofline };
      this.tell(roofline);
    } catch (error) {
      const message = sayError(error).text || panelWords().roofline.failed;
      this.state = engine === this.engine ? { kind: 'failed', message } : { kind: 'idle' };
    }
  };

  private tell(roofline: Roofline | null): void {
    this.dispatchEvent(new CustomEvent('vivace-roofline', { detail: roofline }));
  }
}

if (!customElements.get('vivace-roofline')) customElements.define('vivace-roofline', VivaceRoofline);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-roofline': VivaceRoofline;
  }
}
