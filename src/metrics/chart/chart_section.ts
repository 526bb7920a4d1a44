// <vivace-chart>: one chart with several views of a run, and a readout of the place under the pointer or the keyboard's
// cursor. On request it fills the window. Draws only on request, and only while on the screen.

import { html, nothing, type PropertyValues } from 'lit';
import { panelWords } from '../../words/panel_words';
import { WordedElement } from '../../words/worded_element';
import type { Stall } from '../run/run_data';
import { DrawPacer } from '../shared/draw_pacer';
import { indexAfterKey } from './chart_keys';
import { colorsOf, describeChart, emptyText, probes, renderBar, renderRange, spokenRange } from './chart_parts';
import { chartStyles } from './chart_styles';
import { legendOf, renderLegend } from './legend';
import { type ChartRequests, TbtChart } from './plot/tbt_chart';
import { type Axis, middleOf, moveInto, panned, rangeAfterKey, rangeBetween, zoomed } from './plot/zoom';
import { describeToken, renderReadout, renderStalls, spokenToken } from './readout';
import { ContextView } from './views/context_view';
import { HistogramView } from './views/histogram_view';
import type { ChartInput, Picture, Range, Spot, View } from './views/picture';
import { TokensView } from './views/tokens_view';

/** Pace of the drawings: more would tell a reader nothing. */
const PACE = { leastMs: 48, share: 0.008 };

type ChartRuns = Omit<ChartInput, 'columns' | 'zoom'>;

class VivaceChart extends WordedElement {
  static override styles = chartStyles;
  static override properties = {
    runs: { attribute: false },
    theme: {},
    view: { state: true },
    spot: { state: true },
    zoom: { state: true },
    isLarge: { state: true },
    spoken: { state: true },
  };
  declare runs: ChartRuns | null;
  /** Any change makes the chart read its colors again. */
  declare theme: string;
  declare view: View;
  declare spot: Spot | null;
  /** The shown part of the x axis. Null: all of it, however long it grows. */
  declare zoom: Range | null;
  /** The chart fills the window. */
  declare isLarge: boolean;
  /** Text of the live region: what the keyboard moved to. */
  declare spoken: string;

  private readonly histogram = new HistogramView();
  private readonly views: readonly View[] = [new TokensView(), new ContextView(), this.histogram];
  private chart: TbtChart | null = null;
  /** The picture on the canvas, and its view. */
  private picture: Picture | null = null;
  private drawn: View | null = null;
  /** The texts on the canvas. */
  private texts: unknown;
  private readonly pacer = new DrawPacer(() => this.paint(), PACE);
  private readonly resizes = new ResizeObserver(() => this.chart?.resize());
  private isInSight = false;
  private readonly sight = new IntersectionObserver((entries) => {
    this.isInSight = entries.at(-1)?.isIntersecting === true;
    this.pacer.show(this.isInSight || this.isLarge);
  });
  /** Media queries whose change alters the colors. */
  private readonly schemes = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) =>
    matchMedia(query),
  );
  private readonly repaint = () => this.chart?.repaint(colorsOf(this.renderRoot));
  private readonly requests: ChartRequests = {
    isAlone: () => this.isLarge,
    point: (x, y) => this.stand(this.view.spotNear(x, y)),
    leave: () => this.stand(null),
    select: (from, to) => this.show(rangeBetween(from, to, this.axis)),
    pan: (share) => this.show(panned(this.zoom, share, this.axis)),
    zoom: (factor, around) => this.show(zoomed(this.zoom, factor, around, this.axis)),
    reset: () => this.show(null),
  };

  constructor() {
    super();
    this.runs = null;
    this.theme = '';
    this.view = this.views[0];
    this.spot = null;
    this.zoom = null;
    this.isLarge = false;
    this.spoken = '';
  }

  /** Draws the run after it has grown. @param isLast the run is over */
  ask(isLast = false): void {
    this.pacer.ask(isLast);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    for (const scheme of this.schemes) scheme.addEventListener('change', this.repaint);
    this.sight.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const scheme of this.schemes) scheme.removeEventListener('change', this.repaint);
    this.sight.disconnect();
    this.pacer.show(false);
    this.isLarge = false;
    this.drop();
    this.pacer.ask(); // in its next place
  }

  override render() {
    if (!this.isLarge) return html`${this.renderBody()}${probes}`;
    return html`<dialog aria-labelledby="large-title" data-testid="large" @keydown=${this.onLargeKey} @close=${this.leaveLarge}>
      ${this.renderBody()}
    </dialog>${probes}`;
  }

  private renderBody() {
    const { view, views, runs, isLarge, zoom } = this;
    const isEmpty = !runs || runs.run.gaps.length === 0;
    const texts = panelWords().chart;
    const bar = { views, view, isLarge, onChoose: this.choose, onTabKey: this.onTabKey, onLarge: this.toggleLarge };
    return html`
      ${renderBar({ ...bar, onZoom: this.zoomBy })}
      <div class="chart" id="chart" role="tabpanel" aria-labelledby=${view.id}>
        <div class=${isEmpty ? 'plot idle' : 'plot'} data-testid="plot" dir="ltr" role="application" aria-roledescription=${texts.role} tabindex="0"
          aria-label=${describeChart(view, zoom, view === this.histogram ? texts.binSpot : texts.tokenSpot)} ?autofocus=${isLarge} @keydown=${this.onKey}></div>
        ${isEmpty ? html`<p class="empty">${emptyText(runs?.run ?? null)}</p>` : nothing}
      </div>
      <div class="beside">
        ${this.renderZoom()}
        ${runs ? renderLegend(legendOf(view.id, runs)) : nothing}
        <div class="readout" data-testid="readout">${this.renderSpot(isEmpty)}</div>
        ${isLarge ? html`<p class="help">${texts.help}</p>` : nothing}
        ${runs ? renderStalls(runs.stalls, this.goTo) : nothing}
      </div>
      <p class="unseen" role="status">${this.spoken}</p>
    `;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('runs');
    if ((before && before.run !== this.runs?.run) || changed.has('view')) {
      this.spot = null;
      this.zoom = null;
      this.spoken = '';
    }
    if (before && before.isLog !== this.runs?.isLog && this.view === this.histogram) this.zoom = null; // another axis
    if (changed.has('isLarge')) this.drop(); // its place is another
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.get('isLarge') !== undefined) this.move();
    if (changed.has('theme')) this.repaint();
    const before = changed.get('runs');
    const { runs } = this;
    const isOther =
      this.texts !== panelWords() ||
      before?.isLog !== runs?.isLog ||
      before?.pins !== runs?.pins ||
      before?.run !== runs?.run;
    if (changed.has('view') || changed.has('zoom') || (changed.has('runs') && isOther)) this.pacer.ask(true);
    else if (changed.has('spot')) this.chart?.mark(this.spot);
  }

  private renderZoom() {
    const { zoom, view } = this;
    return zoom ? renderRange(view.nameRange(zoom), view.gapsWithin(zoom), this.reset) : nothing;
  }

  private renderSpot(isEmpty: boolean) {
    const { spot, runs } = this;
    if (spot && !spot.run) return this.histogram.describe(spot.index);
    const token =
      spot?.run && runs ? describeToken(spot.run, spot.index, spot.run === runs.run ? runs.stalls : []) : null;
    if (token) return renderReadout(token);
    return isEmpty ? nothing : panelWords().chart.point;
  }

  private paint(): void {
    const parent = this.renderRoot.querySelector<HTMLElement>('.plot');
    if (!parent || !this.runs) return;
    if (!this.chart) {
      this.chart = new TbtChart(parent, colorsOf(this.renderRoot), this.requests);
      this.resizes.observe(parent);
    }
    const { zoom } = this;
    this.picture = this.view.picture({ ...this.runs, columns: this.chart.columns, zoom });
    this.chart.draw(this.picture);
    this.drawn = this.view;
    this.texts = panelWords();
    // The height of a bin, or the place of a percentile, may have changed under the cursor.
    if (this.spot && this.spot.run === null)
      this.spot = this.spot.index < this.view.count() ? this.view.spot(this.spot.index) : null;
    this.chart.mark(this.spot);
  }

  /** Forgets the canvas. The next painting makes another. */
  private drop(): void {
    this.resizes.disconnect();
    this.chart?.destroy();
    this.chart = null;
  }

  private get axis(): Axis {
    const { whole = { min: 0, max: 1 }, x, countsTokens = true } = this.picture ?? {};
    return { whole, isLog: x?.isLog, countsTokens };
  }

  private show(range: Range | null, isSpoken = false): void {
    if (!this.picture || this.picture.isEmpty) return;
    this.zoom = range;
    if (isSpoken)
      this.spoken = range
        ? spokenRange(this.view.nameRange(range), this.view.gapsWithin(range))
        : panelWords().chart.everything;
  }

  private readonly zoomBy = (factor: number) =>
    this.show(zoomed(this.zoom, factor, this.spot?.x ?? middleOf(this.zoom, this.axis), this.axis), true);

  /** The button goes with the range, so that the focus goes to the chart. */
  private readonly reset = () => {
    this.show(null);
    this.renderRoot.querySelector<HTMLElement>('.plot')?.focus();
  };

  /** The panel keeps its height meanwhile, so that it does not scroll. */
  private readonly toggleLarge = () => {
    if (!this.isLarge) this.style.minHeight = `${this.offsetHeight}px`;
    this.isLarge = !this.isLarge;
  };

  private readonly leaveLarge = () => {
    this.isLarge = false;
  };

  /** Puts the chart where it now belongs, and the focus with it. */
  private move(): void {
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog) dialog.showModal();
    else this.style.minHeight = '';
    this.pacer.show(this.isInSight || this.isLarge);
    this.paint();
    if (!dialog && this.isConnected) this.renderRoot.querySelector<HTMLElement>('#large')?.focus();
  }

  /** The dialog closes by Escape, and nothing behind it hears of the key. */
  private readonly onLargeKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') event.stopPropagation();
  };

  private stand(spot: Spot | null): void {
    if (spot?.run === this.spot?.run && spot?.index === this.spot?.index) return;
    this.spot = spot;
    this.spoken = '';
  }

  private readonly choose = (view: View) => {
    this.view = view;
  };

  private readonly onTabKey = (event: KeyboardEvent) => {
    const { views } = this;
    const next = indexAfterKey(event, views.indexOf(this.view), views.length, true);
    if (next === null) return;
    event.preventDefault();
    this.choose(views[next]);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#${this.view.id}`)?.focus());
  };

  private readonly onKey = (event: KeyboardEvent) => {
    if (this.drawn !== this.view) this.paint(); // a view has tokens only after a drawing, and a key may come first
    const range = rangeAfterKey(event, this.zoom, this.spot?.x ?? null, this.axis);
    if (range !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.show(range, true);
      return;
    }
    const isHere = this.spot && (this.spot.run ?? this.runs?.run) === this.runs?.run;
    const next = indexAfterKey(event, isHere ? this.spot!.index : null, this.view.count(), false);
    if (next === null) return;
    event.preventDefault();
    this.moveTo(next);
  };

  /** Shows a stall in the chart. The histogram has no place for one token, so that the first view takes over. */
  private readonly goTo = async ({ token }: Stall) => {
    if (this.view === this.histogram) {
      this.choose(this.views[0]);
      await this.updateComplete; // a new view clears the spot
    }
    const index = this.runs?.run.tokenNumbers.indexOf(token) ?? -1;
    if (index < 0) return;
    if (this.drawn !== this.view) this.paint();
    this.moveTo(index);
  };

  /** Puts the cursor on a spot, shows the part of the axis with it, and speaks it. */
  private moveTo(at: number): void {
    this.spot = this.view.spot(at);
    this.zoom = moveInto(this.zoom, this.spot.x, this.axis);
    const { run, index } = this.spot;
    const token = run && describeToken(run, index, this.runs?.stalls ?? []);
    this.spoken = token ? spokenToken(token) : this.histogram.describe(index);
  }
}

if (!customElements.get('vivace-chart')) customElements.define('vivace-chart', VivaceChart);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-chart': VivaceChart;
  }
}
