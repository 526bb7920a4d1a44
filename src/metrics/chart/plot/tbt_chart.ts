// Paints pictures with uPlot at the size of its parent and in its letters, and reports what the pointer asks for, on
// the scales. Knows nothing of runs.

import uPlot from 'uplot';
import { language } from '../../../words/language';
import { isWithin, type Picture, type Scale, type Series, type Spot } from '../views/picture';
import { type Colors, type Font, LEAD_WIDTH, paintMarks } from './chart_marks';
import { Gestures } from './gestures';
import { logTicks } from './log_ticks';

/**
 * Room around the plot, as multiples of the size of the letters: for labels of verticals on top and of levels at the
 * end, for the numbers of both axes, and for an axis's title.
 */
const AROUND = { top: 1.5, end: 2.7, x: 2.2, y: 3.7, title: 1.35 } as const;
/** The least size of the whole chart in CSS pixels. */
const LEAST = { width: 200, height: 120 } as const;
/** Steps of an axis that counts tokens. */
const TOKEN_STEPS = [1, 10, 100, 1000, 10_000, 100_000].flatMap((step) => [step, 2 * step, 5 * step]);

const PATHS: Record<Series['kind'], uPlot.Series.PathBuilder> = {
  line: whereNotEmpty(uPlot.paths.linear!()),
  points: whereNotEmpty(squares),
  steps: whereNotEmpty(uPlot.paths.stepped!({ align: 1 })),
};
/** Side of a point in CSS pixels. */
const POINT_SIDE = 3;

/** The pointer's request, on the scales of the newest picture. */
export interface ChartRequests {
  isAlone(): boolean;
  point(x: number, y: number): void;
  leave(): void;
  /** Shows what is between two places. */
  select(from: number, to: number): void;
  /** Moves by a part of the shown range. */
  pan(share: number): void;
  zoom(factor: number, around: number): void;
  reset(): void;
}

export class TbtChart {
  private plot: uPlot | null = null;
  private picture: Picture | null = null;
  /** Signature of the plot's series, scales and titles, which uPlot cannot change. */
  private shape = '';
  private readonly dot = document.createElement('i');

  private readonly font: Font;

  constructor(
    private readonly parent: HTMLElement,
    private colors: Colors,
    private readonly requests: ChartRequests,
  ) {
    this.dot.className = 'dot';
    const { fontSize, fontFamily } = getComputedStyle(parent);
    this.font = { px: Number.parseFloat(fontSize) || 12, family: fontFamily || 'sans-serif' };
  }

  /** Width of the plot in CSS pixels. */
  get columns(): number {
    return this.plot ? Math.max(1, this.plot.over.clientWidth) : 240;
  }

  draw(picture: Picture): void {
    this.picture = picture;
    const parts = [picture.x, picture.y, ...picture.series].map((part) =>
      'ink' in part ? part.kind + part.ink + part.isFilled : part.isLog,
    );
    const shape = [...parts, picture.xTitle, picture.yTitle, picture.isEmpty].join();
    if (!this.plot || shape !== this.shape) {
      this.plot?.destroy();
      this.shape = shape;
      this.plot = new uPlot(this.options(picture), this.data(picture), this.parent);
      this.plot.over.append(this.dot);
      this.hear(this.plot.over);
      this.plot.batch(() => {}); // paints now, not in a microtask
    } else this.plot.batch((plot: uPlot) => plot.setData(this.data(picture)));
  }

  /** Puts the cursor on a spot of the newest picture, or hides it, also where the spot is out of sight. */
  mark(spot: Pick<Spot, 'x' | 'y'> | null): void {
    this.dot.hidden = spot === null || this.picture === null || !isWithin(this.picture.x, spot.x);
    if (!spot || !this.plot) return;
    const [x, y] = [this.plot.valToPos(spot.x, 'x'), this.plot.valToPos(spot.y, 'y')];
    this.dot.style.translate = `${x}px 0`;
    this.dot.style.setProperty('--y', `${Math.max(0, Math.min(this.plot.over.clientHeight, y))}px`);
  }

  /** Fits the chart to its parent. */
  resize(): void {
    const size = this.size();
    if (!this.plot || this.parent.clientWidth === 0) return;
    if (size.width === this.plot.width && size.height === this.plot.height) return;
    this.plot.setSize(size);
    if (this.picture) this.draw(this.picture); // ranges depend on the width
  }

  /** Repaints with the colors of a new theme. */
  repaint(colors: Colors): void {
    this.colors = colors;
    this.plot?.redraw(false, true);
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }

  private size() {
    const { clientWidth, clientHeight } = this.parent;
    return { width: Math.max(clientWidth, LEAST.width), height: Math.max(clientHeight, LEAST.height) };
  }

  /** Turns what the pointer does to a plot into requests. */
  private hear(over: HTMLElement): void {
    const { requests } = this;
    const x = (at: number) => this.plot?.posToVal(at, 'x') ?? 0;
    const y = (at: number) => this.plot?.posToVal(at, 'y') ?? 0;
    new Gestures(over, {
      isAlone: () => requests.isAlone(),
      scale: () => over.getBoundingClientRect().width / over.clientWidth || 1,
      point: (left, top) => requests.point(x(left), y(top)),
      leave: () => requests.leave(),
      select: (from, to) => requests.select(x(from), x(to)),
      drag: (by) => requests.pan(-by / this.columns),
      zoom: (factor, at) => requests.zoom(factor, x(at)),
      reset: () => requests.reset(),
    });
  }

  private data({ series }: Picture): uPlot.AlignedData {
    // In mode 2 each series has its own x values, which uPlot's types do not cover.
    return [null, ...series.map(({ data }) => data)] as unknown as uPlot.AlignedData;
  }

  /** The room around the plot in CSS pixels, whole ones: the pointer's place would be off by the rest. */
  private around() {
    const { px } = this.font;
    const of = (room: keyof typeof AROUND) => Math.round(AROUND[room] * px);
    return { top: of('top'), end: of('end'), x: of('x'), y: of('y'), title: of('title') };
  }

  private options(picture: Picture): uPlot.Options {
    const font = `${this.font.px}px ${this.font.family}`;
    const { top, end, x, y, title } = this.around();
    const axis = {
      stroke: () => this.colors.muted,
      ticks: { show: false },
      font,
      gap: 6,
      labelSize: title,
      labelGap: 0,
      labelFont: font,
      values: (_: uPlot, ticks: (number | null)[], side: number) => {
        if (picture.isEmpty) return ticks.map(() => ''); // numbers would be invented
        const { min } = side === 0 ? this.picture!.x : this.picture!.y;
        return ticks.map((tick) => (tick === null || tick < min ? '' : (+tick.toFixed(3)).toLocaleString(language())));
      },
    };
    return {
      mode: 2,
      ...this.size(),
      padding: [top, end, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, ...distribution(picture.x), range: () => this.rangeX() },
        y: { ...distribution(picture.y), range: () => [this.picture!.y.min, this.picture!.y.max] },
      },
      series: [{}, ...picture.series.map((series) => this.seriesOptions(series))],
      axes: [
        {
          ...axis,
          ...ticksOf(picture.x),
          size: x,
          label: picture.xTitle,
          grid: { show: false },
          ...(picture.countsTokens ? { incrs: TOKEN_STEPS } : {}),
        },
        {
          ...axis,
          ...ticksOf(picture.y),
          size: y,
          label: picture.yTitle,
          space: (plot) => Math.max(34, plot.height / 12),
          grid: { stroke: () => this.colors.line, width: 1, ...(picture.y.isLog ? { filter: keepTicks } : {}) },
        },
      ],
      hooks: { draw: [(plot) => paintMarks(plot, this.picture!, this.brush())] },
    };
  }

  private brush() {
    return { colors: this.colors, font: this.font, ratio: devicePixelRatio };
  }

  private seriesOptions({ kind, ink, dash, isFilled }: Series): uPlot.Series {
    const color = () => this.colors[ink];
    const isPoints = kind === 'points';
    return {
      facets: [
        { scale: 'x', auto: true, sorted: 1 },
        { scale: 'y', auto: true },
      ],
      paths: PATHS[kind],
      stroke: isPoints ? undefined : color,
      fill: isPoints ? color : isFilled ? () => this.colors.fill : undefined,
      width: isPoints ? 0 : 1.25,
      dash: dash && [...dash],
      points: { show: false },
    };
  }

  /**
   * The range of the x axis. The bar of prefill has a fixed width in front of the first x, however many tokens there
   * are.
   */
  private rangeX(): [number, number] {
    const { x, lead } = this.picture!;
    const { end, y, title } = this.around();
    const width = this.size().width - end - y - title;
    return [lead ? x.min - ((x.max - x.min) * LEAD_WIDTH) / (width - LEAD_WIDTH) : x.min, x.max];
  }
}

function distribution({ isLog }: Scale): Partial<uPlot.Scale> {
  return isLog ? { distr: 3 } : {};
}

/** Own ticks for a logarithmic axis: those of uPlot begin at the end of the scale, whatever number that is. */
function ticksOf({ isLog }: Scale): Pick<uPlot.Axis, 'splits' | 'filter'> {
  return isLog ? { splits: (_plot, _axis, min, max) => logTicks(min, max), filter: keepTicks } : {};
}

/** Replaces the filter of uPlot, which would leave a short logarithmic axis with one number. */
function keepTicks(_: uPlot, ticks: number[]): number[] {
  return ticks;
}

/** Skips empty series: uPlot also asks for their paths, and its builders need a point. */
function whereNotEmpty(build: uPlot.Series.PathBuilder): uPlot.Series.PathBuilder {
  return (plot, series, from, to) => (to < from ? null : build(plot, series, from, to));
}

function squares(plot: uPlot, series: number): uPlot.Series.Paths {
  const [xs, ys] = plot.data[series] as unknown as Series['data'];
  const side = POINT_SIDE * devicePixelRatio;
  const fill = new Path2D();
  for (let i = 0; i < ys.length; i++) {
    fill.rect(plot.valToPos(xs[i], 'x', true) - side / 2, plot.valToPos(ys[i], 'y', true) - side / 2, side, side);
  }
  return { fill };
}
