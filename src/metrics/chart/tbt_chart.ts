// Paints pictures with uPlot, and reports the place of the pointer. Knows nothing of runs.

import uPlot from 'uplot';
import { type Colors, LEAD_WIDTH, paintMarks } from './chart_marks';
import { logTicks } from './log_ticks';
import type { Picture, Scale, Series, Spot } from './picture';

const HEIGHT = 216;
/** Padding of the plot in CSS pixels, for labels of verticals on top and of levels at the end. */
const PADDING = [18, 32, 0, 0] as const;
const X_AXIS = 28;
const Y_AXIS = 44;
/** Room of an axis's title. */
const TITLE = 16;
const AROUND = PADDING[1] + Y_AXIS + TITLE;
/** Steps of an axis that counts tokens. */
const TOKEN_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000];

const PATHS: Record<Series['kind'], uPlot.Series.PathBuilder> = {
  line: whereNotEmpty(uPlot.paths.linear!()),
  points: whereNotEmpty(squares),
  steps: whereNotEmpty(uPlot.paths.stepped!({ align: 1 })),
};
/** Side of a point in CSS pixels. */
const POINT_SIDE = 3;

export class TbtChart {
  private plot: uPlot | null = null;
  private picture: Picture | null = null;
  /** Signature of the plot's series, scales and titles, which uPlot cannot change. */
  private shape = '';
  private readonly dot = document.createElement('i');

  /** @param onPoint takes the place of the pointer on the scales */
  constructor(
    private readonly parent: HTMLElement,
    private colors: Colors,
    private readonly onPoint: (x: number, y: number) => void,
    private readonly onLeave: () => void,
  ) {
    this.dot.className = 'dot';
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
      this.plot.over.addEventListener('pointermove', this.point);
      this.plot.over.addEventListener('pointerdown', this.point);
      this.plot.over.addEventListener('pointerleave', this.onLeave);
      this.plot.batch(() => {}); // paints now, not in a microtask
    } else this.plot.batch((plot: uPlot) => plot.setData(this.data(picture)));
  }

  /** Puts the cursor on a spot of the newest picture, or hides it. */
  mark(spot: Pick<Spot, 'x' | 'y'> | null): void {
    this.dot.hidden = spot === null;
    if (!spot || !this.plot) return;
    const [x, y] = [this.plot.valToPos(spot.x, 'x'), this.plot.valToPos(spot.y, 'y')];
    this.dot.style.translate = `${x}px 0`;
    this.dot.style.setProperty('--y', `${Math.min(this.plot.over.clientHeight, y)}px`);
  }

  /** Fits the chart to the width of its parent. */
  resize(): void {
    const width = this.parent.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
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

  private readonly point = ({ clientX, clientY }: PointerEvent) => {
    if (!this.plot) return;
    const { left, top, width } = this.plot.over.getBoundingClientRect();
    const scale = width / this.plot.over.clientWidth || 1; // a page may zoom or transform the element around the chart
    this.onPoint(this.plot.posToVal((clientX - left) / scale, 'x'), this.plot.posToVal((clientY - top) / scale, 'y'));
  };

  private data({ series }: Picture): uPlot.AlignedData {
    // In mode 2 each series has its own x values, which uPlot's types do not cover.
    return [null, ...series.map(({ data }) => data)] as unknown as uPlot.AlignedData;
  }

  private options(picture: Picture): uPlot.Options {
    const axis = {
      stroke: () => this.colors.muted,
      ticks: { show: false },
      font: '12px system-ui, sans-serif',
      gap: 6,
      labelSize: TITLE,
      labelGap: 0,
      labelFont: '12px system-ui, sans-serif',
      values: (_: uPlot, ticks: (number | null)[], side: number) => {
        if (picture.isEmpty) return ticks.map(() => ''); // numbers would be invented
        const { min } = side === 0 ? this.picture!.x : this.picture!.y;
        return ticks.map((tick) => (tick === null || tick < min ? '' : String(+tick.toFixed(3))));
      },
    };
    return {
      mode: 2,
      width: Math.max(this.parent.clientWidth, 200),
      height: HEIGHT,
      padding: [...PADDING],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, ...distribution(picture.x), range: (plot) => this.rangeX(plot) },
        y: { ...distribution(picture.y), range: () => [this.picture!.y.min, this.picture!.y.max] },
      },
      series: [{}, ...picture.series.map((series) => this.seriesOptions(series))],
      axes: [
        {
          ...axis,
          ...ticksOf(picture.x),
          size: X_AXIS,
          label: picture.xTitle,
          grid: { show: false },
          ...(picture.countsTokens ? { incrs: TOKEN_STEPS } : {}),
        },
        {
          ...axis,
          ...ticksOf(picture.y),
          size: Y_AXIS,
          label: picture.yTitle,
          space: 34,
          grid: { stroke: () => this.colors.line, width: 1, ...(picture.y.isLog ? { filter: keepTicks } : {}) },
        },
      ],
      hooks: { draw: [(plot) => paintMarks(plot, this.picture!, this.colors, devicePixelRatio)] },
    };
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
  private rangeX(plot: uPlot): [number, number] {
    const { x, lead } = this.picture!;
    const width = plot.bbox?.width / devicePixelRatio || this.parent.clientWidth - AROUND;
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
