// Runs side by side: the pinned ones and the newest, each beside the first. Pure.

import { isOfTooFew } from '../../engine/tbt';
import type { Pin, PinLetter } from '../chart/picture';
import { newTokensOf, type RunData } from '../run/run_data';
import { formatMs, formatRate } from '../shared/figure_format';

export interface Column {
  /** Null for the newest run, which is not pinned. */
  letter: PinLetter | null;
  run: RunData;
}

export interface Row {
  key: string;
  label: string;
  definition: string;
  cells: Cell[];
}

export interface Cell {
  value: string;
  /** To the first column, such as '×1.24'; '' where there is none. */
  ratio: string;
  /** Why the value is not to be relied on, or not compared with the first column, in a few words; ''. */
  caveat: string;
}

interface Measure {
  key: string;
  label: string;
  definition: string;
  of: (run: RunData) => number | null;
  format: typeof formatMs;
  /** Whether it is of a prompt: two of those compare where as many tokens went through the model. */
  ofPrompt?: boolean;
}

const MEASURES: Measure[] = [
  {
    key: 'p50',
    label: 'p50',
    definition: 'Half of the gaps are no longer.',
    of: (run) => run.tbt.p50,
    format: formatMs,
  },
  { key: 'p95', label: 'p95', definition: '95 of 100 gaps are no longer.', of: (run) => run.tbt.p95, format: formatMs },
  { key: 'p99', label: 'p99', definition: '99 of 100 gaps are no longer.', of: (run) => run.tbt.p99, format: formatMs },
  { key: 'max', label: 'max', definition: 'The longest gap.', of: (run) => run.tbt.max, format: formatMs },
  {
    key: 'jitter',
    label: 'Jitter',
    definition: 'Mean absolute difference of neighboring gaps.',
    of: (run) => run.tbt.jitter,
    format: formatMs,
  },
  {
    key: 'decode',
    label: 'Decode',
    definition: 'Tokens a second after the first.',
    of: (run) => run.decodeTokensPerSecond,
    format: formatRate,
  },
  {
    key: 'ttft',
    label: 'First token',
    definition: 'TTFT: from the request to the first token. Compared where both prompts had as many new tokens.',
    of: (run) => run.ttftMs,
    format: formatMs,
    ofPrompt: true,
  },
  {
    key: 'prefill',
    label: 'Prefill',
    definition:
      'New prompt tokens a second. A GPU reads many tokens faster than few: compared where both prompts had as many.',
    of: (run) => run.metrics?.prefillTokensPerSecond ?? null,
    format: formatRate,
    ofPrompt: true,
  },
  {
    key: 'gpu',
    label: 'GPU step',
    definition: 'The GPU’s own time for a step, p50.',
    of: (run) => run.metrics?.gpuMs?.p50 ?? null,
    format: formatMs,
  },
];

/** The pinned runs, and the newest where it is another one and has something to compare. */
export function columnsOf(pins: readonly Pin[], newest: RunData): Column[] {
  const isOther = newest.gaps.length > 0 && pins.every(({ run }) => run !== newest);
  return isOther ? [...pins, { letter: null, run: newest }] : [...pins];
}

/** One row a measure; those that no run has are left out. */
export function comparisonRows(columns: readonly Column[]): Row[] {
  return MEASURES.flatMap((measure) => {
    const { key, label, definition, of, format } = measure;
    const values = columns.map(({ run }) => of(run));
    if (values.every((value) => value === null)) return [];
    const cells = columns.map(({ run }, i): Cell => {
      const isFirst = i === 0;
      const caveat = values[i] === null ? '' : caveatOf(measure, run, isFirst ? run : columns[0].run);
      const ratio = isFirst || caveat ? '' : ratioText(values[i], values[0]);
      return { value: format(values[i]), ratio, caveat };
    });
    return [{ key, label, definition, cells }];
  });
}

function caveatOf({ key, ofPrompt }: Measure, run: RunData, first: RunData): string {
  const gaps = Math.min(run.gaps.length, first.gaps.length);
  if (isOfTooFew(key, run.gaps.length)) return `n = ${run.gaps.length}, too few`;
  if (isOfTooFew(key, gaps)) return 'not compared: too few there';
  if (!ofPrompt || run === first) return '';
  const [here, there] = [newTokensOf(run), newTokensOf(first)];
  if (here !== null && here === there) return '';
  return here === null || there === null
    ? 'not compared: new tokens unknown'
    : `not compared: ${here} new tokens, not ${there}`;
}

/** '' where either is unknown or nothing can be divided by it. */
function ratioText(value: number | null, base: number | null): string {
  if (value === null || !base) return '';
  const ratio = value / base;
  return `×${ratio.toFixed(ratio < 10 ? 2 : ratio < 100 ? 1 : 0)}`;
}

/** What a run ran on, for its line in the legend. */
export function columnName({ run }: Column): string {
  const prefill = (run.metrics?.attention ?? run.info?.attention)?.prefill;
  return [prefill && `${prefill} /`, run.label, run.info && `· ${run.info.backend}`].filter(Boolean).join(' ');
}
