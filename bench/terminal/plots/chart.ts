// Lines over logarithmic axes as an SVG picture, readable on light and dark. Observable Plot draws the panels and the
// legend. Pure.

import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

export interface Point {
  x: number;
  y: number;
}

/** A line named as in the styles of its chart. A line with another name is a bound, and dashed. */
export interface Series {
  name: string;
  points: Point[];
}

/** Lines differ by color and by symbol. */
export interface Style {
  color: string;
  symbol: Plot.SymbolType;
  hollow?: boolean;
}

export interface Panel {
  title: string;
  xLabel: string;
  yLabel: string;
  series: Series[];
  /** The label of a tick. Default: x itself. */
  tick?: (x: number) => string;
}

export interface Chart {
  /** The description for readers who do not see the picture. */
  label: string;
  /** The line at the foot. */
  source: string;
  styles: Record<string, Style>;
  /** One or two panels. */
  panels: Panel[];
}

const WIDTH = 960;
const HEIGHT = 470;
const PANEL = { width: WIDTH / 2, height: 404 };
/** Pixels of a letter, about. */
const LETTER = 6.7;
const LEGEND = { height: 30, left: 62, line: 26, gap: 34 + 24 };
const BOUND: Style = { color: '#80868f', symbol: 'circle', hollow: true };

const CSS = `.chart { font: 12px system-ui, sans-serif; color: #1c2128 }
.chart > svg { font-size: 12px } .chart .title { font-size: 14px; font-weight: 600; fill: currentColor }
.chart .quiet { fill: #57606a } @media (prefers-color-scheme: dark) { .chart { color: #e6edf3 } .chart .quiet { fill: #9da7b3 } }`;

const { document } = parseHTML('<!doctype html><html><body></body></html>');

interface Row extends Point {
  name: string;
}

/** The lines of some rows with a symbol at each point; a bound is dashed and has no symbols. */
function lines(rows: Row[], styles: Record<string, Style>): Plot.Markish[] {
  const styleOf = ({ name }: Row) => styles[name] ?? BOUND;
  const [named, bounds] = [true, false].map((isNamed) => rows.filter(({ name }) => name in styles === isNamed));
  const place = { x: 'x', y: 'y', z: 'name' };
  return [
    Plot.line(bounds ?? [], { ...place, stroke: BOUND.color, strokeDasharray: '5 4' }),
    Plot.line(named ?? [], { ...place, stroke: (row: Row) => styleOf(row).color, strokeWidth: 2 }),
    Plot.dot(named ?? [], {
      x: 'x',
      y: 'y',
      r: 3.5,
      symbol: (row: Row) => styleOf(row).symbol,
      stroke: (row: Row) => styleOf(row).color,
      fill: (row: Row) => (styleOf(row).hollow ? 'none' : styleOf(row).color),
    }),
  ];
}

/** The colors and the symbols of the styles are used as they are. */
const AS_GIVEN = { color: { type: 'identity' }, symbol: { type: 'identity' } } as const;

function drawPanel({ title, xLabel, yLabel, series, tick = String }: Panel, styles: Record<string, Style>): Element {
  const rows = series.flatMap(({ name, points }) => points.map((point): Row => ({ ...point, name })));
  const stops = [...new Set(rows.map(({ x }) => x))].sort((a, b) => a - b);
  const decades = rows.map(({ y }) => Math.log10(y));
  const low = Math.floor(Math.min(...decades));
  const high = Math.max(Math.ceil(Math.max(...decades)), low + 1);
  const values = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return Plot.plot({
    ...AS_GIVEN,
    document: document as unknown as Document,
    ...PANEL,
    marginTop: 56,
    marginLeft: 62,
    marginRight: 28,
    marginBottom: 48,
    x: { type: 'log', base: 2, domain: stops.length > 1 ? [stops[0], stops.at(-1)] : undefined, label: xLabel },
    y: { type: 'log', domain: [values[0], values.at(-1)], label: yLabel },
    marks: [
      Plot.gridX(stops),
      Plot.gridY(values),
      Plot.axisX(stops, { tickFormat: (x: number) => tick(x), labelAnchor: 'center', labelArrow: 'none' }),
      Plot.axisY(values, {
        tickFormat: (y: number) => String(Number(y.toPrecision(1))),
        labelAnchor: 'center',
        labelArrow: 'none',
      }),
      Plot.text([title], { frameAnchor: 'top-left', dy: -28, className: 'title' }),
      ...lines(rows, styles),
    ],
  }) as unknown as Element;
}

function drawLegend(names: string[], styles: Record<string, Style>): Element {
  let left = LEGEND.left;
  const entries = names.map((name) => {
    const start = left;
    left += name.length * LETTER + LEGEND.gap;
    return { name, start };
  });
  const ends = entries.flatMap(({ name, start }) => [0, LEGEND.line].map((dx): Row => ({ name, x: start + dx, y: 0 })));
  const text = {
    x: ({ start }: { start: number }) => start + LEGEND.line + 8,
    y: 0,
    text: 'name',
    textAnchor: 'start',
  } as const;
  return Plot.plot({
    ...AS_GIVEN,
    document: document as unknown as Document,
    width: WIDTH,
    height: LEGEND.height,
    margin: 0,
    x: { type: 'identity', axis: null },
    y: { domain: [-1, 1], axis: null },
    marks: [...lines(ends, styles), Plot.text(entries, text)],
  }) as unknown as Element;
}

/** The names of the styles that were drawn, in their order, and then those of the bounds. */
function legendNames({ panels, styles }: Chart): string[] {
  const drawn = new Set(panels.flatMap((panel) => panel.series.map(({ name }) => name)));
  const bounds = [...drawn].filter((name) => !Object.hasOwn(styles, name));
  return [...Object.keys(styles).filter((name) => drawn.has(name)), ...bounds];
}

/** The picture as SVG text. */
export function drawChart(chart: Chart): string {
  const { styles, panels, label, source } = chart;
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const size = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: 'img', 'aria-label': label };
  for (const [name, value] of Object.entries({ ...size, class: 'chart' })) svg.setAttribute(name, String(value));
  const style = document.createElement('style');
  style.textContent = CSS;
  const foot = document.createElementNS('http://www.w3.org/2000/svg', 'text');
  for (const [name, value] of Object.entries({ x: LEGEND.left, y: HEIGHT - 14, class: 'quiet' }))
    foot.setAttribute(name, String(value));
  foot.textContent = source;
  svg.append(style, foot);
  for (const [i, panel] of panels.entries()) {
    const drawn = drawPanel(panel, styles);
    drawn.setAttribute('x', String(i * PANEL.width));
    svg.append(drawn as never);
  }
  const legend = drawLegend(legendNames(chart), styles);
  legend.setAttribute('y', String(PANEL.height + 8));
  svg.append(legend as never);
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return `${svg.outerHTML}\n`;
}
