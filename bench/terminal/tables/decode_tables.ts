// Decode and prefill of synthetic models as tables: when tokens arrive, what the GPU and the worker spend, kernel by
// kernel. Pure.

import { stepText } from '../../../src/engine/step_text';
import { optionTexts } from '../../option_texts';
import type { DecodeRow, Gaps, KernelTable, ModelBytes, ModelChoice, PrefillRow } from '../../report';
import { figure, grid } from './grid';

const NONE = '-';
const EXACT = 100;

const optional = (value: number | null | undefined) => (value === null || value === undefined ? NONE : figure(value));

const percent = (share: number | null | undefined) =>
  share === null || share === undefined ? NONE : `${figure(100 * share)} %`;

/** Counts of calls, a tenth of one included. */
const calls = (value: number | undefined) => (value === undefined ? NONE : String(Math.round(value * EXACT) / EXACT));

const megabytes = (bytes: number) => figure(bytes / 1e6);

function memoryLine({ weights, kvCache, activations }: ModelBytes) {
  return `memory: weights ${megabytes(weights)} MB, keys and values ${megabytes(kvCache)} MB, activations ${megabytes(activations)} MB`;
}

/** Rows by shape, in order. */
function byShape<Row extends { shape: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const shapes: Map<string, Row[]> = new Map();
  for (const row of rows) shapes.set(row.shape, [...(shapes.get(row.shape) ?? []), row]);
  return shapes;
}

const percentiles = (gaps: Gaps | null | undefined) => [gaps?.p50, gaps?.p95, gaps?.p99, gaps?.max].map(optional);

/** Lowest and highest of several browsers, where several ran. */
const spreadText = (speeds: readonly number[] | undefined) =>
  speeds ? `${figure(Math.min(...speeds))} to ${figure(Math.max(...speeds))}` : NONE;

/** The asked run-ahead, the depth at which `auto` settled, and options of the answers. */
function runAheadText({ runAhead, median, answer }: DecodeRow) {
  const depth = runAhead === 'auto' && median ? `auto (${median.runAhead})` : String(runAhead);
  return [depth, ...optionTexts(answer)].join(', ');
}

/** The arrival times of tokens. */
function arrivalTable(rows: DecodeRow[]) {
  const speeds = ['tok/s', 'browsers', 'best'];
  const head = ['context', 'run-ahead', ...speeds, 'TBT mean', 'p50', 'p95', 'p99', 'max', 'TTFT', 'attention', 'step'];
  const cells = rows.map((row) => {
    const { context, best, median, browsers, ttftMs, attention, step } = row;
    const speed = [optional(median?.tokensPerSecond), spreadText(browsers), optional(best?.tokensPerSecond)];
    const gaps = [optional(median?.tbtMs.mean), ...percentiles(median?.tbtMs)];
    return [
      String(context),
      runAheadText(row),
      ...speed,
      ...gaps,
      optional(ttftMs),
      attention?.decode ?? NONE,
      step?.name ?? NONE,
    ];
  });
  return grid(head, cells);
}

/** The cost of a step: the GPU's time, the worker's, bytes, WebGPU calls. */
function costTable(rows: DecodeRow[]) {
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

/** Steps are told by what they read, passes of several tokens by what they compute. */
function kernelTable({ shape, nTokens, kvLen, clock, rows }: KernelTable, readGBps: number) {
  const isStep = nTokens === 1;
  const head = ['kernel', 'us', 'calls', ...(isStep ? ['MB', 'GB/s', 'of roofline'] : ['TOP/s']), 'share'];
  const cells = rows.map(({ kind, us, calls: count, bytes, gbps, tops, share }) => {
    const read = [bytes === null ? NONE : megabytes(bytes), optional(gbps), percent(gbps && gbps / readGBps)];
    return [kind, figure(us), String(count), ...(isStep ? read : [optional(tops)]), percent(share)];
  });
  const sum = rows.reduce((total, { us, calls: count }) => total + (us * count) / 1000, 0);
  const pass = isStep ? 'a step' : `${nTokens} tokens of a prompt`;
  const title = `${shape}, ${pass} over ${kvLen} keys, each kind of dispatch alone (${clock} clock)`;
  const note = `together ${figure(sum)} ms, which is no time of a pass; kinds that fit a cache of the GPU read from there`;
  return `${title}\n${grid(head, cells)}\n${note}`;
}

const choiceText = ({ quant, kv }: ModelChoice) => `${quant} weights, KV ${kv}`;

function activationsText(rows: readonly { activations: string | null }[]) {
  const used = [...new Set(rows.flatMap(({ activations }) => activations ?? []))];
  return used.length === 0 ? '' : `, activations ${used.join(' and ')}`;
}

export function decodeTables(report: ModelChoice & { rows: DecodeRow[]; kernels: KernelTable[] }): string[] {
  const tables = [...byShape(report.rows)].map(([shape, rows]) => {
    const title = `${shape}, ${choiceText(report)}${activationsText(rows)}; decode of ${rows[0]?.tokens} tokens`;
    const measured = rows.filter(({ refused }) => refused === null);
    const figures = measured.length > 0 ? [arrivalTable(measured), costTable(measured)] : [];
    const refusals = rows.flatMap(({ context, runAhead, gpuBytes, refused }) =>
      refused ? [`context ${context}, run-ahead ${runAhead}: ${refused.message} (${memoryLine(gpuBytes)})`] : [],
    );
    const steps = measured.flatMap(({ step }) => (step ? [`step: ${stepText(step)} (${step.reason})`] : []));
    const memory = measured.map(({ gpuBytes }) => memoryLine(gpuBytes)).slice(-1);
    const unit = 'median of the rounds by tok/s; milliseconds';
    return [`${title} (${unit})`, ...figures, ...new Set(steps), ...memory, ...refusals].join('\n');
  });
  return [...tables, ...report.kernels.map((table) => kernelTable(table, report.roofline.readGBps))];
}

function prefillTable(rows: PrefillRow[]) {
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

export function prefillTables(report: ModelChoice & { rows: PrefillRow[]; kernels: KernelTable[] }): string[] {
  const tables = [...byShape(report.rows)].map(([shape, rows]) => {
    const title = `${shape}, ${choiceText(report)}${activationsText(rows)}; prefill (median of the rounds; milliseconds)`;
    const measured = rows.filter(({ refused }) => refused === null);
    const refusals = rows.flatMap(({ tokens, gpuBytes, refused }) =>
      refused ? [`${tokens} tokens: ${refused.message} (${memoryLine(gpuBytes)})`] : [],
    );
    return [title, ...(measured.length > 0 ? [prefillTable(measured)] : []), ...refusals].join('\n');
  });
  return [...tables, ...report.kernels.map((table) => kernelTable(table, report.roofline.readGBps))];
}
