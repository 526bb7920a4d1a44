// The decode bench as a picture: the time between tokens by steps in flight and by context, the GPU's own step, and what the
// roofline allows. Pure.

import { drawChart, MARKERS } from './chart.mjs';

/**
 * @typedef {import('../report').BenchReport} BenchReport
 * @typedef {import('../report').DecodeRow} DecodeRow
 * @typedef {import('../report').DecodeFigures} DecodeFigures
 * @typedef {import('./chart.mjs').Panel} Panel
 * @typedef {import('./chart.mjs').Series} Series
 * @typedef {DecodeRow & { median: DecodeFigures }} Measured
 */

const Y_LABEL = 'milliseconds a token';

const STYLES = {
  'arrivals, p99': { color: '#e0652d', marker: MARKERS.triangle },
  'arrivals, mean': { color: '#3b8fd9', marker: MARKERS.circle },
  'GPU step, p99': { color: '#b667c4', marker: MARKERS.down },
  'GPU step, p50': { color: '#1d9a74', marker: MARKERS.diamond },
};

/** @type {Record<string, (figures: DecodeFigures) => number | null | undefined>} */
const FIGURES = {
  'arrivals, p99': ({ tbtMs }) => tbtMs.p99,
  'arrivals, mean': ({ tbtMs }) => tbtMs.mean,
  'GPU step, p99': ({ gpuMs }) => gpuMs?.p99,
  'GPU step, p50': ({ gpuMs }) => gpuMs?.p50,
  /** All bytes of a token at the roofline's speed. */
  roofline: ({ tokensPerSecond, fraction }) => (1000 * fraction) / tokensPerSecond,
};

/** What a clock gave as 0 has no place on a logarithmic axis. @param {Measured[]} rows @param {(row: Measured, i: number) => number} x @returns {Series[]} */
function seriesOf(rows, x) {
  return Object.entries(FIGURES)
    .map(([name, figure]) => ({
      name,
      points: rows.map((row, i) => ({ x: x(row, i), y: figure(row.median) ?? 0 })).filter(({ y }) => y > 0),
    }))
    .filter(({ points }) => points.length > 0);
}

/** @param {Measured} row */
const runAheadText = ({ runAhead, median }) => (runAhead === 'auto' ? `auto (${median.runAhead})` : String(runAhead));

/** Every depth as far from the next, `auto` last: it may have settled anywhere. @param {Measured[]} rows @param {string} title @returns {Panel} */
function runAheadPanel(rows, title) {
  const ticks = new Map(rows.map((row, i) => [2 ** i, runAheadText(row)]));
  return {
    title: `${title}, context ${rows[0]?.context}`,
    xLabel: 'steps in flight',
    yLabel: Y_LABEL,
    series: seriesOf(rows, (_, i) => 2 ** i),
    tick: (x) => ticks.get(x) ?? '',
  };
}

/** @param {Measured[]} rows @param {string} title @returns {Panel} */
function contextPanel(rows, title) {
  const sorted = [...rows].sort((a, b) => a.context - b.context);
  const series = seriesOf(sorted, ({ context }) => context);
  return { title: `${title}, by context`, xLabel: 'tokens before the answer', yLabel: Y_LABEL, series };
}

/**
 * @param {BenchReport} report of the suite `decode` @param {string} shape one of its shapes
 * @returns {string} SVG
 */
export function plotDecode(report, shape) {
  if (report.suite !== 'decode') throw new Error(`This is a report of ${report.suite}; decode is needed.`);
  const rows = /** @type {Measured[]} */ (report.rows.filter((row) => row.shape === shape && row.median !== null));
  const [first] = rows;
  if (!first) throw new Error(`The report has no measured row for the shape ${shape}.`);
  const title = `${shape}, ${report.quant}`;
  const byRunAhead = rows.filter(({ context }) => context === first.context);
  const byContext = rows.filter(({ runAhead }) => runAhead === rows.at(-1)?.runAhead);
  const panels = [
    ...(byRunAhead.length > 1 ? [runAheadPanel(byRunAhead, title)] : []),
    ...(byContext.length > 1 || byRunAhead.length === 1 ? [contextPanel(byContext, title)] : []),
  ];
  const source = `${report.adapter}, ${report.browser}, ${report.date.slice(0, 10)}, KV ${report.kv}`;
  return drawChart({ label: `Time between tokens, ${shape}`, source, styles: STYLES, panels });
}
