// <vivace-metrics>: what the newest run did to time, live. It listens to engine events and draws at most once a frame, on the page's
// own thread, so that it does not disturb the worker that it measures.

import { html, LitElement, nothing, type PropertyValues, unsafeCSS } from 'lit';
import uplotCss from 'uplot/dist/uPlot.min.css?inline';
import type { AttentionChoice, Engine, EngineEvent, EngineInfo, TuneOutcome } from '../engine/engine';
import { runToCsv, runToJson, saveText } from './export';
import { formatMs } from './figure_format';
import { figureGroups, headline } from './figures';
import { renderGroup, renderTile, renderWarnings } from './panel_parts';
import { panelStyles } from './panel_styles';
import { RunRecord } from './run_record';
import { type ChartColours, TbtChart } from './tbt_chart';
import './tune_section';

/** Redrawing more often than this tells nobody anything. */
const REDRAW_MS = 48;
/** The attention comes before the first of these groups. */
const AFTER_ATTENTION = 'Per token';

export class VivaceMetrics extends LitElement {
  static override styles = [unsafeCSS(uplotCss), panelStyles];
  static override properties = {
    info: { attribute: false },
    engine: { attribute: false },
    asked: {},
    theme: {},
    attention: { state: true },
    answering: { state: true },
    logScale: { state: true },
    hovered: { state: true },
  };
  /** Of the loaded model, or null while there is none. */
  declare info: EngineInfo | null;
  /** Whose attention can be tuned, or null while there is no model. */
  declare engine: Engine | null;
  /** The attention that the model was loaded with: 'auto' or a sibling's name. */
  declare asked: string;
  /** Any change makes the chart read its colours again. */
  declare theme: string;
  /** What runs, from the newest of: load, answer, tuning. */
  declare attention: AttentionChoice | null;
  declare answering: boolean;
  declare logScale: boolean;
  declare hovered: number | null;

  private run = new RunRecord();
  private chart: TbtChart | null = null;
  private redrawQueued = false;
  private drawnAt = 0;
  private readonly resizes = new ResizeObserver(() => this.chart?.resize());
  private readonly darkness = matchMedia('(prefers-color-scheme: dark)');
  private readonly repaint = () => this.chart?.repaint(this.colours());
  private readonly onVisibility = () => {
    if (this.run.isRunning) this.run.mark(document.hidden ? 'tab hidden' : 'tab shown');
  };

  constructor() {
    super();
    this.info = null;
    this.engine = null;
    this.asked = 'auto';
    this.attention = null;
    this.answering = false;
    this.theme = '';
    this.logScale = false;
    this.hovered = null;
  }

  /** Takes the next event of the current run. */
  record(event: EngineEvent): void {
    this.run.record(event);
    if (event.type === 'done') this.attention = event.metrics.attention;
    this.queueRedraw();
  }

  /** The run is over, be it without a `done` event. */
  end(): void {
    this.run.isEnded = true;
    this.answering = false;
    this.queueRedraw();
  }

  /** A new run begins now. */
  reset(): void {
    this.run = new RunRecord();
    this.answering = true;
    this.hovered = null;
    this.queueRedraw();
  }

  /** Gives up a tuning under way, if any. */
  cancelTuning(): void {
    this.renderRoot.querySelector('vivace-tune')?.cancel();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.setAttribute('data-points', String(this.run.gaps.length));
    this.darkness.addEventListener('change', this.repaint);
    document.addEventListener('visibilitychange', this.onVisibility);
    if (this.hasUpdated) this.buildChart();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.darkness.removeEventListener('change', this.repaint);
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.resizes.disconnect();
    this.chart?.destroy();
    this.chart = null;
  }

  override render() {
    const { run } = this;
    // Each run repeats what was said at load.
    const warnings = new Set([...(this.info?.warnings ?? []), ...run.warnings].map((warning) => warning.message));
    const groups = figureGroups(run, this.info);
    // The attention has a place of its own in the markup: groups come and go, and what was tuned must stay.
    const rest = groups.findIndex((group) => group.title === AFTER_ATTENTION);
    return html`
      <header>
        <h2 title="TBT: milliseconds between two tokens as they arrive, bursts not smoothed.">Time between tokens</h2>
        ${run.isRunning ? html`<span class="live" role="img" aria-label="running" title="Running"></span>` : nothing}
        <span class="tools">
          <button aria-pressed=${this.logScale} title="Logarithmic scale" @click=${this.toggleLog}>Log</button>
          <button ?disabled=${run.tokens.length === 0} title="Save this run as JSON" @click=${this.saveJson}>JSON</button>
          <button ?disabled=${run.tokens.length === 0} title="Save this run as CSV" @click=${this.saveCsv}>CSV</button>
        </span>
      </header>
      <dl class="tiles">${headline(run).map(renderTile)}</dl>
      <div class="chart" role="img" aria-label="Milliseconds between tokens, over the tokens of this run">
        <div class=${run.gaps.length === 0 ? 'plot idle' : 'plot'}></div>
        ${run.gaps.length === 0 ? html`<p class="empty">${this.emptyText()}</p>` : nothing}
      </div>
      <div class="readout chart-end">${this.renderReadout()}</div>
      ${groups.slice(0, rest).map(renderGroup)}
      ${this.renderAttention()}
      ${groups.slice(rest).map(renderGroup)}
      ${warnings.size > 0 ? renderWarnings([...warnings]) : nothing}
      <span class="probe ink"></span><span class="probe muted"></span><span class="probe line"></span>
      <span class="probe accent"></span><span class="probe fill"></span>
    `;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('info')) this.attention = this.info?.attention ?? null;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!this.chart || changed.has('logScale')) this.buildChart();
    else if (changed.has('theme')) this.repaint();
    const bytes = this.info?.gpuBytes;
    if (bytes) {
      const parts = [bytes.weights, bytes.kvCache, bytes.activations];
      const total = parts.reduce((a, b) => a + b, 0) || 1;
      // Through the object model: the page's policy forbids style attributes.
      this.renderRoot.querySelectorAll<HTMLElement>('.bar i').forEach((bar, i) => {
        bar.style.flexBasis = `${(100 * parts[i]!) / total}%`;
      });
    }
  }

  private renderAttention() {
    return html`<vivace-tune .engine=${this.engine} .info=${this.info} .attention=${this.attention} .asked=${this.asked} .answering=${this.answering}
      @vivace-tuned=${this.onTuned}></vivace-tune>`;
  }

  private renderReadout() {
    const index = this.hovered;
    const number = index === null ? undefined : this.run.tokenNumbers[index];
    if (index === null || number === undefined) {
      return this.run.gaps.length > 0 ? 'Point at the chart to read one token.' : nothing;
    }
    const token = this.run.tokens[number - 1]!;
    return html`<b>${formatMs(this.run.gaps[index]!)}</b> before token ${number}, position ${token.position},
      <code>${JSON.stringify(token.text)}</code>`;
  }

  private emptyText(): string {
    if (this.run.tokens.length > 0) return 'One token has no gap before it.';
    if (this.run.prefill) return 'Reading the prompt…';
    return 'Ask something, and every gap between two tokens appears here as it happens.';
  }

  private buildChart(): void {
    const parent = this.renderRoot.querySelector<HTMLElement>('.plot');
    if (!parent) return;
    this.chart?.destroy();
    this.chart = new TbtChart(parent, this.colours(), this.logScale, (index) => {
      this.hovered = index;
    });
    this.resizes.disconnect();
    this.resizes.observe(parent);
    this.drawChart();
  }

  private drawChart(): void {
    this.setAttribute('data-points', String(this.run.gaps.length));
    this.chart?.draw(this.run);
  }

  private queueRedraw(): void {
    if (this.redrawQueued) return;
    this.redrawQueued = true;
    const frame = (now: number) => {
      if (now - this.drawnAt < REDRAW_MS && !this.run.isEnded) {
        requestAnimationFrame(frame);
        return;
      }
      this.redrawQueued = false;
      this.drawnAt = now;
      this.drawChart();
      this.requestUpdate();
    };
    requestAnimationFrame(frame);
  }

  private colours(): ChartColours {
    // A canvas cannot read CSS variables; hidden elements resolve them.
    const of = (name: string) => getComputedStyle(this.renderRoot.querySelector(`.probe.${name}`)!).color;
    return { accent: of('accent'), fill: of('fill'), ink: of('ink'), muted: of('muted'), line: of('line') };
  }

  private onTuned = (event: CustomEvent<TuneOutcome>) => {
    this.attention = event.detail.attention;
  };
  private toggleLog = () => {
    this.logScale = !this.logScale;
  };
  private saveJson = () => saveText('vivace-run.json', 'application/json', runToJson(this.run, this.info));
  private saveCsv = () => saveText('vivace-run.csv', 'text/csv', runToCsv(this.run));
}

if (!customElements.get('vivace-metrics')) customElements.define('vivace-metrics', VivaceMetrics);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-metrics': VivaceMetrics;
  }
}
