// Lines over logarithmic axes as plain SVG text, readable on light and dark: what the pictures of the benches are made of. Pure.

/**
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ name: string, points: Point[] }} Series named as in the styles of its chart; an unknown name is a bound, dashed
 * @typedef {(x: number, y: number) => string} Marker
 * @typedef {{ color: string, marker: Marker, hollow?: boolean }} Style color and marker: never the color alone
 * @typedef {object} Panel
 * @property {string} title
 * @property {string} xLabel
 * @property {string} yLabel
 * @property {Series[]} series
 * @property {(x: number) => string} [tick] what stands below x; default x itself
 * @typedef {object} Chart
 * @property {string} label for those who do not see it
 * @property {string} source line at the foot
 * @property {Record<string, Style>} styles
 * @property {Panel[]} panels at most two
 */

const WIDTH = 960;
const HEIGHT = 470;
const PANEL = { width: 390, height: 300, top: 56, left: 62, gap: 90 };
const LEGEND_TOP = 424;
const LEGEND_GAP = 24;
/** Pixels of a letter, about. */
const LETTER = 6.7;

/** All stand out on white and on near-black. @satisfies {Record<string, Marker>} */
export const MARKERS = {
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

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;

/** @param {string} text */
const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** @param {number} x @param {number} y @param {string} text @param {string} [attributes] */
const label = (x, y, text, attributes = '') =>
  `<text x="${round(x)}" y="${round(y)}"${attributes}>${escaped(text)}</text>`;

/** @param {Point[]} points */
function scales(points) {
  const xs = points.map(({ x }) => Math.log2(x));
  const ys = points.map(({ y }) => Math.log10(y));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [Math.floor(Math.min(...ys)), Math.max(Math.ceil(Math.max(...ys)), Math.floor(Math.min(...ys)) + 1)];
  return {
    decades: Array.from({ length: y1 - y0 + 1 }, (_, i) => 10 ** (y0 + i)),
    stops: [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b),
    /** @param {number} x */
    x: (x) => (x1 === x0 ? PANEL.width / 2 : ((Math.log2(x) - x0) / (x1 - x0)) * PANEL.width),
    /** @param {number} y */
    y: (y) => PANEL.height * (1 - (Math.log10(y) - y0) / (y1 - y0)),
  };
}

/** @param {Panel} panel @param {Record<string, Style>} styles @param {number} left */
function drawPanel({ title, xLabel, yLabel, series, tick = String }, styles, left) {
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

/** @param {Style | undefined} style @param {Point[]} places in pixels */
function drawLine(style, places) {
  const path = places.map(({ x, y }, i) => `${i ? 'L' : 'M'}${x} ${y}`).join('');
  if (!style) return `<path class="roofline" d="${path}"/>`;
  const { color, marker, hollow } = style;
  const markers = places.map(({ x, y }) => marker(x, y)).join('');
  const fill = hollow ? 'none' : color;
  return `<path class="line" stroke="${color}" d="${path}"/><path stroke="${color}" fill="${fill}" d="${markers}"/>`;
}

/** @param {string[]} names @param {Record<string, Style>} styles */
function drawLegend(names, styles) {
  let x = PANEL.left;
  const entries = names.map((name) => {
    const ends = [x, x + 26].map((end) => ({ x: end, y: LEGEND_TOP }));
    const entry = drawLine(styles[name], ends) + label(x + 34, LEGEND_TOP + 4, name);
    x = round(x + 34 + name.length * LETTER + LEGEND_GAP);
    return entry;
  });
  return entries.join('\n');
}

/** The names of the styles that were drawn, in their order, and then the bounds. @param {Chart} chart */
function legendNames({ panels, styles }) {
  const drawn = new Set(panels.flatMap((panel) => panel.series.map(({ name }) => name)));
  const bounds = [...drawn].filter((name) => !Object.hasOwn(styles, name));
  return [...Object.keys(styles).filter((name) => drawn.has(name)), ...bounds];
}

/** @param {Chart} chart @returns {string} SVG */
export function drawChart(chart) {
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
