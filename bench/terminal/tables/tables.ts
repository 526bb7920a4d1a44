// What `bench` prints for people: one table a suite. Pure.

import type { AttentionRow, BaselineResult, BenchReport, QualityRow, Roofline, RooflinePoint } from '../../report';
import { decodeTables, prefillTables } from './decode_tables';
import { figure, grid, parameterText } from './grid';
import { kvTable } from './kv_table';
import { matricesTable } from './matrices_table';
import { raceTable } from './race_table';
import { sdkTable } from './sdk_table';
import { stepTables } from './step_tables';
import { tuneTables } from './tune_tables';

const percent = (share: number) => `${figure(100 * share)} %`;

const megabytes = (bytes: number) => (bytes === 0 ? '0' : `${figure(bytes / 1e6)} MB`);

function pointTable(points: readonly RooflinePoint[], unit: string, work: string) {
  const rows = [...points].sort((a, b) => b.value - a.value);
  return grid(
    [unit, 'workgroup', work, 'workgroups'],
    rows.map((point) => [figure(point.value), ...[point.workgroup, point.work, point.grid].map(String)]),
  );
}

function rooflineLine({ readGBps, fmaTflops, bytes, clock }: Roofline) {
  return `roofline: ${figure(readGBps)} GB/s read (over ${megabytes(bytes)}), ${figure(fmaTflops)} TFLOP/s f32 (${clock} clock)`;
}

function attentionCells({ name, auto, parameters, measured, refused }: AttentionRow) {
  const title = auto ? `auto (${name})` : name;
  if (!measured) return [title, '-', '-', '-', '-', '-', '-', refused ?? ''];
  const { ms, tflops, gbps, fraction, scratchBytes, dispatches, clock } = measured;
  const rate = figure(tflops ?? gbps ?? 0);
  const counted = [megabytes(scratchBytes), String(dispatches), clock, parameterText(parameters)];
  return [title, figure(ms), rate, percent(fraction), ...counted];
}

function attentionTables(rows: AttentionRow[]) {
  const groups: Map<string, AttentionRow[]> = new Map();
  for (const row of rows) {
    const key = `${row.shape}\0${row.pass}\0${row.kvLen}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((group) => {
    const { shape, pass, kvLen } = group[0] as AttentionRow;
    const what = pass === 'prefill' ? `prefill of ${kvLen} tokens` : `decode, ${kvLen} keys of cache`;
    const unit = pass === 'prefill' ? 'TFLOP/s' : 'GB/s';
    const head = ['attention', 'ms', unit, 'of roofline', 'scratch', 'dispatches', 'clock', 'parameters'];
    return `${shape}, ${what}\n${grid(head, group.map(attentionCells))}`;
  });
}

function baselineTable({ rows, lowerBy, sameIds, model, aloneShape, aloneKvLen }: BaselineResult) {
  const head = ['', 'Avg TBT (ms)', 'attention time (ms)'];
  const optional = (value: number | null | undefined) => (value ? figure(value) : '-');
  const share = (value: number | null) => (value === null ? '-' : `${value.toFixed(0)} %`);
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

function qualityTables(report: Extract<BenchReport, { suite: 'quality' }>): string[] {
  const { model, kv, tokens, rows, kvRows, matrixRows, longRows } = report;
  const stories = `stories of at most ${tokens} tokens, drawn in`;
  const title = `${model}, KV ${kv}; ${stories} f32 at temperature 1, and followed on q8 activations`;
  const tables = [`${title}\n${qualityTable('f32', rows)}`];
  const again = (how: string, measured: readonly QualityRow[]) => {
    const title = `${model}, KV ${kv}; ${stories} f32 at temperature 1, and each text once more ${how}`;
    if (measured.length > 0) tables.push(`${title}\n${qualityTable('f32', measured)}`);
  };
  again('on subgroup matrices', matrixRows);
  again('with attention by flash_prefill_q8', longRows);
  if (kvRows.length === 0) return tables;
  const ofKv = `${model}, f32 activations; ${stories} KV f16 at temperature 1, and followed on KV q8`;
  return [...tables, `${ofKv}\n${qualityTable('f16', kvRows)}`];
}

function qualityTable(reference: string, rows: readonly QualityRow[]): string {
  const head = [
    'weights',
    'step',
    'stories',
    'tokens',
    `perplexity ${reference}`,
    'q8',
    `q8 / ${reference}`,
    'top-1 agreement',
    'KL, nats',
    'flips',
    'widest, nats',
  ];
  const cells = rows.map(
    ({ weights, step, stories, tokens: told, perplexity, ratio, agreement, divergence, flips }) => [
      weights,
      step.name,
      String(stories),
      String(told),
      perplexity.reference.toFixed(4),
      perplexity.measured.toFixed(4),
      ratio.toFixed(5),
      `${(100 * agreement).toFixed(2)} %`,
      divergence.toExponential(1),
      String(flips.length),
      flips.length === 0 ? '-' : Math.max(...flips.map(({ margin }) => margin)).toFixed(4),
    ],
  );
  return grid(head, cells);
}

type OfModels = Extract<BenchReport, { suite: 'decode' | 'prefill' | 'step' | 'race' | 'kv' }>;

function isOfModels(report: BenchReport): report is OfModels {
  return ['decode', 'prefill', 'step', 'race', 'kv'].includes(report.suite);
}

/** The report is of no model, then, whatever else was measured. */
export function everyModelRefused(report: BenchReport) {
  const refusals =
    report.suite === 'baseline'
      ? report.rows.map(({ chatRefused }) => chatRefused)
      : isOfModels(report)
        ? report.rows.map(({ refused }) => refused)
        : [];
  return refusals.length > 0 && refusals.every((refused) => refused !== null);
}

export function benchTables(report: BenchReport): string {
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

function suiteTables(report: BenchReport): string[] {
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
      return qualityTables(report);
    case 'step':
      return stepTables(report);
    case 'race':
      return [raceTable(report)];
    case 'matrices':
      return [matricesTable(report)];
    case 'kv':
      return [kvTable(report)];
    case 'sdk':
      return [sdkTable(report)];
    default:
      throw report;
  }
}
