// Lines over logarithmic axes as plain SVG text, readable on light and dark: what the pictures of the benches are made of. Pure.

export type Point = { x: number; y: number };

/** named as in the styles of its chart; an unknown name is a bound, dashed */
export type Series = { name: string; points: Point[] };

export type Marker = (x: number, y: number) => string;

/** color and marker: never the color alone */
export type Style = { color: string; marker: Marker; hollow?: boolean };

export interface Panel {
  title: string;
  xLabel: string;
  yLabel: string;
  series: Series[];
  /** what stands below x; default x itself */
  tick?: (x: number) => string;
}

export interface Chart {
  /** for those who do not see it */
  label: string;
  /** line at the foot */
  source: string;
  styles: Record<string, Style>;
  /** at most two */
  panels: Panel[];
}

const WIDTH = 960;
const HEIGHT = 470;
const PANEL = { width: 390, height: 300, top: 56, left: 62, gap: 90 };
const LEGEND_TOP = 424;
const LEGEND_GAP = 24;
/** Pixels of a letter, about. */
const LETTER = 6.7;

/** All stand out on white and on near-black. */
export const MARKERS: Record<'cross' | 'square' | 'triangle' | 'diamond' | 'circle' | 'down', Marker> = {
  cross: (x, y) => `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`,
  square: (x, y) => `M${x - 4} ${y - 4}h8v8h-8z`,
  triangle: (x, y) => `M${x} ${y - 5}l5 9h-10z`,
  diamond: (x, y) => `M${x} ${y - 5}l5 5l-5 5l-5 -5z`,
  circle: (x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z`,
  down: (x, y) => `M${x} ${y + 5}l5 -9h-10z`,
};

const CSS = `text { font: 12px system-ui, sans-serif; fill: #1c2128 } .title { font-size: 14px; font-weight: 600 }
.quiet { fill: #57606a } .grid { stroke: #8a8f98; stroke-opacity: .25 } .axis { stroke: #57606a; fill: none }
.roofline { stroke: #57606a; stroke-dasharray: 5 4; fill: none; stroke-width: 1.5 } .line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .quiet { fill: #9da7b3 } .axis, .roofline { stroke: #9da7b3 } }`;

const round = (value: number) => Math.round(value * 10) / 10;

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

const label = (x: number, y: number, text: string, attributes: string = '') =>
  `<text x="${round(x)}" y="${round(y)}"${attributes}>${escaped(text)}</text>`;

function scales(points: Point[]) {
  const xs = points.map(({ x }) => Math.log2(x));
  const ys = points.map(({ y }) => Math.log10(y));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [Math.floor(Math.min(...ys)), Math.max(Math.ceil(Math.max(...ys)), Math.floor(Math.min(...ys)) + 1)];
  return {
    decades: Array.from({ length: y1 - y0 + 1 }, (_, i) => 10 ** (y0 + i)),
    stops: [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b),
    x: (x: number) => (x1 === x0 ? PANEL.width / 2 : ((Math.log2(x) - x0) / (x1 - x0)) * PANEL.width),
    y: (y: number) => PANEL.height * (1 - (Math.log10(y) - y0) / (y1 - y0)),
  };
}

function drawPanel(
  { title, xLabel, yLabel, series, tick = String }: Panel,
  styles: Record<string, Style>,
  left: number,
) {
  const { width, height, top } = PANEL;
  const scale = scales(series.flatMap(({ points }) => points));
  const parts = [label(0, -14, title, ' class="title"')];
  for (const decade of scale.decades) {
    const y = round(scale.y(decade));
    parts.push(
      `<path class="grid" d="M0 ${y}h${width}"/>`,
      label(-8, y + 4, String(Number(decade.toPrecision(1))), ' text-anchor="end" class="quiet"'),
    );
  }
  for (const stop of scale.stops) {
    const x = round(scale.x(stop));
    parts.push(
      `<path class="grid" d="M${x} 0v${height}"/>`,
      label(x, height + 18, tick(stop), ' text-anchor="middle" class="quiet"'),
    );
  }
  const upright = ` text-anchor="middle" transform="translate(-46 ${height / 2}) rotate(-90)"`;
  parts.push(
    `<path class="axis" d="M0 0v${height}h${width}"/>`,
    label(width / 2, height + 38, xLabel, ' text-anchor="middle"'),
    label(0, 0, yLabel, upright),
  );
  for (const { name, points } of series) {
    const places = points.map(({ x, y }) => ({ x: round(scale.x(x)), y: round(scale.y(y)) }));
    parts.push(drawLine(styles[name], places));
  }
  return `<g transform="translate(${left} ${top})">\n${parts.join('\n')}\n</g>`;
}

/** @param places in pixels */
function drawLine(style: Style | undefined, places: Point[]) {
  const path = places.map(({ x, y }, i) => `${i ? 'L' : 'M'}${x} ${y}`).join('');
  if (!style) return `<path class="roofline" d="${path}"/>`;
  const { color, marker, hollow } = style;
  const markers = places.map(({ x, y }) => marker(x, y)).join('');
  const fill = hollow ? 'none' : color;
  return `<path class="line" stroke="${color}" d="${path}"/><path stroke="${color}" fill="${fill}" d="${markers}"/>`;
}

function drawLegend(names: string[], styles: Record<string, Style>) {
  let x = PANEL.left;
  const entries = names.map((name) => {
    const ends = [x, x + 26].map((end) => ({ x: end, y: LEGEND_TOP }));
    const entry = drawLine(styles[name], ends) + label(x + 34, LEGEND_TOP + 4, name);
    x = round(x + 34 + name.length * LETTER + LEGEND_GAP);
    return entry;
  });
  return entries.join('\n');
}

/** The names of the styles that were drawn, in their order, and then the bounds. */
function legendNames({ panels, styles }: Chart) {
  const drawn = new Set(panels.flatMap((panel) => panel.series.map(({ name }) => name)));
  const bounds = [...drawn].filter((name) => !Object.hasOwn(styles, name));
  return [...Object.keys(styles).filter((name) => drawn.has(name)), ...bounds];
}

/** @returns SVG */
export function drawChart(chart: Chart): string {
  const { styles, panels } = chart;
  const body = [
    ...panels.map((panel, i) => drawPanel(panel, styles, PANEL.left + i * (PANEL.width + PANEL.gap))),
    drawLegend(legendNames(chart), styles),
    label(PANEL.left, HEIGHT - 14, chart.source, ' class="quiet"'),
  ];
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(chart.label)}">
<style>${CSS}</style>
${body.join('\n')}
</svg>
`;
}
