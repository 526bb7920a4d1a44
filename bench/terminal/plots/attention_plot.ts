// The attention bench as a picture: milliseconds of each sibling by length, and what the roofline allows. Pure.

import type { AttentionRow, BenchReport } from '../../report';
import type { Point, Series, Style } from './chart';
import { drawChart } from './chart';

const ROOFLINE = 'roofline';
const Y_LABEL = 'milliseconds, one layer';

const STYLES: Record<string, Style> = {
  cpu: { color: '#8a8f98', symbol: 'times', hollow: true },
  eager: { color: '#e0652d', symbol: 'square' },
  chunked: { color: '#c9970c', symbol: 'triangle' },
  flash_prefill: { color: '#3b8fd9', symbol: 'diamond' },
  fused_decode: { color: '#1d9a74', symbol: 'circle' },
  split_kv_decode: { color: '#b667c4', symbol: 'star' },
};

/** One line a sibling that ran, and the roofline. */
function seriesOf(rows: AttentionRow[]): Series[] {
  const named = rows.filter(({ auto, measured }) => !auto && measured !== null);
  const points = (ms: (row: AttentionRow) => number, of: AttentionRow[]): Point[] =>
    of.map((row) => ({ x: row.kvLen, y: ms(row) })).sort((a, b) => a.x - b.x);
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

/**
 * @param report of the suite `attention`
 * @param shape one of its shapes
 * @returns SVG
 */
export function plotAttention(report: BenchReport, shape: string): string {
  if (report.suite !== 'attention') throw new Error(`This is a report of ${report.suite}; attention is needed.`);
  const rows = report.rows.filter((row) => row.shape === shape);
  const series = (pass: AttentionRow['pass']) => seriesOf(rows.filter((row) => row.pass === pass));
  const panels = [
    { title: `${shape}: decode, one token`, xLabel: 'keys in the cache', yLabel: Y_LABEL, series: series('decode') },
    {
      title: `${shape}: prefill of a whole prompt`,
      xLabel: 'prompt tokens',
      yLabel: Y_LABEL,
      series: series('prefill'),
    },
  ].filter((panel) => panel.series.length > 0);
  if (panels.length === 0) throw new Error(`The report has no measured row for the shape ${shape}.`);
  const source = `${report.adapter}, ${report.browser}, ${report.date.slice(0, 10)}, KV ${report.kv}`;
  return drawChart({ label: `Attention time by length, ${shape}`, source, styles: STYLES, panels });
}
