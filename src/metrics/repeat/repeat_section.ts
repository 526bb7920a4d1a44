// <vivace-repeat>: the newest run again, five times with an empty cache, and what the spread of its figures allows to
// say. Later measurements of the same run, such as with another attention, stand beside the earlier ones.
// Fires `vivace-tuning` with {done, total, isRepeat} while it measures and null at its end, so that questions wait.

import { html, nothing, type PropertyValues } from 'lit';
import type { Engine, EngineGenerateOptions } from '../../engine/engine';
import { sayError } from '../../words/error_words';
import { panelWords } from '../../words/panel_words';
import { WordedElement } from '../../words/worded_element';
import { type RunData, runLabel } from '../run/run_data';
import { measure } from './measure';
import { repeatStyles } from './repeat_styles';
import { MOST_SERIES, renderSeries, type Series } from './repeat_table';

const TIMES = 5;
/** Most tokens of each run. */
const MOST_TOKENS = 256;
/** Settings of an answer that can take turns with the current ones. */
const OTHERS = ['none', 'one-step'] as const;
type Other = (typeof OTHERS)[number];

/** The options of sampling that are repeated, apart from the seed. */
const SAMPLING = [
  'temperature',
  'topK',
  'topP',
  'minP',
  'repetitionPenalty',
  'presencePenalty',
  'frequencyPenalty',
] as const;

type State =
  | { kind: 'idle' }
  | { kind: 'running'; abort: AbortController; done: number; total: number }
  | { kind: 'canceled' }
  | { kind: 'failed'; message: string };

class VivaceRepeat extends WordedElement {
  static override styles = repeatStyles;
  static override properties = {
    engine: { attribute: false },
    run: { attribute: false },
    busy: { type: Boolean },
    state: { state: true },
    series: { state: true },
    other: { state: true },
  };
  /** Null while no model is loaded. A new engine ends the measurement of the old one. */
  declare engine: Engine | null;
  /** The run to repeat. */
  declare run: RunData | null;
  /** True while something else occupies the GPU. */
  declare busy: boolean;
  declare state: State;
  /** The measurements of one prompt, oldest first. */
  declare series: readonly Series[];
  declare other: Other;
  /** The common settings of the series: prompt, length and sampling. */
  private of = '';

  constructor() {
    super();
    this.engine = null;
    this.run = null;
    this.busy = false;
    this.state = { kind: 'idle' };
    this.series = [];
    this.other = 'none';
  }

  cancel(): void {
    if (this.state.kind === 'running') this.state.abort.abort();
  }

  override render() {
    const { state, series } = this;
    const texts = panelWords().repeat;
    return html`<section>
      <h3>${texts.title}</h3>
      ${state.kind === 'running' ? this.renderProgress(state.done, state.total) : this.renderStart()}
      <p class="outcome ${state.kind}" role="status">${this.outcomeText()}</p>
      ${renderSeries(series)}
      ${series.length > 0 && state.kind !== 'running' ? html`<button data-testid="repeat-clear" @click=${this.clear}>${texts.clear}</button>` : nothing}
    </section>`;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('engine') && changed.get('engine') !== undefined) this.cancel();
  }

  private renderStart() {
    const texts = panelWords().repeat;
    const reason = this.whyNot();
    return html`<div class="start">
        <button data-testid="repeat" ?disabled=${reason !== null} title=${reason ?? texts.help} @click=${this.start}>${texts.start(TIMES)}</button>
        <label>${texts.against}
          <select data-testid="repeat-other" @change=${this.onOther}>
            ${OTHERS.map((other) => html`<option value=${other} ?selected=${other === this.other}>${texts.others[other]}</option>`)}
          </select>
        </label>
      </div>
      ${this.series.length === 0 ? html`<p class="note">${reason ?? texts.help}</p>` : nothing}`;
  }

  private renderProgress(done: number, total: number) {
    const texts = panelWords().repeat;
    return html`<div class="row" data-testid="repeat-progress" data-done=${done} data-total=${total}>
      <progress max=${total} .value=${done} aria-label=${texts.progress}></progress>
      <span class="count">${texts.count(Math.min(done + 1, total), total)}</span>
      <button data-testid="cancel-repeat" @click=${this.onCancel}>${texts.cancel}</button>
    </div>`;
  }

  /** The reason why nothing can be repeated now, or null. */
  private whyNot(): string | null {
    const { engine, run } = this;
    const texts = panelWords().repeat;
    if (!engine) return texts.noModel;
    if (run && !run.isEnded) return texts.running;
    if (!run?.promptIds?.length || run.gaps.length === 0) return texts.noRun;
    return this.busy ? texts.busy : null;
  }

  private outcomeText(): string {
    const { state } = this;
    if (state.kind === 'canceled') return panelWords().repeat.canceled;
    return state.kind === 'failed' ? state.message : '';
  }

  private readonly start = async () => {
    const { engine, run } = this;
    if (!engine || !run?.promptIds || this.whyNot() !== null || this.state.kind === 'running') return;
    const sampling = samplingOf(run);
    const tokens = Math.min(run.tokens.length, MOST_TOKENS);
    const abort = new AbortController();
    const label = runLabel(engine.info, null); // the run may be older than the model's last reload
    const labels = [label, `${label}, ${panelWords().repeat.others[this.other]}`];
    const settings = [sampling, { ...sampling, runAhead: 1 }].slice(0, this.other === 'none' ? 1 : 2);
    this.move({ kind: 'running', abort, done: 0, total: TIMES * settings.length });
    try {
      const series = await measure({
        ...{ engine, promptIds: run.promptIds, tokens, settings, times: TIMES, signal: abort.signal },
        onProgress: (done, total) => this.move({ kind: 'running', abort, done, total }),
      });
      this.keep(
        JSON.stringify([run.promptIds, tokens, sampling]),
        series.map((samples, i) => ({ label: labels[i] ?? '', samples })),
      );
      this.move({ kind: 'idle' });
    } catch (error) {
      const message = sayError(error).text || panelWords().repeat.failed;
      this.move(abort.signal.aborted ? { kind: 'canceled' } : { kind: 'failed', message });
    }
  };

  /** Adds series of the same run to the table, and begins another table for another run. */
  private keep(of: string, series: readonly Series[]): void {
    const before = this.of === of ? this.series : [];
    this.of = of;
    this.series = [...before, ...series].slice(-MOST_SERIES);
  }

  /** Enters a state and announces it. The focus moves from a button to the one that replaces it. */
  private move(state: State): void {
    const hadFocus = this.shadowRoot?.activeElement?.matches('[data-testid=repeat], [data-testid=cancel-repeat]');
    const swaps = (state.kind === 'running') !== (this.state.kind === 'running');
    this.state = state;
    const detail = state.kind === 'running' ? { done: state.done, total: state.total, isRepeat: true } : null;
    this.dispatchEvent(new CustomEvent('vivace-tuning', { detail, bubbles: true, composed: true }));
    if (!hadFocus || !swaps) return;
    // In a task of its own: until the panel has heard the event, the button waits for this measurement.
    setTimeout(() => this.renderRoot.querySelector<HTMLElement>('button:not(:disabled)')?.focus());
  }

  private readonly clear = () => {
    this.series = [];
    this.renderRoot.querySelector<HTMLElement>('[data-testid=repeat]')?.focus();
  };
  private readonly onCancel = () => this.cancel();
  private readonly onOther = ({ target }: Event) => {
    this.other = OTHERS.find((each) => each === (target as HTMLSelectElement).value) ?? 'none';
  };
}

/** The sampling of a run, with its seed. Where it is not known, the likeliest tokens. */
function samplingOf({ origin: { sampling }, seed }: RunData): EngineGenerateOptions {
  if (!sampling) return { temperature: 0, seed: seed ?? 0 };
  const given = SAMPLING.flatMap((key) => (typeof sampling[key] === 'number' ? [[key, sampling[key]] as const] : []));
  return { ...Object.fromEntries(given), seed: seed ?? 0 };
}

if (!customElements.get('vivace-repeat')) customElements.define('vivace-repeat', VivaceRepeat);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-repeat': VivaceRepeat;
  }
}
