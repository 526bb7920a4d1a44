// The tuners' answers as tables: the lettered combinations, what was tried around their best, decode by cache length, and
// matrix products by shape. Pure.

import { figure, grid, parameterText } from './grid.mjs';

/**
 * @typedef {import('../../src/tune/results').AttentionResult} TuneResult
 * @typedef {import('../../src/tune/results').ProductResult} ProductResult
 * @typedef {import('../report').TuneTable} TuneTable
 * @typedef {import('../page/tune').ProductsTable} ProductsTable
 */

/** The combination that others are compared with: no tiling of the output. */
const BASELINE = 'G';
const TILES = ['BLOCK_M', 'BLOCK_N', 'DV_TILE'];
const NONE = '-';

/** @param {TuneResult} result */
const remark = ({ fastest, refused }) => (fastest ? '<- fastest' : refused === null ? '' : `refused: ${refused}`);

/** @param {TuneResult} result */
const time = ({ ms }) => (ms === null ? NONE : figure(ms));

/** G where it ran, else the first that ran. @param {TuneResult[]} results */
function baselineOf(results) {
  const ran = results.filter(({ ms }) => ms !== null);
  return ran.find(({ combination }) => combination === BASELINE) ?? ran[0] ?? null;
}

/** How much faster in percent: 100 * (ms of the baseline / ms - 1). @param {TuneResult} result @param {TuneResult | null} baseline */
function gain({ ms }, baseline) {
  if (!ms || !baseline?.ms) return NONE;
  const percent = Math.round(100 * (baseline.ms / ms - 1));
  return `${percent > 0 ? '+' : ''}${percent} %`;
}

/** @param {TuneResult} result */
const labelOf = ({ combination, name, parameters }) => combination ?? `${name} ${parameterText(parameters)}`;

/** @param {TuneResult[]} results of one prefill @returns {string[]} */
function prefillTables(results) {
  const [first] = results;
  if (!first) return [];
  const baseline = baselineOf(results);
  const against = `vs ${baseline ? labelOf(baseline) : BASELINE}`;
  const tiles = (/** @type {TuneResult} */ { parameters }) => TILES.map((tile) => String(parameters[tile] ?? NONE));
  const figures = (/** @type {TuneResult} */ result) => [time(result), gain(result, baseline), remark(result)];
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

/** @param {TuneResult[]} results of all cache lengths @returns {string[]} */
function decodeTables(results) {
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

/** @param {ProductResult[]} results of one shape in decode or prefill @returns {string} */
function productTable(results) {
  const [{ name, rows, cols, format, input, nTokens }] = /** @type {[ProductResult]} */ (results);
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

/** @param {ProductResult[]} results @returns {string[]} a table for each shape, in the order of measuring */
function productTables(results) {
  const keyOf = (/** @type {ProductResult} */ { name, rows, cols, format, input, nTokens }) =>
    [name, rows, cols, format, input, nTokens].join();
  const keys = [...new Set(results.map(keyOf))];
  return keys.map((key) => productTable(results.filter((result) => keyOf(result) === key)));
}

/** @param {TuneTable & Partial<ProductsTable>} table @returns {string[]} */
export function tuneTables({ shape, results, error, products = [], productsError = null }) {
  const of = (/** @type {TuneResult['pass']} */ pass) => results.filter((result) => result.pass === pass);
  const tables = [...prefillTables(of('prefill')), ...decodeTables(of('decode'))];
  const errors = (/** @type {string | null} */ said) => (said === null ? [] : [`${shape}: ${said}`]);
  const titled = (/** @type {string[]} */ texts) => texts.map((text) => `${shape}, ${text}`);
  return [...titled(tables), ...errors(error), ...titled(productTables(products)), ...errors(productsError)];
}
