// The results of a tuning as tables of text: one for each pass of attention and one for each matrix shape. Pure.

import type { AttentionResult, ProductResult, TuneResult } from '../../engine/engine';
import { formatPercent } from '../../shared/format';
import { language } from '../../words/language';
import { panelWords } from '../../words/panel_words';
import { sayReason } from '../../words/reasons';
import { formatCount, NONE } from '../shared/figure_format';

/** The combination to compare a prefill with: the whole head in one output tile, which means no tiling. */
export const BASELINE = 'G';
/** Parameters with columns of their own. */
export const TILES = ['BLOCK_M', 'BLOCK_N', 'DV_TILE'] as const;

const MOST_DECIMALS = 5;

export interface TuneRow {
  /** The letter of a combination; null for other candidates. */
  letter: string | null;
  /** The kernel of attention, or the product. */
  name: string;
  /** The name within a sentence: the letter, or the name with its parameters. */
  title: string;
  /** A text for each column of TILES, or null if the candidate has no such tiles. */
  tiles: string[] | null;
  /** All parameters as text: 'SPLITS 8'. */
  parameters: string;
  /** Milliseconds of one layer's attention, or microseconds of one product. */
  time: string;
  /** The gain over the baseline, signed: 100 * (time of the baseline / time - 1) percent. */
  gain: string;
  /** The reason of a refusal; null when measured. */
  refused: string | null;
  /** True for the parameters that a product has untuned. */
  isDefault: boolean;
  /** True for the candidate that the tuner keeps. */
  fastest: boolean;
}

/** The candidates for one pass of attention, or for one matrix shape, in the order of measuring. */
export interface TuneTable {
  /** Cache length or matrix: '2,048 keys' or 'gate_up 16,384 × 2,048, q4'. */
  title: string;
  nTokens: number;
  rows: TuneRow[];
  /** The row that `gain` compares with; null if there is none yet. */
  baseline: TuneRow | null;
  winner: TuneRow | null;
}

/** The tables of a pass: of attention by cache length, ascending; of products by shape, in the order of measuring. */
export function tuneTables(results: readonly TuneResult[], pass: TuneResult['pass']): TuneTable[] {
  const tables = new Map<string, TuneResult[]>();
  for (const result of inOrder(results.filter((each) => each.pass === pass))) {
    const key = keyOf(result);
    tables.set(key, [...(tables.get(key) ?? []), result]);
  }
  return [...tables.values()].map(tableOf);
}

const sizeOf = (result: TuneResult): number => (result.pass === 'product' ? 0 : result.kvLen);

/** Attention by cache length, ascending. The sort is stable. */
function inOrder(results: readonly TuneResult[]): TuneResult[] {
  return [...results].sort((a, b) => sizeOf(a) - sizeOf(b) || (a.pass === 'product' ? 0 : a.nTokens - b.nTokens));
}

function keyOf(result: TuneResult): string {
  return result.pass === 'product'
    ? [productTitle(result), result.input, result.nTokens].join()
    : [result.nTokens, result.kvLen].join();
}

function tableOf(results: readonly TuneResult[]): TuneTable {
  const [first] = results;
  const baseline = baselineOf(results);
  const unit = first.pass === 'product' ? 1000 : 1;
  const decimals = decimalsFor(results.map(({ ms }) => ms && unit * ms));
  const rows = results.map((result) => ({
    letter: result.pass === 'product' ? null : result.combination,
    name: result.name,
    title: titleOf(result),
    tiles: tilesOf(result),
    parameters: parametersText(result.parameters),
    time: result.ms === null ? NONE : (unit * result.ms).toFixed(decimals),
    gain: gainText(result, baseline),
    refused: refusalOf(result),
    isDefault: result.pass === 'product' && result.isDefault,
    fastest: result.fastest,
  }));
  return {
    title: first.pass === 'product' ? productTitle(first) : panelWords().tuning.keys(formatCount(first.kvLen)),
    nTokens: first.nTokens,
    rows,
    baseline: baseline && rows[results.indexOf(baseline)],
    winner: rows.find((row) => row.fastest) ?? null,
  };
}

function refusalOf({ refused, ms }: TuneResult): string | null {
  if (refused !== null) return sayReason(refused);
  return ms === null ? panelWords().tuning.noReason : null;
}

/** Name, size and format of the matrix, and whether the product merges the splits of attention, too. */
export function productTitle({ name, rows, cols, format, input }: ProductResult): string {
  const title = `${name} ${formatCount(rows)} × ${formatCount(cols)}, ${format}`;
  return input.startsWith('parts') ? `${title}, ${panelWords().tuning.mergesSplits}` : title;
}

function titleOf(result: TuneResult): string {
  if (result.pass !== 'product' && result.combination !== null) return result.combination;
  const given = parametersText(result.parameters);
  return given ? `${result.name} (${given})` : result.name;
}

/** Products: the default. Attention: G, or the first that ran if G was refused; null while G is still to come. */
function baselineOf(results: readonly TuneResult[]): TuneResult | null {
  const isBaseline = (result: TuneResult) =>
    result.pass === 'product' ? result.isDefault : result.combination === BASELINE;
  const usual = results.find(isBaseline) ?? null;
  if (!usual || usual.ms !== null || usual.pass === 'product') return usual;
  return results.find((result) => result.ms !== null) ?? null;
}

function tilesOf({ parameters }: Pick<AttentionResult, 'parameters'>): string[] | null {
  const tiles = TILES.map((name) => parameters[name]);
  return tiles.every((tile) => tile !== undefined) ? tiles.map(String) : null;
}

/** Parameters as in 'SPLITS 16, BLOCK_N 32'. A line may break between two parameters, not within one. */
export function parametersText(parameters: Record<string, number>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}\u00a0${formatCount(value)}`)
    .join(', ');
}

function gainText(result: TuneResult, baseline: TuneResult | null): string {
  if (result === baseline || !baseline?.ms || !result.ms) return NONE;
  const gain = Math.round(100 * (baseline.ms / result.ms - 1)) / 100 || 0; // -0 would have a sign
  return `${gain > 0 ? '+' : ''}${formatPercent(gain, language()).replace('-', '−')}`;
}

/** Decimals that give the fastest three significant digits. All rows share them, so that the points align. */
function decimalsFor(times: readonly (number | null)[]): number {
  const least = Math.min(...times.map((time) => time || Number.POSITIVE_INFINITY));
  if (!Number.isFinite(least)) return 0;
  return Math.min(MOST_DECIMALS, Math.max(0, 2 - Math.floor(Math.log10(least))));
}
