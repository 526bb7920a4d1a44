// Decode and prefill of synthetic models as tables: when tokens arrive, what the GPU and the worker spend, kernel by kernel. Pure.

import { figure, grid } from './grid.mjs';

/**
 * @typedef {import('../report').DecodeRow} DecodeRow
 * @typedef {import('../report').PrefillRow} PrefillRow
 * @typedef {import('../report').KernelTable} KernelTable
 * @typedef {import('../report').ModelBytes} ModelBytes
 * @typedef {import('../report').ModelChoice} ModelChoice
 * @typedef {import('../report').Gaps} Gaps
 */

const NONE = '-';
const EXACT = 100;

/** @param {number | null | undefined} value */
const optional = (value) => (value === null || value === undefined ? NONE : figure(value));

/** @param {number | null | undefined} share */
const percent = (share) => (share === null || share === undefined ? NONE : `${figure(100 * share)} %`);

/** Counts of calls, a tenth of one included. @param {number | undefined} value */
const calls = (value) => (value === undefined ? NONE : String(Math.round(value * EXACT) / EXACT));

/** @param {number} bytes */
const megabytes = (bytes) => figure(bytes / 1e6);

/** @param {ModelBytes} bytes */
function memoryLine({ weights, kvCache, activations }) {
  return `memory: weights ${megabytes(weights)} MB, keys and values ${megabytes(kvCache)} MB, activations ${megabytes(activations)} MB`;
}

/** Rows by shape, in order. @template {{ shape: string }} Row @param {readonly Row[]} rows @returns {Map<string, Row[]>} */
function byShape(rows) {
  /** @type {Map<string, Row[]>} */
  const shapes = new Map();
  for (const row of rows) shapes.set(row.shape, [...(shapes.get(row.shape) ?? []), row]);
  return shapes;
}

/** @param {Gaps | null | undefined} gaps */
const percentiles = (gaps) => [gaps?.p50, gaps?.p95, gaps?.p99, gaps?.max].map(optional);

/** Lowest and highest of several browsers, where several ran. @param {readonly number[] | undefined} speeds */
const spreadText = (speeds) => (speeds ? `${figure(Math.min(...speeds))} to ${figure(Math.max(...speeds))}` : NONE);

/** As asked, and where `auto` settled. @param {DecodeRow} row */
function runAheadText({ runAhead, median }) {
  return runAhead === 'auto' && median ? `auto (${median.runAhead})` : String(runAhead);
}

/** When tokens arrive. @param {DecodeRow[]} rows */
function arrivalTable(rows) {
  const speeds = ['tok/s', 'browsers', 'best'];
  const head = ['context', 'run-ahead', ...speeds, 'TBT mean', 'p50', 'p95', 'p99', 'max', 'TTFT', 'attention'];
  const cells = rows.map((row) => {
    const { context, best, median, browsers, ttftMs, attention } = row;
    const speed = [optional(median?.tokensPerSecond), spreadText(browsers), optional(best?.tokensPerSecond)];
    const gaps = [optional(median?.tbtMs.mean), ...percentiles(median?.tbtMs)];
    return [String(context), runAheadText(row), ...speed, ...gaps, optional(ttftMs), attention?.decode ?? NONE];
  });
  return grid(head, cells);
}

/** What a step costs: the GPU's time, the worker's, bytes, WebGPU calls. @param {DecodeRow[]} rows */
function costTable(rows) {
  const spent = ['GPU p50', 'p95', 'p99', 'max', 'p99/p50', 'CPU ms', 'MB', 'GB/s', 'of roofline'];
  const head = ['context', 'run-ahead', ...spent, 'dispatches', 'submits', 'syncs', 'bytes read'];
  const cells = rows.map((row) => {
    const { context, median, bytesPerToken } = row;
    const { gpuMs, perToken } = median ?? {};
    const spread = gpuMs?.p50 && gpuMs.p99 ? gpuMs.p99 / gpuMs.p50 : null;
    return [
      String(context),
      runAheadText(row),
      ...percentiles(gpuMs),
      optional(spread),
      optional(median?.cpuMsPerToken),
      megabytes(bytesPerToken.weights + bytesPerToken.kv),
      optional(median?.gbps),
      percent(median?.fraction),
      ...[perToken?.dispatches, perToken?.submits, perToken?.syncs, perToken?.bytesRead].map(calls),
    ];
  });
  return grid(head, cells);
}

/** @param {KernelTable} table @param {number} readGBps */
function kernelTable({ shape, kvLen, clock, rows }, readGBps) {
  const head = ['kernel', 'us', 'calls', 'MB', 'GB/s', 'of roofline', 'share'];
  const cells = rows.map(({ kind, us, calls: count, bytes, gbps, share }) => [
    kind,
    figure(us),
    String(count),
    bytes === null ? NONE : megabytes(bytes),
    optional(gbps),
    percent(gbps && gbps / readGBps),
    percent(share),
  ]);
  const sum = rows.reduce((total, { us, calls: count }) => total + (us * count) / 1000, 0);
  const title = `${shape}, a step over ${kvLen} keys, each kind of dispatch alone (${clock} clock)`;
  const note = `together ${figure(sum)} ms, which is no step time; kinds that fit a cache of the GPU read from there`;
  return `${title}\n${grid(head, cells)}\n${note}`;
}

/** @param {ModelChoice} choice */
const choiceText = ({ quant, kv }) => `${quant} weights, KV ${kv}`;

/** @param {readonly { activations: string | null }[]} rows */
function activationsText(rows) {
  const used = [...new Set(rows.flatMap(({ activations }) => activations ?? []))];
  return used.length === 0 ? '' : `, activations ${used.join(' and ')}`;
}

/** @param {ModelChoice & { rows: DecodeRow[], kernels: KernelTable[] }} report @returns {string[]} */
export function decodeTables(report) {
  const tables = [...byShape(report.rows)].map(([shape, rows]) => {
    const title = `${shape}, ${choiceText(report)}${activationsText(rows)}; decode of ${rows[0]?.tokens} tokens`;
    const measured = rows.filter(({ refused }) => refused === null);
    const figures = measured.length > 0 ? [arrivalTable(measured), costTable(measured)] : [];
    const refusals = rows.flatMap(({ context, runAhead, gpuBytes, refused }) =>
      refused ? [`context ${context}, run-ahead ${runAhead}: ${refused.message} (${memoryLine(gpuBytes)})`] : [],
    );
    const memory = measured.map(({ gpuBytes }) => memoryLine(gpuBytes)).slice(-1);
    const unit = 'median of the rounds by tok/s; milliseconds';
    return [`${title} (${unit})`, ...figures, ...memory, ...refusals].join('\n');
  });
  return [...tables, ...report.kernels.map((table) => kernelTable(table, report.roofline.readGBps))];
}

/** @param {PrefillRow[]} rows */
function prefillTable(rows) {
  const spent = ['GPU ms', 'longest submit', 'TFLOP/s', 'of f32 roofline'];
  const head = ['tokens', 'tok/s', 'browsers', 'best', 'TTFT', 'best', ...spent, 'attention'];
  const cells = rows.map(({ tokens, median, browsers, best, gpuMs, longestSubmitMs, tflops, fraction, attention }) => [
    String(tokens),
    optional(median?.tokensPerSecond),
    spreadText(browsers),
    optional(best?.tokensPerSecond),
    optional(median?.ttftMs),
    optional(best?.ttftMs),
    optional(gpuMs),
    optional(longestSubmitMs),
    optional(tflops),
    percent(fraction),
    attention?.prefill ?? NONE,
  ]);
  return grid(head, cells);
}

/** @param {ModelChoice & { rows: PrefillRow[] }} report @returns {string[]} */
export function prefillTables(report) {
  return [...byShape(report.rows)].map(([shape, rows]) => {
    const title = `${shape}, ${choiceText(report)}${activationsText(rows)}; prefill (median of the rounds; milliseconds)`;
    const measured = rows.filter(({ refused }) => refused === null);
    const refusals = rows.flatMap(({ tokens, gpuBytes, refused }) =>
      refused ? [`${tokens} tokens: ${refused.message} (${memoryLine(gpuBytes)})`] : [],
    );
    return [title, ...(measured.length > 0 ? [prefillTable(measured)] : []), ...refusals].join('\n');
  });
}
