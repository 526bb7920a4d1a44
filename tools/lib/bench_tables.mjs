// What `bench` prints for people: one table a suite. Pure.

/**
 * @typedef {import('../../test/bench/report').BenchReport} BenchReport
 * @typedef {import('../../test/bench/report').AttentionRow} AttentionRow
 * @typedef {import('../../test/bench/report').Roofline} Roofline
 * @typedef {import('../../test/bench/report').RooflinePoint} RooflinePoint
 */

/** Three figures, as a measurement of this kind deserves. @param {number} value */
export function figure(value) {
  if (value === 0) return '0';
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, 3 - whole));
}

/** @param {number} share */
const percent = (share) => `${figure(100 * share)} %`;

/** @param {number} bytes */
const megabytes = (bytes) => (bytes === 0 ? '0' : `${figure(bytes / 1e6)} MB`);

/** @param {Record<string, number>} parameters */
export const parameterText = (parameters) =>
  Object.entries(parameters)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

const GAP = '  ';

/**
 * Columns as wide as they must be; numbers to the right. The last column may be as long as it likes.
 * @param {readonly string[]} head @param {readonly (readonly string[])[]} rows
 */
export function grid(head, rows) {
  const last = head.length - 1;
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const numeric = head.map((_, i) => rows.some((row) => /^[\d.]/.test(row[i] ?? '')));
  const line = (/** @type {readonly string[]} */ cells) =>
    cells
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i] ?? 0) : i === last ? cell : cell.padEnd(widths[i] ?? 0)))
      .join(GAP)
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}

/** @param {readonly RooflinePoint[]} points @param {string} unit @param {string} work */
function pointTable(points, unit, work) {
  const rows = [...points].sort((a, b) => b.value - a.value);
  return grid(
    [unit, 'workgroup', work, 'workgroups'],
    rows.map((point) => [figure(point.value), ...[point.workgroup, point.work, point.grid].map(String)]),
  );
}

/** @param {Roofline} roofline */
export function rooflineLine({ readGBps, fmaTflops, bytes, clock }) {
  return `roofline: ${figure(readGBps)} GB/s read (over ${megabytes(bytes)}), ${figure(fmaTflops)} TFLOP/s f32 (${clock} clock)`;
}

/** @param {AttentionRow} row */
function attentionCells({ name, auto, parameters, measured, refused }) {
  const title = auto ? `auto (${name})` : name;
  if (!measured) return [title, '-', '-', '-', '-', '-', '-', refused ?? ''];
  const { ms, tflops, gbps, fraction, scratchBytes, dispatches, clock } = measured;
  const rate = figure(tflops ?? gbps ?? 0);
  const counted = [megabytes(scratchBytes), String(dispatches), clock, parameterText(parameters)];
  return [title, figure(ms), rate, percent(fraction), ...counted];
}

/** @param {AttentionRow[]} rows */
function attentionTables(rows) {
  /** @type {Map<string, AttentionRow[]>} */
  const groups = new Map();
  for (const row of rows) {
    const key = `${row.shape}\0${row.pass}\0${row.kvLen}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((group) => {
    const { shape, pass, kvLen } = /** @type {AttentionRow} */ (group[0]);
    const what = pass === 'prefill' ? `prefill of ${kvLen} tokens` : `decode, ${kvLen} keys of cache`;
    const unit = pass === 'prefill' ? 'TFLOP/s' : 'GB/s';
    const head = ['attention', 'ms', unit, 'of roofline', 'scratch', 'dispatches', 'clock', 'parameters'];
    return `${shape}, ${what}\n${grid(head, group.map(attentionCells))}`;
  });
}

/** @param {BenchReport} report @returns {string} */
export function benchTables(report) {
  const features = Object.entries(report.can).map(([name, value]) => `${name} ${value}`);
  const parts = [
    `${report.adapter}, ${report.browser}, ${report.date}\n${features.join(', ')}`,
    ...suiteTables(report),
  ];
  if (report.interrupted) parts.push('Interrupted: rows are missing.');
  return parts.join('\n\n');
}

/** @param {BenchReport} report @returns {string[]} */
function suiteTables(report) {
  switch (report.suite) {
    case 'roofline': {
      const { roofline } = report;
      return [
        rooflineLine(roofline),
        pointTable(roofline.read, 'GB/s', 'loads a thread'),
        pointTable(roofline.fma, 'TFLOP/s', 'turns'),
      ];
    }
    case 'attention':
      return [`${rooflineLine(report.roofline)}; KV ${report.kv}`, ...attentionTables(report.rows)];
    default:
      return [];
  }
}
