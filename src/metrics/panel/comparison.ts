// Runs side by side: the pinned runs and the newest one, each compared with the first. Pure.

import { isOfTooFew } from '../../engine/tbt';
import type { PanelWords } from '../../words/en/panel';
import { panelWords } from '../../words/panel_words';
import type { Pin, PinLetter } from '../chart/views/picture';
import { newTokensOf, type RunData } from '../run/run_data';
import { formatMs, formatRate, formatRatio } from '../shared/figure_format';

export interface Column {
  /** Null for the newest run when it is not pinned. */
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
  /** Ratio to the first column, such as '×1.24', or ''. */
  ratio: string;
  /** Whether the value is better than that of the first column, or '' where the two are not compared. */
  verdict: Verdict | '';
  /** The number of values behind a measure of the prompt, such as '495 new', or ''. */
  note: string;
  /** The reason, in a few words, not to rely on the value or not to compare it with the first column, or ''. */
  caveat: string;
}

type Verdict = 'better' | 'worse' | 'same';

/** Ratios nearer to 1 than this are called the same. */
const SAME = 0.02;

interface Measure {
  /** The name of its label and definition in the words. */
  key: keyof PanelWords['comparison']['measures'];
  of: (run: RunData) => number | null;
  format: typeof formatMs;
  /** True where more is better. */
  isRate?: boolean;
  /** True for a measure of the prompt. Two values compare if as many tokens went through the model. */
  ofPrompt?: boolean;
}

const MEASURES: Measure[] = [
  { key: 'p50', of: (run) => run.tbt.p50, format: formatMs },
  { key: 'p95', of: (run) => run.tbt.p95, format: formatMs },
  { key: 'p99', of: (run) => run.tbt.p99, format: formatMs },
  { key: 'max', of: (run) => run.tbt.max, format: formatMs },
  { key: 'jitter', of: (run) => run.tbt.jitter, format: formatMs },
  { key: 'decode', of: (run) => run.decodeTokensPerSecond, format: formatRate, isRate: true },
  { key: 'ttft', of: (run) => run.ttftMs, format: formatMs, ofPrompt: true },
  {
    key: 'prefill',
    of: (run) => run.metrics?.prefillTokensPerSecond ?? null,
    format: formatRate,
    isRate: true,
    ofPrompt: true,
  },
  { key: 'gpu', of: (run) => run.metrics?.gpuMs?.p50 ?? null, format: formatMs },
];

/** The pinned runs, and the newest run unless it is pinned or empty. */
export function columnsOf(pins: readonly Pin[], newest: RunData): Column[] {
  const isOther = newest.gaps.length > 0 && pins.every(({ run }) => run.origin.id !== newest.origin.id);
  return isOther ? [...pins, { letter: null, run: newest }] : [...pins];
}

/** One row per measure. Measures without any value are left out. */
export function comparisonRows(columns: readonly Column[]): Row[] {
  return MEASURES.flatMap((measure) => {
    const { key, of, format } = measure;
    const [label = '', definition = ''] = panelWords().comparison.measures[key];
    const values = columns.map(({ run }) => of(run));
    if (values.every((value) => value === null)) return [];
    const cells = columns.map(({ run }, i): Cell => {
      const value = values[i] ?? null;
      const [base, first] = [values[0] ?? null, columns[0]?.run ?? run];
      const caveat = value === null ? '' : caveatOf(measure, run, first);
      const isCompared = i > 0 && !caveat;
      const note = key === 'prefill' && value !== null ? newTokensNote(run) : '';
      const ratio = isCompared ? ratioText(value, base) : '';
      return { value: format(value), ratio, verdict: ratio ? verdictOf(measure, value, base) : '', note, caveat };
    });
    return [{ key, label, definition, cells }];
  });
}

function caveatOf({ key, ofPrompt }: Measure, run: RunData, first: RunData): string {
  const text = panelWords().comparison;
  const gaps = Math.min(run.gaps.length, first.gaps.length);
  if (isOfTooFew(key, run.gaps.length)) return text.fewHere(run.gaps.length);
  if (isOfTooFew(key, gaps)) return text.fewThere;
  if (!ofPrompt || run === first) return '';
  const [here, there] = [newTokensOf(run), newTokensOf(first)];
  if (here !== null && here === there) return '';
  return here === null || there === null ? text.newUnknown : text.otherNew(here, there);
}

function newTokensNote(run: RunData): string {
  const count = newTokensOf(run);
  return count === null ? '' : panelWords().comparison.newTokens(count);
}

function verdictOf({ isRate = false }: Measure, value: number | null, base: number | null): Verdict | '' {
  if (value === null || !base) return '';
  const ratio = value / base;
  if (Math.abs(ratio - 1) < SAME) return 'same';
  return ratio > 1 === isRate ? 'better' : 'worse';
}

/** Text of a ratio, or '' if a value is unknown or the base is 0. */
function ratioText(value: number | null, base: number | null): string {
  return value === null || !base ? '' : formatRatio(value / base);
}

/** The configuration of a run, for its line in the legend. */
export function columnName({ run }: Column): string {
  const prefill = (run.metrics?.attention ?? run.info?.attention)?.prefill;
  return [prefill && `${prefill} /`, run.label, run.info && `· ${run.info.backend}`].filter(Boolean).join(' ');
}
