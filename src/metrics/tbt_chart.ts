// The chart of gaps over tokens: uPlot, with the run's percentiles and events drawn over it. Draws what it is given, keeps no run.

import uPlot from 'uplot';
import { formatMs } from './figure_format';
import type { RunRecord } from './run_record';

export interface ChartColours {
  accent: string;
  fill: string;
  ink: string;
  muted: string;
  line: string;
}

/** The x axis holds at least so many tokens, so that the first ones do not fly apart. */
const MIN_TOKENS = 24;
/** Gaps of one burst may be 0 ms, which a logarithm cannot show. */
const LOG_FLOOR_MS = 0.01;
const HEIGHT = 216;

export class TbtChart {
  private plot: uPlot;
  private run: RunRecord | null = null;

  constructor(
    private readonly parent: HTMLElement,
    private colours: ChartColours,
    readonly logScale: boolean,
    private readonly onHover: (pointIndex: number | null) => void,
  ) {
    this.plot = new uPlot(this.options(), [[], []], parent);
  }

  draw(run: RunRecord): void {
    this.run = run;
    const y = this.logScale ? run.gaps.map((gap) => Math.max(gap, LOG_FLOOR_MS)) : run.gaps;
    this.plot.setData([run.tokenNumbers, y]);
  }

  /** Fits the width of the parent. */
  resize(): void {
    const width = this.parent.clientWidth;
    if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  /** The theme has changed: colours are read again. */
  repaint(colours: ChartColours): void {
    this.colours = colours;
    this.plot.redraw(false, true);
  }

  destroy(): void {
    this.plot.destroy();
  }

  private options(): uPlot.Options {
    const axis = {
      stroke: () => this.colours.muted,
      grid: { stroke: () => this.colours.line, width: 1 },
      ticks: { show: false },
      font: '11px system-ui, sans-serif',
    };
    return {
      width: Math.max(this.parent.clientWidth, 200),
      height: HEIGHT,
      padding: [18, 32, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: false, range: (_, _min, max) => [1, Math.max(max ?? 0, MIN_TOKENS)] },
        y: this.logScale
          ? { distr: 3, range: (_, min, max) => [(min ?? 1) / 1.5, (max ?? 10) * 1.5] }
          : { range: (_, _min, max) => [0, (max || 10) * 1.12] },
      },
      series: [
        {},
        {
          stroke: () => this.colours.accent,
          fill: () => this.colours.fill,
          width: 1.25,
          points: { show: (_, _series, i0, i1) => i1 - i0 < 60, size: 4, fill: () => this.colours.accent },
        },
      ],
      axes: [
        {
          ...axis,
          size: 28,
          gap: 6,
          grid: { show: false },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
        },
        {
          ...axis,
          size: 44,
          gap: 6,
          space: 34,
          values: (_, ticks) => ticks.map((t) => (t === null ? '' : `${+t.toFixed(3)}`)),
        },
      ],
      hooks: {
        draw: [(plot) => this.drawMarks(plot)],
        setCursor: [(plot) => this.onHover(plot.cursor.idx ?? null)],
      },
    };
  }

  /** Lines across the plot: TTFT at the first token, events where they happened, p50 and p99 from left to right. */
  private drawMarks(plot: uPlot): void {
    const run = this.run;
    if (!run) return;
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const { ink, muted, accent } = this.colours;
    ctx.save();
    ctx.lineWidth = ratio;
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;

    const vertical = (token: number, label: string, colour: string) => {
      const x = Math.round(plot.valToPos(token, 'x', true)) + 0.5;
      ctx.strokeStyle = colour;
      ctx.fillStyle = colour;
      ctx.setLineDash([]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top - 4 * ratio);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const right = x + ctx.measureText(label).width > bbox.left + bbox.width;
      ctx.textAlign = right ? 'right' : 'left';
      ctx.textBaseline = 'bottom';
      ctx.fillText(label, right ? x : x - ratio, bbox.top - 5 * ratio);
    };
    let labelY = Number.NEGATIVE_INFINITY;
    const horizontal = (value: number | null, label: string) => {
      if (value === null || run.gaps.length < 4) return;
      const y = Math.round(plot.valToPos(Math.max(value, this.logScale ? LOG_FLOOR_MS : 0), 'y', true)) + 0.5;
      ctx.strokeStyle = muted;
      ctx.fillStyle = ink;
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.textAlign = 'left';
      ctx.textBaseline = 'middle';
      // From below to above, each label at least a line over the one before.
      labelY = labelY === Number.NEGATIVE_INFINITY ? y : Math.min(y, labelY - 12 * ratio);
      ctx.fillText(label, bbox.left + bbox.width + 5 * ratio, labelY);
    };

    ctx.fillStyle = muted;
    ctx.textAlign = 'right';
    ctx.textBaseline = 'bottom';
    ctx.fillText('ms', bbox.left - 6 * ratio, bbox.top - 5 * ratio);
    if (run.ttftMs !== null) vertical(1, `first token after ${formatMs(run.ttftMs)}`, accent);
    for (const mark of run.marks) vertical(Math.max(1, mark.afterToken), mark.label, ink);
    horizontal(run.tbt.p50, 'p50');
    horizontal(run.tbt.p99, 'p99');
    ctx.restore();
  }
}
