// <vivace-metrics>: the times of the newest run, live, beside pinned runs. Listens to engine events. Draws on the
// page's thread, seldom and only while visible, so that it does not disturb the worker that it measures.

import { html, nothing, type PropertyValues } from 'lit';
import type {
  AttentionChoice,
  Engine,
  EngineEvent,
  EngineInfo,
  Roofline,
  StepChoice,
  TuneOutcome,
} from '../../engine/engine';
import '../chart/chart_section';
import { saveText } from '../../shared/save_text';
import { panelWords } from '../../words/panel_words';
import { WordedElement } from '../../words/worded_element';
import { PIN_DASHES, type Pin, type PinLetter } from '../chart/picture';
import { runFileName, runToCsv, runToJson } from '../run/export';
import { DrawPacer } from '../shared/draw_pacer';
import { renderComparison } from './comparison_table';
import { knownOf, renderGroup, renderTiles } from './figure_lists';
import { figureGroups, headline, headlineNote } from './figures';
import { decodeStep } from './machine_figures';
import { panelStyles } from './panel_styles';
import { renderInvitation, renderToolbar } from './toolbar';
import '../repeat/repeat_section';
import '../tuning/roofline_section';
import { MARK } from '../run/run_data';
import type { RunOrigin } from '../run/run_origin';
import { RunRecord } from '../run/run_record';
import '../tuning/tune_section';

/** Pace of the figures. The chart has its own. */
const PACE = { leastMs: 250, share: 0.003 };
/** The attention section comes before this group. */
const AFTER_ATTENTION = 'Per token';
/** Most earlier runs in the view over context. */
const MOST_PAST = 19;
const LETTERS = Object.keys(PIN_DASHES) as PinLetter[];

export class VivaceMetrics extends WordedElement {
  static override styles = panelStyles;
  static override properties = {
    info: { attribute: false },
    engine: { attribute: false },
    theme: {},
    attention: { state: true },
    step: { state: true },
    answering: { state: true },
    tuning: { state: true },
    roofline: { state: true },
    isLog: { state: true },
    pins: { state: true },
  };
  /** The loaded model, or null. Another model starts a new view over context; pinned runs stay. */
  declare info: EngineInfo | null;
  /** The engine to tune and measure, or null while no model is loaded. */
  declare engine: Engine | null;
  /** Any change makes the chart read its colors again. */
  declare theme: string;
  /** The attention in use, from the newest of load, answer and tuning. */
  declare attention: AttentionChoice | null;
  /** The decode step in use, from the newest of load, answer and tuning. */
  declare step: StepChoice | null;
  declare answering: boolean;
  declare tuning: boolean;
  declare roofline: Roofline | null;
  declare isLog: boolean;
  declare pins: readonly Pin[];

  private run = new RunRecord();
  /** The newest run with its `done`: the GPU's times belong to it, even if the next run has begun. */
  private timed: RunRecord | null = null;
  private past: readonly RunRecord[] = [];
  private runsOfModel = 0;
  private drawings = 0;
  private readonly pacer = new DrawPacer(() => this.requestUpdate(), PACE);
  private readonly sight = new IntersectionObserver((entries) => this.pacer.show(entries.at(-1)!.isIntersecting));
  private readonly onVisibility = () => {
    if (this.run.isRunning) this.run.mark(document.hidden ? MARK.hidden : MARK.shown);
  };

  constructor() {
    super();
    this.info = null;
    this.engine = null;
    this.attention = null;
    this.step = null;
    this.answering = false;
    this.tuning = false;
    this.roofline = null;
    this.theme = '';
    this.isLog = false;
    this.pins = [];
    this.addEventListener('vivace-tuning', (event) => {
      const isTuning = (event as CustomEvent).detail !== null;
      if (isTuning !== this.tuning && this.run.isRunning) this.run.mark(isTuning ? MARK.tuning : MARK.tuned);
      this.tuning = isTuning;
    });
  }

  /** Takes the next event of the current run, or the GPU's times of the one before. */
  record(event: EngineEvent): void {
    const run = event.type === 'gpuTimes' ? this.timed : this.run;
    run?.record(event);
    if (event.type === 'done') {
      this.take(event.metrics);
      this.timed = run;
    }
    this.ask(this.run.isEnded);
  }

  /** Ends the current run, with or without a `done` event. */
  end(): void {
    this.run.isEnded = true;
    this.answering = false;
    this.ask(true);
  }

  /** Begins a new run. @param origin what is known of it */
  reset(origin: Partial<RunOrigin> = {}): void {
    if (this.run.gaps.length > 0) this.past = [...this.past, this.run].slice(-MOST_PAST);
    this.run = new RunRecord({ info: this.info, isFirst: this.runsOfModel++ === 0, origin });
    this.answering = true;
    this.ask(true);
  }

  /** Cancels a tuning or a measurement in progress, if any. */
  cancelTuning(): void {
    this.renderRoot.querySelector('vivace-repeat')?.cancel();
    this.renderRoot.querySelector('vivace-tune')?.cancel();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.onVisibility);
    this.sight.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.sight.disconnect();
    this.pacer.show(false);
  }

  override render() {
    const { run, pins, past, isLog, info } = this;
    const { tbt, stalls } = run;
    // Each run repeats the warnings of the load.
    const warnings = new Set([...(info?.warnings ?? []), ...run.warnings].map((warning) => warning.message));
    const isEmpty = run.tokens.length + pins.length + past.length === 0 && !run.isRunning;
    const groups = figureGroups(run, info, this.roofline).map((group) => (isEmpty ? knownOf(group) : group));
    // The attention section has a fixed place in the markup: groups come and go, and the results of a tuning must stay.
    const rest = groups.findIndex((group) => group.title === AFTER_ATTENTION);
    return html`
      ${isEmpty ? renderInvitation() : renderToolbar({ run, isOdd: this.drawings++ % 2 === 1, isLog, whyNotPin: this.whyNotPin(), onLog: this.toggleLog, onPin: this.pin, onJson: this.saveJson, onCsv: this.saveCsv })}
      ${isEmpty ? nothing : renderTiles(headline(run), headlineNote(run))}
      <vivace-chart ?hidden=${isEmpty} .runs=${{ run, tbt, stalls, pins, past, isLog }} .theme=${this.theme}></vivace-chart>
      ${renderComparison(pins, run, this.unpin)}
      <vivace-repeat ?hidden=${isEmpty} .engine=${this.engine} .run=${run} .busy=${this.answering || this.tuning}></vivace-repeat>
      ${groups.slice(0, rest).map(renderGroup)}
      <vivace-tune ?hidden=${!info} .engine=${this.engine} .info=${info} .attention=${this.attention} .answering=${this.answering}
        @vivace-tuned=${this.onTuned}></vivace-tune>
      ${this.step ? renderGroup(decodeStep(this.step)) : nothing}
      ${groups.slice(rest, rest + 1).map(renderGroup)}
      <vivace-roofline ?hidden=${!info} .engine=${this.engine} .info=${info} .busy=${this.answering || this.tuning}
        @vivace-roofline=${this.onRoofline}></vivace-roofline>
      ${groups.slice(rest + 1).map(renderGroup)}
      ${warnings.size > 0 ? html`<section><h3>Warnings</h3><ul>${[...warnings].map((text) => html`<li>${text}</li>`)}</ul></section>` : nothing}
    `;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.setAttribute('data-points', String(this.run.gaps.length));
    if (!changed.has('info')) return;
    this.take(this.info);
    this.past = [];
    this.runsOfModel = 0;
  }

  protected override updated(): void {
    const bytes = this.info?.gpuBytes;
    if (!bytes) return;
    const parts = [bytes.weights, bytes.kvCache, bytes.activations];
    const total = parts.reduce((a, b) => a + b, 0) || 1;
    // Through the object model, because the page's policy forbids style attributes.
    this.renderRoot.querySelectorAll<HTMLElement>('.bar i').forEach((bar, i) => {
      bar.style.flexBasis = `${(100 * parts[i]) / total}%`;
    });
  }

  /** Shows the choices of a load, an answer or a tuning. */
  private take(choices: Pick<EngineInfo, 'attention' | 'step'> | null): void {
    this.attention = choices?.attention ?? null;
    this.step = choices?.step ?? null;
  }

  private ask(isLast: boolean): void {
    this.pacer.ask(isLast);
    this.renderRoot.querySelector('vivace-chart')?.ask(isLast);
  }

  /** The reason why the newest run cannot be pinned, or null. */
  private whyNotPin(): string | null {
    const text = panelWords().toolbar;
    if (this.run.gaps.length === 0 || !this.run.isEnded) return text.pinWhenOver;
    if (this.pins.some(({ run }) => run === this.run)) return text.isPinned;
    return this.pins.length < LETTERS.length ? null : text.pinsAreFull(LETTERS.length);
  }

  private readonly pin = () => {
    const letter = LETTERS.find((each) => this.pins.every((pin) => pin.letter !== each));
    if (!letter || this.whyNotPin() !== null) return;
    const pins = [...this.pins, { letter, run: this.run }];
    this.pins = pins.sort((a, b) => LETTERS.indexOf(a.letter) - LETTERS.indexOf(b.letter));
  };

  private readonly unpin = (letter: PinLetter) => {
    this.pins = this.pins.filter((pin) => pin.letter !== letter);
  };

  private readonly onTuned = (event: CustomEvent<TuneOutcome>) => {
    this.take(event.detail);
  };
  private readonly onRoofline = (event: CustomEvent<Roofline | null>) => {
    this.roofline = event.detail;
    this.dispatchEvent(new CustomEvent('vivace-roofline', { detail: event.detail }));
  };
  private readonly toggleLog = () => {
    this.isLog = !this.isLog;
  };
  private readonly saveJson = () => {
    const { run } = this;
    saveText(`${runFileName(run)}.json`, 'application/json', runToJson(run, this.info, this.roofline));
  };
  private readonly saveCsv = () => {
    saveText(`${runFileName(this.run)}.csv`, 'text/csv', runToCsv(this.run));
  };
}

if (!customElements.get('vivace-metrics')) customElements.define('vivace-metrics', VivaceMetrics);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-metrics': VivaceMetrics;
  }
}
