// The decode bench as a picture: the time between tokens by steps in flight and by context, the GPU's own step, and
// what the roofline allows. Pure.

import { optionTexts } from '../../option_texts';
import type { BenchReport, DecodeFigures, DecodeRow } from '../../report';
import type { Panel, Series, Style } from './chart';
import { drawChart } from './chart';

type Measured = DecodeRow & { median: DecodeFigures };

const Y_LABEL = 'milliseconds a token';

const STYLES: Record<string, Style> = {
  'arrivals, p99': { color: '#e0652d', symbol: 'triangle' },
  'arrivals, mean': { color: '#3b8fd9', symbol: 'circle' },
  'GPU step, p99': { color: '#b667c4', symbol: 'star' },
  'GPU step, p50': { color: '#1d9a74', symbol: 'diamond' },
};

const FIGURES: Record<string, (figures: DecodeFigures) => number | null | undefined> = {
  'arrivals, p99': ({ tbtMs }) => tbtMs.p99,
  'arrivals, mean': ({ tbtMs }) => tbtMs.mean,
  'GPU step, p99': ({ gpuMs }) => gpuMs?.p99,
  'GPU step, p50': ({ gpuMs }) => gpuMs?.p50,
  /** All bytes of a token at the roofline's speed. */
  roofline: ({ tokensPerSecond, fraction }) => (1000 * fraction) / tokensPerSecond,
};

/** One line for each figure. A clock's 0 has no place on a logarithmic axis and is left out. */
function seriesOf(rows: Measured[], x: (row: Measured, i: number) => number): Series[] {
  return Object.entries(FIGURES)
    .map(([name, figure]) => ({
      name,
      points: rows.map((row, i) => ({ x: x(row, i), y: figure(row.median) ?? 0 })).filter(({ y }) => y > 0),
    }))
    .filter(({ points }) => points.length > 0);
}

const runAheadText = ({ runAhead, median }: Measured) =>
  runAhead === 'auto' ? `auto (${median.runAhead})` : String(runAhead);

/** Every depth as far from the next, `auto` last: it may have settled anywhere. */
function runAheadPanel(rows: Measured[], title: string): Panel {
  const ticks = new Map(rows.map((row, i) => [2 ** i, runAheadText(row)]));
  return {
    title: `${title}, context ${rows[0]?.context}`,
    xLabel: 'steps in flight',
    yLabel: Y_LABEL,
    series: seriesOf(rows, (_, i) => 2 ** i),
    tick: (x) => ticks.get(x) ?? '',
  };
}

function contextPanel(rows: Measured[], title: string): Panel {
  const sorted = [...rows].sort((a, b) => a.context - b.context);
  const series = seriesOf(sorted, ({ context }) => context);
  return { title: `${title}, by context`, xLabel: 'tokens before the answer', yLabel: Y_LABEL, series };
}

/**
 * @param report of the suite `decode`
 * @param shape one of its shapes
 * @returns SVG
 */
export function plotDecode(report: BenchReport, shape: string): string {
  if (report.suite !== 'decode') throw new Error(`This is a report of ${report.suite}; decode is needed.`);
  const drawn = report.rows.filter((row) => row.shape === shape && optionTexts(row.answer).length === 0);
  const rows = drawn.filter(({ median }) => median !== null) as Measured[];
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
