// The tuners' answers as tables: the lettered combinations, what was tried around their best, decode by cache length,
// and matrix products by shape. Pure.

import type { ProductResult, AttentionResult as TuneResult } from '../../../src/tune/results';
import type { ProductsTable } from '../../page/suites/tune';
import type { TuneTable } from '../../report';
import { figure, grid, parameterText } from './grid';

/** The combination that others are compared with: no tiling of the output. */
const BASELINE = 'G';
const TILES = ['BLOCK_M', 'BLOCK_N', 'DV_TILE'];
const NONE = '-';

const remark = ({ fastest, refused }: TuneResult) =>
  fastest ? '<- fastest' : refused === null ? '' : `refused: ${refused}`;

const time = ({ ms }: TuneResult) => (ms === null ? NONE : figure(ms));

/** G where it ran, else the first that ran. */
function baselineOf(results: TuneResult[]) {
  const ran = results.filter(({ ms }) => ms !== null);
  return ran.find(({ combination }) => combination === BASELINE) ?? ran[0] ?? null;
}

/** The gain in percent: 100 * (ms of the baseline / ms - 1). */
function gain({ ms }: TuneResult, baseline: TuneResult | null) {
  if (!ms || !baseline?.ms) return NONE;
  const percent = Math.round(100 * (baseline.ms / ms - 1));
  return `${percent > 0 ? '+' : ''}${percent} %`;
}

const labelOf = ({ combination, name, parameters }: TuneResult) =>
  combination ?? `${name} ${parameterText(parameters)}`;

/** @param results of one prefill */
function prefillTables(results: TuneResult[]): string[] {
  const [first] = results;
  if (!first) return [];
  const baseline = baselineOf(results);
  const against = `vs ${baseline ? labelOf(baseline) : BASELINE}`;
  const tiles = ({ parameters }: TuneResult) => TILES.map((tile) => String(parameters[tile] ?? NONE));
  const figures = (result: TuneResult) => [time(result), gain(result, baseline), remark(result)];
  const lettered = results.filter(({ combination }) => combination !== null);
  const around = results.filter(({ combination }) => combination === null);
  const refused = results.some(({ combination, ms }) => combination === BASELINE && ms === null);
  const instead = refused ? `, since ${BASELINE} was refused` : '';
  const size = `prefill of ${first.nTokens} tokens over ${first.kvLen} keys`;
  const title = `${size}, one layer (${against}: faster by so many percent${instead})`;
  const letters = grid(
    ['combo', ...TILES, 'ms', against, ''],
    lettered.map((result) => [result.combination ?? '', ...tiles(result), ...figures(result)]),
  );
  if (around.length === 0) return [`${title}\n${letters}`];
  const others = grid(
    ['attention', ...TILES, 'ms', against, ''],
    around.map((result) => [result.name, ...tiles(result), ...figures(result)]),
  );
  return [`${title}\n${letters}`, `candidates after them\n${others}`];
}

/** @param results of all cache lengths */
function decodeTables(results: TuneResult[]): string[] {
  if (results.length === 0) return [];
  const rows = [...results].sort((a, b) => a.kvLen - b.kvLen);
  const cells = rows.map((result) => {
    const { SPLITS, ...tile } = result.parameters;
    return [
      String(result.kvLen),
      result.name,
      String(SPLITS ?? NONE),
      parameterText(tile),
      time(result),
      remark(result),
    ];
  });
  return [`decode by cache length, one layer\n${grid(['keys', 'attention', 'splits', 'tile', 'ms', ''], cells)}`];
}

/** @param results of one shape in decode or prefill */
function productTable(results: ProductResult[]): string {
  const [{ name, rows, cols, format, input, nTokens }] = results as [ProductResult];
  const usual = results.find(({ isDefault }) => isDefault)?.ms ?? null;
  const cells = results.map(({ parameters, ms, isDefault, fastest, refused }) => [
    parameterText(parameters),
    ms === null ? NONE : figure(1000 * ms),
    ms === null || usual === null ? NONE : `${Math.round(100 * (usual / ms - 1))} %`,
    [isDefault ? 'default' : '', fastest ? '<- kept' : '', refused === null ? '' : `refused: ${refused}`]
      .filter(Boolean)
      .join(' '),
  ]);
  const pass = nTokens === 1 ? 'decode' : `prefill of ${nTokens} tokens`;
  const title = `${pass}, ${name} ${rows} x ${cols}, ${format}, activations ${input}, cold`;
  return `${title}\n${grid(['parameters', 'us', 'vs default', ''], cells)}`;
}

/** @returns a table for each shape, in the order of measuring */
function productTables(results: ProductResult[]): string[] {
  const keyOf = ({ name, rows, cols, format, input, nTokens }: ProductResult) =>
    [name, rows, cols, format, input, nTokens].join();
  const keys = [...new Set(results.map(keyOf))];
  return keys.map((key) => productTable(results.filter((result) => keyOf(result) === key)));
}

export function tuneTables({
  shape,
  results,
  error,
  products = [],
  productsError = null,
}: TuneTable & Partial<ProductsTable>): string[] {
  const of = (pass: TuneResult['pass']) => results.filter((result) => result.pass === pass);
  const tables = [...prefillTables(of('prefill')), ...decodeTables(of('decode'))];
  const errors = (said: string | null) => (said === null ? [] : [`${shape}: ${said}`]);
  const titled = (texts: string[]) => texts.map((text) => `${shape}, ${text}`);
  return [...titled(tables), ...errors(error), ...titled(productTables(products)), ...errors(productsError)];
}
