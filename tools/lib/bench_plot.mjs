// The attention bench as a picture: plain SVG text, readable on light and dark. Milliseconds of each sibling by length, both
// axes logarithmic; the dashed line is what the roofline allows. Pure.

/**
 * @typedef {import('../../test/bench/report').AttentionRow} AttentionRow
 * @typedef {import('../../test/bench/report').BenchReport} BenchReport
 * @typedef {{ x: number, y: number }} Point length and milliseconds
 * @typedef {{ name: string, points: Point[] }} Series
 * @typedef {{ title: string, xLabel: string, series: Series[] }} Panel
 */

const WIDTH = 960;
const HEIGHT = 470;
const PANEL = { width: 390, height: 300, top: 56, left: 62, gap: 90 };
const LEGEND_TOP = 424;
const LEGEND_GAP = 24;
/** Pixels of a letter, about. */
const LETTER = 6.7;
const ROOFLINE = 'roofline';

/** Colour and marker: never the colour alone. All stand out on white and on near-black. */
const STYLES = /** @type {Record<string, { colour: string, marker: (x: number, y: number) => string }>} */ ({
  cpu: { colour: '#8a8f98', marker: (x, y) => `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` },
  eager: { colour: '#e0652d', marker: (x, y) => `M${x - 4} ${y - 4}h8v8h-8z` },
  chunked: { colour: '#c9970c', marker: (x, y) => `M${x} ${y - 5}l5 9h-10z` },
  flash_prefill: { colour: '#3b8fd9', marker: (x, y) => `M${x} ${y - 5}l5 5l-5 5l-5 -5z` },
  fused_decode: { colour: '#1d9a74', marker: (x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z` },
  split_kv_decode: { colour: '#b667c4', marker: (x, y) => `M${x} ${y + 5}l5 -9h-10z` },
});

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

/** One line a sibling that ran, and the roofline. @param {AttentionRow[]} rows @returns {Series[]} */
function seriesOf(rows) {
  const named = rows.filter(({ auto, measured }) => !auto && measured !== null);
  /** @param {(row: AttentionRow) => number} ms @param {AttentionRow[]} of @returns {Point[]} */
  const points = (ms, of) => of.map((row) => ({ x: row.kvLen, y: ms(row) })).sort((a, b) => a.x - b.x);
  const siblings = Object.keys(STYLES)
    .map((name) => ({
      name,
      points: points(
        ({ measured }) => measured?.ms ?? 0,
        named.filter((row) => row.name === name),
      ),
    }))
    .filter(({ points: { length } }) => length > 0);
  const oncePerLength = named.filter((row, i) => named.findIndex(({ kvLen }) => kvLen === row.kvLen) === i);
  const bound = points(({ measured }) => (measured ? measured.ms * measured.fraction : 0), oncePerLength);
  return bound.length === 0 ? siblings : [...siblings, { name: ROOFLINE, points: bound }];
}

/** @param {Point[]} points */
function scales(points) {
  const xs = points.map(({ x }) => Math.log2(x));
  const ys = points.map(({ y }) => Math.log10(y));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [Math.floor(Math.min(...ys)), Math.max(Math.ceil(Math.max(...ys)), Math.floor(Math.min(...ys)) + 1)];
  return {
    decades: Array.from({ length: y1 - y0 + 1 }, (_, i) => 10 ** (y0 + i)),
    lengths: [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b),
    /** @param {number} x */
    x: (x) => (x1 === x0 ? PANEL.width / 2 : ((Math.log2(x) - x0) / (x1 - x0)) * PANEL.width),
    /** @param {number} y */
    y: (y) => PANEL.height * (1 - (Math.log10(y) - y0) / (y1 - y0)),
  };
}

/** @param {Panel} panel @param {number} left */
function drawPanel({ title, xLabel, series }, left) {
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
  for (const length of scale.lengths) {
    const x = round(scale.x(length));
    parts.push(
      `<path class="grid" d="M${x} 0v${height}"/>`,
      label(x, height + 18, String(length), ' text-anchor="middle" class="quiet"'),
    );
  }
  parts.push(
    `<path class="axis" d="M0 0v${height}h${width}"/>`,
    label(width / 2, height + 38, xLabel, ' text-anchor="middle"'),
  );
  parts.push(
    label(
      0,
      0,
      'milliseconds, one layer',
      ` text-anchor="middle" transform="translate(-46 ${height / 2}) rotate(-90)"`,
    ),
  );
  for (const { name, points } of series) {
    const places = points.map(({ x, y }) => ({ x: round(scale.x(x)), y: round(scale.y(y)) }));
    parts.push(drawLine(name, places));
  }
  return `<g transform="translate(${left} ${top})">\n${parts.join('\n')}\n</g>`;
}

/** @param {string} name @param {Point[]} places in pixels */
function drawLine(name, places) {
  const path = places.map(({ x, y }, i) => `${i ? 'L' : 'M'}${x} ${y}`).join('');
  const style = STYLES[name];
  if (!style) return `<path class="roofline" d="${path}"/>`;
  const markers = places.map(({ x, y }) => style.marker(x, y)).join('');
  const fill = name === 'cpu' ? 'none' : style.colour;
  return `<path class="line" stroke="${style.colour}" d="${path}"/><path stroke="${style.colour}" fill="${fill}" d="${markers}"/>`;
}

/** @param {string[]} names */
function drawLegend(names) {
  let x = PANEL.left;
  const entries = names.map((name) => {
    const ends = [x, x + 26].map((end) => ({ x: end, y: LEGEND_TOP }));
    const entry = drawLine(name, ends) + label(x + 34, LEGEND_TOP + 4, name);
    x = round(x + 34 + name.length * LETTER + LEGEND_GAP);
    return entry;
  });
  return entries.join('\n');
}

/**
 * @param {BenchReport} report of the suite `attention` @param {string} shape one of its shapes
 * @returns {string} SVG
 */
export function plotAttention(report, shape) {
  if (report.suite !== 'attention') throw new Error(`This is a report of ${report.suite}; attention is needed.`);
  const rows = report.rows.filter((row) => row.shape === shape);
  /** @param {AttentionRow['pass']} pass */
  const series = (pass) => seriesOf(rows.filter((row) => row.pass === pass));
  const panels = [
    { title: `${shape}: decode, one token`, xLabel: 'keys in the cache', series: series('decode') },
    { title: `${shape}: prefill of a whole prompt`, xLabel: 'prompt tokens', series: series('prefill') },
  ].filter((panel) => panel.series.length > 0);
  if (panels.length === 0) throw new Error(`The report has no measured row for the shape ${shape}.`);
  const drawn = new Set(panels.flatMap((panel) => panel.series.map(({ name }) => name)));
  const names = [...Object.keys(STYLES), ROOFLINE].filter((name) => drawn.has(name));
  const source = `${report.adapter}, ${report.browser}, ${report.date.slice(0, 10)}, KV ${report.kv}`;
  const body = [
    ...panels.map((panel, i) => drawPanel(panel, PANEL.left + i * (PANEL.width + PANEL.gap))),
    drawLegend(names),
    label(PANEL.left, HEIGHT - 14, source, ' class="quiet"'),
  ];
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="Attention time by length, ${escaped(shape)}">
<style>${CSS}</style>
${body.join('\n')}
</svg>
`;
}
