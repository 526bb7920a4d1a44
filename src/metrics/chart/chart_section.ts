// <vivace-chart>: one chart with several views of a run, and a readout of the place under the pointer or the keyboard's
// cursor. Draws only on request, and only while on the screen.

import { html, LitElement, nothing, type PropertyValues } from 'lit';
import type { Stall } from '../run/run_data';
import { DrawPacer } from '../shared/draw_pacer';
import type { Colors } from './chart_marks';
import { chartStyles } from './chart_styles';
import { ContextView } from './context_view';
import { HistogramView } from './histogram_view';
import type { ChartInput, Spot, View } from './picture';
import { describeToken, renderReadout, renderStalls, spokenToken } from './readout';
import { TbtChart } from './tbt_chart';
import { TokensView } from './tokens_view';

/** Pace of the drawings: more would tell a reader nothing. */
const PACE = { leastMs: 48, share: 0.008 };

type ChartRuns = Omit<ChartInput, 'columns'>;

class VivaceChart extends LitElement {
  static override styles = chartStyles;
  static override properties = {
    runs: { attribute: false },
    theme: {},
    view: { state: true },
    spot: { state: true },
    spoken: { state: true },
  };
  declare runs: ChartRuns | null;
  /** Any change makes the chart read its colors again. */
  declare theme: string;
  declare view: View;
  declare spot: Spot | null;
  /** Text of the live region: the spot that the keyboard moved to. */
  declare spoken: string;

  private readonly histogram = new HistogramView();
  private readonly views: readonly View[] = [new TokensView(), new ContextView(), this.histogram];
  private chart: TbtChart | null = null;
  /** The view on the canvas. */
  private drawn: View | null = null;
  private readonly pacer = new DrawPacer(() => this.paint(), PACE);
  private readonly resizes = new ResizeObserver(() => this.chart?.resize());
  private readonly sight = new IntersectionObserver((entries) => this.pacer.show(entries.at(-1)!.isIntersecting));
  /** Media queries whose change alters the colors. */
  private readonly schemes = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) =>
    matchMedia(query),
  );
  private readonly repaint = () => this.chart?.repaint(this.colors());

  constructor() {
    super();
    this.runs = null;
    this.theme = '';
    this.view = this.views[0];
    this.spot = null;
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
    this.resizes.disconnect();
    this.pacer.show(false);
    this.chart?.destroy();
    this.chart = null;
  }

  override render() {
    const { view, runs } = this;
    const isEmpty = !runs || runs.run.gaps.length === 0;
    return html`
      <div role="tablist" aria-label="Views of the chart" @keydown=${this.onTabKey}>${this.views.map((each) => this.renderTab(each))}</div>
      <div class="chart" id="chart" role="tabpanel" aria-labelledby=${view.id}>
        <div class=${isEmpty ? 'plot idle' : 'plot'} data-testid="plot" dir="ltr" role="application" aria-roledescription="chart" tabindex="0"
          aria-label=${`${view.title}: milliseconds between tokens. Arrow keys read one ${view === this.histogram ? 'bin' : 'token'} after the other.`}
          @keydown=${this.onKey}></div>
        ${isEmpty ? html`<p class="empty">${this.emptyText()}</p>` : nothing}
      </div>
      <div class="readout" data-testid="readout">${this.renderSpot(isEmpty)}</div>
      <p class="unseen" role="status">${this.spoken}</p>
      ${runs ? renderStalls(runs.stalls, this.goTo) : nothing}
      ${['ink', 'muted', 'line', 'accent', 'fill', 'danger', 'a', 'b', 'c'].map((name) => html`<span class="probe ${name}"></span>`)}
    `;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('runs');
    if ((before && before.run !== this.runs?.run) || changed.has('view')) {
      this.spot = null;
      this.spoken = '';
    }
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('theme')) this.repaint();
    const before = changed.get('runs');
    const { runs } = this;
    const isOther = before?.isLog !== runs?.isLog || before?.pins !== runs?.pins || before?.run !== runs?.run;
    if (changed.has('view') || (changed.has('runs') && isOther)) this.pacer.ask(true);
    else if (changed.has('spot')) this.chart?.mark(this.spot);
  }

  private renderTab(view: View) {
    const isChosen = view === this.view;
    return html`<button role="tab" id=${view.id} data-testid="view-${view.id}" aria-selected=${isChosen} aria-controls="chart"
      tabindex=${isChosen ? 0 : -1} @click=${() => this.choose(view)}>${view.title}</button>`;
  }

  private renderSpot(isEmpty: boolean) {
    const { spot, runs } = this;
    if (spot && !spot.run) return this.histogram.describe(spot.index);
    const token =
      spot?.run && runs ? describeToken(spot.run, spot.index, spot.run === runs.run ? runs.stalls : []) : null;
    if (token) return renderReadout(token);
    return isEmpty ? nothing : 'Point at the chart, or go along it with the arrow keys, to read one token.';
  }

  private emptyText(): string {
    const run = this.runs?.run;
    if (run?.tokens.length) return 'One token has no gap before it.';
    if (run?.prefill) return 'Reading the prompt…';
    return 'Ask something, and every gap between two tokens appears here as it happens.';
  }

  private paint(): void {
    const parent = this.renderRoot.querySelector<HTMLElement>('.plot');
    if (!parent || !this.runs) return;
    if (!this.chart) {
      this.chart = new TbtChart(parent, this.colors(), this.onPoint, () => this.stand(null));
      this.resizes.observe(parent);
    }
    this.chart.draw(this.view.picture({ ...this.runs, columns: this.chart.columns }));
    this.drawn = this.view;
    // The height of a bin, or the place of a percentile, may have changed under the cursor.
    if (this.spot && this.spot.run === null)
      this.spot = this.spot.index < this.view.count() ? this.view.spot(this.spot.index) : null;
    this.chart.mark(this.spot);
  }

  private readonly onPoint = (x: number, y: number) => this.stand(this.view.spotNear(x, y));

  private stand(spot: Spot | null): void {
    if (spot?.run === this.spot?.run && spot?.index === this.spot?.index) return;
    this.spot = spot;
    this.spoken = '';
  }

  private choose(view: View): void {
    this.view = view;
  }

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

  /** Puts the cursor on a spot, and speaks it. */
  private moveTo(at: number): void {
    this.spot = this.view.spot(at);
    const { run, index } = this.spot;
    const token = run && describeToken(run, index, this.runs?.stalls ?? []);
    this.spoken = token ? spokenToken(token) : this.histogram.describe(index);
  }

  private colors(): Colors {
    // A canvas cannot read CSS variables; hidden elements resolve them.
    const of = (name: string) => getComputedStyle(this.renderRoot.querySelector(`.probe.${name}`)!).color;
    return {
      ink: of('ink'),
      muted: of('muted'),
      line: of('line'),
      accent: of('accent'),
      fill: of('fill'),
      danger: of('danger'),
      a: of('a'),
      b: of('b'),
      c: of('c'),
    };
  }
}

/**
 * The index that a key leads to from `at`, or null for other keys.
 * @param wraps the ends connect, as in a row of tabs
 */
function indexAfterKey(
  { key }: Pick<KeyboardEvent, 'key'>,
  at: number | null,
  count: number,
  wraps: boolean,
): number | null {
  if (count === 0) return null;
  const last = count - 1;
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return null;
  if (at === null) return step > 0 ? 0 : last;
  return wraps ? (at + step + count) % count : Math.min(last, Math.max(0, at + step));
}

if (!customElements.get('vivace-chart')) customElements.define('vivace-chart', VivaceChart);

declare global {
  interface HTMLElementTagNameMap {
    'vivace-chart': VivaceChart;
  }
}
