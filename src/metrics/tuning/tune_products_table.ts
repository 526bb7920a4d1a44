// What a tuner found for matrix products, as the rows of the panel's tables. Pure.

import type { ProductResult, TuneResult } from '../../engine/engine';
import { formatCount, NONE } from '../shared/figure_format';
import { decimalsFor, gainText, parametersText } from './tune_table';

export interface ProductRow {
  parameters: string;
  /** Microseconds of one product. */
  us: string;
  /** How much faster than what runs untuned, signed. */
  gain: string;
  refused: string | null;
  isDefault: boolean;
  fastest: boolean;
}

/** The candidates of one matrix shape in decode or prefill, in the order in which they were measured. */
export interface ProductTable {
  /** Such as 'gate_up 16,384 × 2,048, q4'. */
  title: string;
  nTokens: number;
  rows: ProductRow[];
  winner: ProductRow | null;
}

/** One table per shape, in the order of measuring. */
export function productTables(results: readonly TuneResult[]): ProductTable[] {
  const shapes = new Map<string, ProductResult[]>();
  for (const result of results) {
    if (result.pass !== 'product') continue;
    const { name, rows, cols, format, input, nTokens } = result;
    const shape = [name, rows, cols, format, input, nTokens].join();
    shapes.set(shape, [...(shapes.get(shape) ?? []), result]);
  }
  return [...shapes.values()].map(tableOf);
}

function tableOf(results: readonly ProductResult[]): ProductTable {
  const [first] = results as [ProductResult];
  const usual = results.find(({ isDefault }) => isDefault) ?? null;
  const inUs = results.map(({ ms }) => ({ ms: ms === null ? null : 1000 * ms }));
  const decimals = decimalsFor(inUs);
  const rows = results.map(
    (result, i): ProductRow => ({
      parameters: parametersText(result.parameters),
      us: inUs[i]?.ms?.toFixed(decimals) ?? NONE,
      gain: gainText(result, usual),
      refused: result.refused ?? (result.ms === null ? 'no reason was given' : null),
      isDefault: result.isDefault,
      fastest: result.fastest,
    }),
  );
  return { title: productTitle(first), nTokens: first.nTokens, rows, winner: rows.find((row) => row.fastest) ?? null };
}

export function productTitle({ name, rows, cols, format }: ProductResult): string {
  return `${name} ${formatCount(rows)} × ${formatCount(cols)}, ${format}`;
}
