// What a tuner found for attention, as the rows of the panel's tables. Pure.

import type { AttentionResult, TuneResult } from '../../engine/engine';
import { formatCount, NONE } from '../shared/figure_format';

/** The combination that all others are compared with: the whole head in one output tile, which is no tiling at all. */
export const BASELINE = 'G';
/** The parameters that have columns of their own. */
export const TILES = ['BLOCK_M', 'BLOCK_N', 'DV_TILE'] as const;

const MOST_DECIMALS = 5;

export interface TuneRow {
  /** The letter of a combination, or null for what was tried after them, and for decode. */
  letter: string | null;
  name: string;
  /** As it is named in a sentence: the letter, or the name with its parameters. */
  title: string;
  /** One text per column of TILES, or null for a sibling that has no such tiles. */
  tiles: string[] | null;
  /** All parameters as text, such as 'SPLITS 8'. */
  parameters: string;
  ms: string;
  /** How much faster than the baseline, signed: 100 * (baseline ms / ms - 1) percent. */
  gain: string;
  /** Why it was refused; null when it was measured. */
  refused: string | null;
  /** The one that is kept. */
  fastest: boolean;
}

/** The candidates of one kind of pass at one size, in the order in which they were measured. */
export interface TuneTable {
  nTokens: number;
  kvLen: number;
  rows: TuneRow[];
  /** What `gain` compares with, or null while nothing can be compared. */
  baseline: TuneRow | null;
  winner: TuneRow | null;
}

/** One table per size, ascending; for decode that is the cache length. */
export function tuneTables(results: readonly TuneResult[], pass: AttentionResult['pass']): TuneTable[] {
  const sizes = new Map<string, AttentionResult[]>();
  for (const result of results) {
    if (result.pass === 'product' || result.pass !== pass) continue;
    const size = `${result.nTokens} ${result.kvLen}`;
    sizes.set(size, [...(sizes.get(size) ?? []), result]);
  }
  const tables = [...sizes.values()].map(tableOf);
  return tables.sort((a, b) => a.kvLen - b.kvLen || a.nTokens - b.nTokens);
}

function tableOf(results: readonly AttentionResult[]): TuneTable {
  const { nTokens, kvLen } = results[0];
  const baseline = baselineOf(results);
  const decimals = decimalsFor(results);
  const rows = results.map((result) => ({
    letter: result.combination,
    name: result.name,
    title: titleOf(result),
    tiles: tilesOf(result),
    parameters: parametersText(result.parameters),
    ms: result.ms === null ? NONE : result.ms.toFixed(decimals),
    gain: gainText(result, baseline),
    refused: result.refused ?? (result.ms === null ? 'no reason was given' : null),
    fastest: result.fastest,
  }));
  return {
    nTokens,
    kvLen,
    rows,
    baseline: baseline && rows[results.indexOf(baseline)],
    winner: rows.find((row) => row.fastest) ?? null,
  };
}

function titleOf({ combination, name, parameters }: AttentionResult): string {
  if (combination !== null) return combination;
  const given = parametersText(parameters);
  return given ? `${name} (${given})` : name;
}

/** G where it ran; the first that ran where G was refused; nothing while G is still to come. */
function baselineOf(results: readonly AttentionResult[]): AttentionResult | null {
  const g = results.find((result) => result.combination === BASELINE);
  if (!g || g.ms !== null) return g ?? null;
  return results.find((result) => result.ms !== null) ?? null;
}

function tilesOf({ parameters }: AttentionResult): string[] | null {
  const tiles = TILES.map((name) => parameters[name]);
  return tiles.every((tile) => tile !== undefined) ? tiles.map(String) : null;
}

/** Such as 'SPLITS 16, BLOCK_N 32'; a line breaks between two parameters, not within one. */
export function parametersText(parameters: Record<string, number>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}\u00a0${formatCount(value)}`)
    .join(', ');
}

/** A candidate's time, as far as it is known. */
type Timed = Pick<TuneResult, 'ms'>;

export function gainText(result: Timed, baseline: Timed | null): string {
  if (result === baseline || !baseline?.ms || !result.ms) return NONE;
  const percent = Math.round(100 * (baseline.ms / result.ms - 1));
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${formatCount(Math.abs(percent))} %`;
}

/** So many that the fastest has three digits that mean something, the same in all rows, so that the points align. */
export function decimalsFor(results: readonly Timed[]): number {
  const least = Math.min(...results.map((result) => result.ms || Number.POSITIVE_INFINITY));
  if (!Number.isFinite(least)) return 0;
  return Math.min(MOST_DECIMALS, Math.max(0, 2 - Math.floor(Math.log10(least))));
}
