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
import type { Listen } from '../../shared/listen';
import '../chart/chart_section';
import { saveText } from '../../shared/save_text';
import { sayWarning } from '../../words/error_words';
import { panelWords } from '../../words/panel_words';
import { WordedElement } from '../../words/worded_element';
import { PIN_DASHES, type Pin, type PinLetter } from '../chart/views/picture';
import { runFileName, runToCsv, runToJson } from '../run/export';
import { DrawPacer } from '../shared/draw_pacer';
import { renderComparison } from './comparison_table';
import { knownOf, renderGroup, renderTiles } from './figure_lists';
import { figureGroups, headline, headlineNote, isServer } from './figures';
import { decodeStep } from './machine_figures';
import type { MetricsEvents } from './metrics_events';
import { panelStyles } from './panel_styles';
import '../repeat/repeat_section';
import { RunKeeper } from './run_keeper';
import { renderInvitation, renderOpened, renderToolbar } from './toolbar';
import '../tuning/roofline_section';
import type { NamedRun, PinnedRun } from '../history/runs_section';
import '../history/runs_section';
import { MARK, type RunData, rooflineOf } from '../run/run_data';
import type { RunOrigin } from '../run/run_origin';
import { RunRecord } from '../run/run_record';
import '../tuning/tune_section';

/** Pace of the figures. The chart has its own. */
const PACE = { leastMs: 250, share: 0.003 };
/** The attention section comes before this group. */
const AFTER_ATTENTION = 'per-token';
/** Most earlier runs in the view over context. */
const MOST_PAST = 19;
const LETTERS = Object.keys(PIN_DASHES) as PinLetter[];

/** The record before the first answer of an engine: there is none to wait for. */
function noRun(given: ConstructorParameters<typeof RunRecord>[0] = {}): RunRecord {
  return Object.assign(new RunRecord(given), { isEnded: true });
}

export class VivaceMetrics extends WordedElement {
  static override styles = panelStyles;
  static override properties = {
    info: { attribute: false },
    engine: { attribute: false },
    theme: {},
    address: { attribute: false },
    attention: { state: true },
    step: { state: true },
    answering: { state: true },
    tuning: { state: true },
    roofline: { state: true },
    isLog: { state: true },
    pins: { state: true },
    remember: { type: Boolean },
    opened: { state: true },
  };
  declare addEventListener: Listen<MetricsEvents>;
  declare removeEventListener: Listen<MetricsEvents>;
  /** The loaded model, or null. Another model starts a new view over context; pinned runs stay. */
  declare info: EngineInfo | null;
  /** The engine to tune and measure, or null while no model is loaded. */
  declare engine: Engine | null;
  /** Any change makes the chart read its colors again. */
  declare theme: string;
  /** The address of the model, or null for files and where unknown. Runs that begin now hold it. */
  declare address: string | null;
  /** The attention in use, from the newest of load, answer and tuning. */
  declare attention: AttentionChoice | null;
  /** The decode step in use, from the newest of load, answer and tuning. */
  declare step: StepChoice | null;
  declare answering: boolean;
  declare tuning: boolean;
  declare roofline: Roofline | null;
  declare isLog: boolean;
  declare pins: readonly Pin[];
  /** True to keep runs in this browser beyond the page. */
  declare remember: boolean;
  /** An earlier run that is shown instead of the newest. */
  declare opened: RunData | null;

  private run = noRun();
  /** The newest run with its `done`: the GPU's times belong to it, even if the next run has begun. */
  private timed: RunRecord | null = null;
  /** The run that was kept at its end. The reader may have deleted it since. */
  private ended: RunRecord | null = null;
  private past: readonly RunRecord[] = [];
  private runsOfModel = 0;
  private drawings = 0;
  private readonly keeper = new RunKeeper((run) => {
    const pin = this.pins.find((each) => each.run === run)?.letter ?? null;
    void this.runs?.keep(run, run.info ?? this.info, this.roofline, pin);
  });
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
    this.address = null;
    this.isLog = false;
    this.pins = [];
    this.remember = false;
    this.opened = null;
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
    if (event.type === 'gpuTimes' && run) this.keeper.keepSoon(run);
    this.ask(this.run.isEnded);
  }

  /**
   * Another engine is there: the newest run is not its run, and the figures of the two must not stand side by side. The
   * run stays in the list.
   */
  loaded(): void {
    this.end();
    this.run = noRun({ info: this.info, origin: { address: this.address } });
    this.ask(true);
  }

  /** Ends the current run, with or without a `done` event. */
  end(): void {
    this.run.isEnded = true;
    this.answering = false;
    if (this.ended !== this.run) this.keeper.keepSoon(this.run);
    this.ended = this.run;
    this.ask(true);
  }

  /** Begins a new run. @param origin what is known of it */
  reset(origin: Partial<RunOrigin> = {}): void {
    if (this.run.gaps.length > 0) this.past = [...this.past, this.run].slice(-MOST_PAST);
    this.run = new RunRecord({
      info: this.info,
      isFirst: this.runsOfModel++ === 0,
      origin: { address: this.address, ...origin },
    });
    this.answering = true;
    this.opened = null;
    this.ask(true);
  }

  /** Shows the run with this id, from this page or from those that are kept. */
  openRun(id: string): void {
    const run = this.inPage(id);
    if (run) this.show(run);
    else void this.runs?.open(id);
  }

  /** Keeps and shows the runs of exported files. */
  async importRuns(files: readonly File[]): Promise<void> {
    await this.runs?.import(files);
  }

  /** Cancels a tuning or a measurement in progress, if any. */
  cancelTuning(): void {
    this.renderRoot.querySelector('vivace-repeat')?.cancel();
    this.renderRoot.querySelector('vivace-tune')?.cancel();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.onVisibility);
    addEventListener('pagehide', this.keeper.keepNow);
    this.sight.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.onVisibility);
    removeEventListener('pagehide', this.keeper.keepNow);
    this.keeper.keepNow();
    this.sight.disconnect();
    this.pacer.show(false);
  }

  override render() {
    const { pins, past, isLog, opened } = this;
    const run = opened ?? this.run;
    const info = opened ? opened.info : this.info;
    const { tbt, stalls } = run;
    const words = panelWords();
    // Each run repeats the warnings of the load.
    const warnings = new Set([...(info?.warnings ?? []), ...run.warnings].map((warning) => sayWarning(warning).text));
    const step = opened ? (opened.metrics?.step ?? info?.step) : this.step;
    const isRunning = run === this.run && this.run.isRunning;
    const isEmpty = run.tokens.length + pins.length + past.length === 0 && !isRunning;
    const groups = figureGroups(run, info, this.rooflineOf(run)).map((group) => (isEmpty ? knownOf(group) : group));
    const isHere = info !== null && !isServer(info);
    // The attention section has a fixed place in the markup: groups come and go, and the results of a tuning must stay.
    const found = groups.findIndex((group) => group.key === AFTER_ATTENTION);
    const rest = found < 0 ? groups.length : found;
    return html`
      ${isEmpty ? renderInvitation() : renderToolbar({ run, isRunning, isOdd: this.drawings++ % 2 === 1, isLog, whyNotPin: this.whyNotPin(), onLog: this.toggleLog, onPin: this.pin, onJson: this.saveJson, onCsv: this.saveCsv })}
      ${opened ? renderOpened(opened, this.close) : nothing}
      ${isEmpty ? nothing : renderTiles(headline(run), headlineNote(run))}
      <vivace-chart ?hidden=${isEmpty} .runs=${{ run, tbt, stalls, pins, past, isLog }} .theme=${this.theme}></vivace-chart>
      ${renderComparison(pins, { run, name: words.comparison[opened ? 'shown' : 'now'] }, this.unpin)}
      <vivace-repeat ?hidden=${isEmpty || (info !== null && !isHere)} .engine=${this.engine} .run=${run} .busy=${this.answering || this.tuning}></vivace-repeat>
      <vivace-runs .remembers=${this.remember} .shown=${run.origin.id} @vivace-open-run=${this.onOpen} @vivace-pin-run=${this.onPin}
        @vivace-name-run=${this.onName} @vivace-pins=${this.onPins}></vivace-runs>
      ${groups.slice(0, rest).map(renderGroup)}
      <vivace-tune ?hidden=${!isHere} .engine=${this.engine} .info=${this.info} .attention=${this.attention} .answering=${this.answering}
        @vivace-tuned=${this.onTuned}></vivace-tune>
      ${step && isHere ? renderGroup(decodeStep(step)) : nothing}
      ${groups.slice(rest, rest + 1).map(renderGroup)}
      <vivace-roofline ?hidden=${!isHere} .engine=${this.engine} .info=${this.info} .busy=${this.answering || this.tuning}
        @vivace-roofline=${this.onRoofline}></vivace-roofline>
      ${groups.slice(rest + 1).map(renderGroup)}
      ${warnings.size > 0 ? html`<section><h3>${words.panel.warnings}</h3><ul>${[...warnings].map((text) => html`<li>${text}</li>`)}</ul></section>` : nothing}
    `;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const { length } = (this.opened ?? this.run).gaps;
    if (length > 0 || this.dataset.points) this.dataset.points = String(length); // a panel that waits has no attribute
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

  /** The reason why the run cannot be pinned, or null. */
  private whyNotPin(run: RunData = this.opened ?? this.run): string | null {
    const text = panelWords().toolbar;
    if (run.gaps.length === 0 || !run.isEnded) return text.pinWhenOver;
    if (this.pins.some((pin) => pin.run.origin.id === run.origin.id)) return text.isPinned;
    return this.pins.length < LETTERS.length ? null : text.pinsAreFull(LETTERS.length);
  }

  private readonly pin = () => this.addPin(this.opened ?? this.run);

  private addPin(run: RunData, asked?: PinLetter): void {
    const isFree = (letter: PinLetter) => this.pins.every((pin) => pin.letter !== letter);
    const letter = asked && isFree(asked) ? asked : LETTERS.find(isFree);
    if (!letter || this.whyNotPin(run) !== null) return;
    const pins = [...this.pins, { letter, run }];
    this.pins = pins.sort((a, b) => LETTERS.indexOf(a.letter) - LETTERS.indexOf(b.letter));
    void this.runs?.markPin(run.origin.id, letter);
  }

  private readonly unpin = (letter: PinLetter) => {
    const gone = this.pins.find((pin) => pin.letter === letter);
    this.pins = this.pins.filter((pin) => pin !== gone);
    if (gone) void this.runs?.markPin(gone.run.origin.id, null);
  };

  private rooflineOf(run: RunData): Roofline | null {
    return rooflineOf(run, this.info, this.roofline);
  }

  private inPage(id: string): RunData | undefined {
    return this.allInPage().find((run) => run.origin.id === id && run.tokens.length > 0);
  }

  private allInPage(): RunData[] {
    return [this.run, ...this.past, ...this.pins.map(({ run }) => run), ...(this.opened ? [this.opened] : [])];
  }

  private get runs() {
    return this.renderRoot.querySelector('vivace-runs');
  }

  /** Shows a run instead of the newest, and takes the focus there. */
  private show(run: RunData): void {
    this.opened = run === this.run ? null : run;
    this.scrollIntoView({ block: 'start' });
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('h2')?.focus());
  }

  private readonly close = () => this.show(this.run);
  private readonly onOpen = ({ detail }: CustomEvent<RunData>) => this.show(this.inPage(detail.origin.id) ?? detail);
  private readonly onName = ({ detail: { id, name } }: CustomEvent<NamedRun>) => {
    for (const { origin } of this.allInPage()) if (origin.id === id) origin.name = name;
    this.requestUpdate();
  };
  private readonly onPins = ({ detail }: CustomEvent<readonly PinnedRun[]>) => {
    for (const { letter, run } of detail) this.addPin(run, letter);
  };
  private readonly onPin = async ({ detail: id }: CustomEvent<string>) => {
    const pin = this.pins.find(({ run }) => run.origin.id === id);
    if (pin) return this.unpin(pin.letter);
    const run = this.inPage(id) ?? (await this.runs?.load(id));
    if (run) this.addPin(run);
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
    const run = this.opened ?? this.run;
    saveText(`${runFileName(run)}.json`, 'application/json', runToJson(run, this.info, this.rooflineOf(run)));
  };
  private readonly saveCsv = () => {
    const run = this.opened ?? this.run;
    saveText(`${runFileName(run)}.csv`, 'text/csv', runToCsv(run));
  };
}

if (!customElements.get('vivace-metrics')) customElements.define('vivace-metrics', VivaceMetrics);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-metrics': VivaceMetrics;
  }
}
