// Several browsers, one report: each row is that of the browser in the middle, with the speed in every browser beside
// it. Rows of sdk have the answers of all browsers.

import type { BenchReport, DecodeRow, PrefillRow, SdkRow } from '../report';

type ModelRow = DecodeRow | PrefillRow;

/** @returns tokens per second of its median round */
const speedOf = ({ median }: ModelRow): number => median?.tokensPerSecond ?? 0;

/**
 * The row of the browser in the middle by speed; a refusal in any browser is told instead of figures.
 * @param rows the same row from each browser
 */
function middleRow<Row extends ModelRow>(rows: readonly Row[]): Row {
  const refused = rows.find((row) => row.refused !== null);
  if (refused) return refused;
  const sorted = [...rows].sort((a, b) => speedOf(a) - speedOf(b));
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] as Row;
  return { ...middle, browsers: rows.map(speedOf) };
}

/** @param rows of each browser */
function middleRows<Row extends ModelRow>(rows: readonly (readonly Row[])[]): Row[] {
  const shortest = Math.min(...rows.map(({ length }) => length)); // an interrupted browser has fewer
  return Array.from({ length: shortest }, (_, i) => middleRow(rows.map((each) => each[i] as Row)));
}

/** The same rows, in the order of the first browser. */
function allAnswers(rows: readonly SdkRow[]): SdkRow[] {
  const readers = [...new Set(rows.map(({ reader }) => reader))];
  return readers.map((reader) => ({
    reader,
    answers: rows.flatMap((row) => (row.reader === reader ? row.answers : [])),
  }));
}

/**
 * @param reports of the same request, one a browser, at least one
 * @returns that of the first browser where the suite has no rows of models, or only one browser ran
 */
export function mergeBrowsers(reports: readonly BenchReport[]): BenchReport {
  const [first, ...others] = reports as [BenchReport, ...BenchReport[]];
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
  if (first.suite === 'sdk') {
    const all = reports.flatMap((report) => (report.suite === 'sdk' ? [report] : []));
    const sameText = all.every((report) => report.sameText);
    return { ...first, interrupted, sameText, rows: allAnswers(all.flatMap(({ rows }) => rows)) };
  }
  return first;
}
