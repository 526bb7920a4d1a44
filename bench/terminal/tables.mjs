// What `bench` prints for people: one table a suite. Pure.

import { decodeTables, prefillTables } from './decode_tables.mjs';
import { figure, grid, parameterText } from './grid.mjs';
import { tuneTables } from './tune_tables.mjs';

/**
 * @typedef {import('../report').BenchReport} BenchReport
 * @typedef {import('../report').AttentionRow} AttentionRow
 * @typedef {import('../report').Roofline} Roofline
 * @typedef {import('../report').RooflinePoint} RooflinePoint
 */

/** @param {number} share */
const percent = (share) => `${figure(100 * share)} %`;

/** @param {number} bytes */
const megabytes = (bytes) => (bytes === 0 ? '0' : `${figure(bytes / 1e6)} MB`);

/** @param {readonly RooflinePoint[]} points @param {string} unit @param {string} work */
function pointTable(points, unit, work) {
  const rows = [...points].sort((a, b) => b.value - a.value);
  return grid(
    [unit, 'workgroup', work, 'workgroups'],
    rows.map((point) => [figure(point.value), ...[point.workgroup, point.work, point.grid].map(String)]),
  );
}

/** @param {Roofline} roofline */
function rooflineLine({ readGBps, fmaTflops, bytes, clock }) {
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

/** @param {import('../report').BaselineResult} baseline */
function baselineTable({ rows, lowerBy, sameIds, model, aloneShape, aloneKvLen }) {
  const head = ['', 'Avg TBT (ms)', 'attention time (ms)'];
  const optional = (/** @type {number | null | undefined} */ value) => (value ? figure(value) : '-');
  const share = (/** @type {number | null} */ value) => (value === null ? '-' : `${value.toFixed(0)} %`);
  const cells = rows.map(({ title, chat, alone }) => [title, optional(chat?.avgTbtMs), optional(alone?.ms)]);
  const lines = [grid(head, [...cells, ['lower by', share(lowerBy.avgTbt), share(lowerBy.attention)]])];
  for (const { title, chat, chatRefused, alone, aloneRefused } of rows) {
    if (chat) {
      const { prefill, decode } = chat.metrics.attention;
      const amount = `${chat.promptTokens} prompt tokens, ${chat.ids.length} generated`;
      lines.push(`${title}: ${model}, ${amount}, attention ${prefill} and ${decode}`);
    }
    if (alone) lines.push(`${title}: ${alone.name} alone (${alone.clock} clock), ${aloneShape}, ${aloneKvLen} keys`);
    for (const refused of [chatRefused, aloneRefused]) if (refused) lines.push(`${title}: ${refused}`);
  }
  if (sameIds !== null) lines.push(sameIds ? 'Both answers are the same.' : 'The two answers differ.');
  return lines.join('\n');
}

/** @param {Extract<BenchReport, { suite: 'quality' }>} quality */
function qualityTable({ model, kv, tokens, rows }) {
  const title = `${model}, KV ${kv}; stories of at most ${tokens} tokens, drawn in f32 at temperature 1, and followed on q8 activations`;
  const head = [
    'weights',
    'stories',
    'tokens',
    'perplexity f32',
    'q8',
    'q8 / f32',
    'top-1 agreement',
    'KL, nats',
    'flips',
    'widest, nats',
  ];
  const cells = rows.map(({ weights, stories, tokens: told, perplexity, ratio, agreement, divergence, flips }) => [
    weights,
    String(stories),
    String(told),
    perplexity.reference.toFixed(4),
    perplexity.measured.toFixed(4),
    ratio.toFixed(5),
    `${(100 * agreement).toFixed(2)} %`,
    divergence.toExponential(1),
    String(flips.length),
    flips.length === 0 ? '-' : Math.max(...flips.map(({ margin }) => margin)).toFixed(4),
  ]);
  return `${title}\n${grid(head, cells)}`;
}

/** The report is of no model, then, whatever else was measured. @param {BenchReport} report */
export function everyModelRefused(report) {
  const refusals =
    report.suite === 'baseline'
      ? report.rows.map(({ chatRefused }) => chatRefused)
      : report.suite === 'decode' || report.suite === 'prefill'
        ? report.rows.map(({ refused }) => refused)
        : [];
  return refusals.length > 0 && refusals.every((refused) => refused !== null);
}

/** @param {BenchReport} report @returns {string} */
export function benchTables(report) {
  const can = { ...report.can, crossOriginIsolated: report.crossOriginIsolated };
  const features = Object.entries(can).map(([name, value]) => `${name} ${value}`);
  const parts = [
    `${report.adapter}, ${report.browser}, ${report.date}\n${features.join(', ')}`,
    ...suiteTables(report),
  ];
  if (report.quick) parts.push('Quick: a test of the bench, not a measurement.');
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
    case 'baseline':
      return [baselineTable(report)];
    case 'tune':
      return [`${rooflineLine(report.roofline)}; KV ${report.kv}`, ...report.tables.flatMap(tuneTables)];
    case 'decode':
      return [rooflineLine(report.roofline), ...decodeTables(report)];
    case 'prefill':
      return [rooflineLine(report.roofline), ...prefillTables(report)];
    case 'quality':
      return [qualityTable(report)];
    default:
      throw /** @satisfies {never} */ (report);
  }
}
