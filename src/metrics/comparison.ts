// Runs side by side: the pinned ones and the newest, each beside the first. Pure.

import { formatMs, formatRate } from './figure_format';
import type { Pin, PinLetter } from './picture';
import type { RunData } from './run_data';

export interface Column {
  /** Null for the newest run, which is not pinned. */
  letter: PinLetter | null;
  run: RunData;
}

export interface Row {
  key: string;
  label: string;
  definition: string;
  /** `ratio` to the first column, such as '×1.24'; '' where there is none. */
  cells: { value: string; ratio: string }[];
}

type Measure = [
  key: string,
  label: string,
  definition: string,
  of: (run: RunData) => number | null,
  format: typeof formatMs,
];

const MEASURES: Measure[] = [
  ['p50', 'p50', 'Half of the gaps are no longer.', (run) => run.tbt.p50, formatMs],
  ['p95', 'p95', '95 of 100 gaps are no longer.', (run) => run.tbt.p95, formatMs],
  ['p99', 'p99', '99 of 100 gaps are no longer.', (run) => run.tbt.p99, formatMs],
  ['max', 'max', 'The longest gap.', (run) => run.tbt.max, formatMs],
  ['jitter', 'Jitter', 'Mean absolute difference of neighbouring gaps.', (run) => run.tbt.jitter, formatMs],
  ['decode', 'Decode', 'Tokens a second after the first.', (run) => run.decodeTokensPerSecond, formatRate],
  ['ttft', 'First token', 'TTFT: from the request to the first token.', (run) => run.ttftMs, formatMs],
  ['prefill', 'Prefill', 'Prompt tokens a second.', (run) => run.metrics?.prefillTokensPerSecond ?? null, formatRate],
  ['gpu', 'GPU step', 'The GPU’s own time for a step, p50.', (run) => run.metrics?.gpuMs?.p50 ?? null, formatMs],
];

/** The pinned runs, and the newest where it is another one and has something to compare. */
export function columnsOf(pins: readonly Pin[], newest: RunData): Column[] {
  const isOther = newest.gaps.length > 0 && pins.every(({ run }) => run !== newest);
  return isOther ? [...pins, { letter: null, run: newest }] : [...pins];
}

/** One row a measure; those that no run has are left out. */
export function comparisonRows(columns: readonly Column[]): Row[] {
  return MEASURES.flatMap(([key, label, definition, of, format]) => {
    const values = columns.map(({ run }) => of(run));
    if (values.every((value) => value === null)) return [];
    const cells = values.map((value, i) => ({
      value: format(value),
      ratio: i === 0 ? '' : ratioText(value, values[0]!),
    }));
    return [{ key, label, definition, cells }];
  });
}

/** '' where either is unknown or nothing can be divided by it. */
export function ratioText(value: number | null, base: number | null): string {
  if (value === null || !base) return '';
  const ratio = value / base;
  return `×${ratio.toFixed(ratio < 10 ? 2 : ratio < 100 ? 1 : 0)}`;
}

/** What a run ran on, for its line in the legend. */
export function columnName({ run }: Column): string {
  const prefill = (run.metrics?.attention ?? run.info?.attention)?.prefill;
  return [prefill && `${prefill} /`, run.label, run.info && `· ${run.info.backend}`].filter(Boolean).join(' ');
}
