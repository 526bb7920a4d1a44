// Several browsers, one report: each row is that of the browser in the middle, with the speed in every browser beside it.

/**
 * @typedef {import('../report').BenchReport} BenchReport
 * @typedef {import('../report').DecodeRow | import('../report').PrefillRow} ModelRow
 */

/** @param {ModelRow} row @returns {number} tokens per second of its median round */
const speedOf = ({ median }) => median?.tokensPerSecond ?? 0;

/**
 * The row of the browser in the middle by speed; a refusal in any browser is told instead of figures.
 * @template {ModelRow} Row @param {readonly Row[]} rows the same row from each browser @returns {Row}
 */
function middleRow(rows) {
  const refused = rows.find((row) => row.refused !== null);
  if (refused) return refused;
  const sorted = [...rows].sort((a, b) => speedOf(a) - speedOf(b));
  const middle = /** @type {Row} */ (sorted[Math.floor((sorted.length - 1) / 2)]);
  return { ...middle, browsers: rows.map(speedOf) };
}

/** @template {ModelRow} Row @param {readonly (readonly Row[])[]} rows of each browser @returns {Row[]} */
function middleRows(rows) {
  const shortest = Math.min(...rows.map(({ length }) => length)); // an interrupted browser has fewer
  return Array.from({ length: shortest }, (_, i) => middleRow(rows.map((each) => /** @type {Row} */ (each[i]))));
}

/**
 * @param {readonly BenchReport[]} reports of the same request, one a browser, at least one
 * @returns {BenchReport} that of the first browser where the suite has no rows of models, or only one browser ran
 */
export function mergeBrowsers(reports) {
  const [first, ...others] = /** @type {[BenchReport, ...BenchReport[]]} */ (reports);
  if (others.length === 0) return first;
  const interrupted = reports.some((report) => report.interrupted);
  if (first.suite === 'decode') {
    const rows = reports.flatMap((report) => (report.suite === 'decode' ? [report.rows] : []));
    return { ...first, interrupted, rows: middleRows(rows) };
  }
  if (first.suite === 'prefill') {
    const rows = reports.flatMap((report) => (report.suite === 'prefill' ? [report.rows] : []));
    return { ...first, interrupted, rows: middleRows(rows) };
  }
  return first;
}
