// The table that `generate` prints after a run for people. The object of --json is the engine's own
// (src/engine/page/run_report.ts). Pure.

import { arithmeticText } from '../../../src/engine/arithmetic_text';
import type { RunReport } from '../../../src/engine/engine';
import type { EngineInfo, RunMetrics, TbtSummary, TokenLogprob } from '../../../src/engine/protocol';
import { stepText } from '../../../src/engine/step_text';
import type { Run } from '../../page/generate';

const COLUMNS = ['mean', 'p50', 'p95', 'p99', 'max', 'jitter'] as const;
const WIDTH = 9;
const UNKNOWN = '-';

/** Three figures, as a measurement of this kind deserves. */
function figure(value: number | null) {
  if (value === null) return UNKNOWN;
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function row(name: string, summary: TbtSummary) {
  const cells = [...COLUMNS.map((column) => figure(summary[column])), String(summary.perToken.length)];
  return name.padEnd(22) + cells.map((cell) => cell.padStart(WIDTH)).join('');
}

/** Nearest-rank, p95 of fewer than 20 values and p99 of fewer than 100 are the largest of them. */
function fewLine({ perToken: { length } }: TbtSummary) {
  const few = length < 20 ? 'p95 (needs n 20) and p99 (needs n 100) are' : length < 100 ? 'p99 (needs n 100) is' : null;
  return length > 0 && few ? `n is ${length}: ${few} simply the longest` : null;
}

/** A count per token is whole unless the run ended in mid-flight. */
const count = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1));

const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;

function costLine({ perToken, runAhead, peakGpuBytes }: RunMetrics) {
  if (!perToken) return null;
  const { dispatches, submits, syncs, bytesRead } = perToken;
  const memory = peakGpuBytes === null ? '' : `; ${(peakGpuBytes / 1e6).toFixed(1)} MB of GPU memory`;
  const each = [`${count(dispatches)} dispatches`, `${count(submits)} submits`, `${count(syncs)} syncs`];
  return `per token: ${each.join(', ')}, ${count(bytesRead)} bytes read; run-ahead ${runAhead}${memory}`;
}

/** A line for each token: its text, its log probability, and the likeliest tokens with theirs. */
function logprobLines({ logprobs = [] }: RunReport) {
  const shown = ({ token, logprob }: TokenLogprob) => `${JSON.stringify(token)} ${logprob.toFixed(3)}`;
  const lines = logprobs.map((each) => {
    if (!each) return UNKNOWN;
    return `${shown(each.chosen).padEnd(WIDTH * 3)} ${each.top.map(shown).join('  ')}`.trimEnd();
  });
  return lines.length > 0 ? ['log probabilities of the tokens, and of the likeliest:', ...lines] : [];
}

export function table({ info, done, report }: Run): string {
  const { metrics, usage } = done;
  const { attention, step } = metrics;
  const speed = `prefill ${figure(metrics.prefillTokensPerSecond)} tok/s, decode ${figure(metrics.decodeTokensPerSecond)} tok/s`;
  const thinking = usage.reasoningTokens > 0 ? ` (${usage.reasoningTokens} of them thinking)` : '';
  const lines = [
    ...logprobLines(report),
    ' '.repeat(22) + [...COLUMNS, 'n'].map((column) => column.padStart(WIDTH)).join(''),
    row('TBT, ms', metrics.tbtMs),
    metrics.gpuMs && row('GPU step, ms', metrics.gpuMs),
    fewLine(metrics.tbtMs),
    `TTFT ${figure(metrics.ttftMs)} ms; ${speed}`,
    `${counted(usage.promptTokens, 'prompt token')}, ${counted(report.ids.length, 'token')} generated${thinking}, ended by ${done.finishReason}`,
    `${info.model.name} on ${info.backend}${info.adapter ? ` (${info.adapter})` : ''}, KV ${info.kvCache}, activations ${arithmeticText(info)}`,
    ...(info.arithmetic ? [`arithmetic: ${info.arithmetic.cause} (${info.arithmetic.reason})`] : []),
    matricesLine(info.arithmetic?.matrices),
    `attention: prefill ${attention.prefill}, decode ${attention.decode} (${attention.reason})`,
    `step: ${stepText(step)} (${step.reason})`,
    costLine(metrics),
    ...report.warnings.map(({ code, message }) => `warning ${code}: ${message}`),
  ];
  return lines.filter((line) => line !== null).join('\n');
}

/** Only where the browser grants subgroup matrices. */
function matricesLine(choice: NonNullable<EngineInfo['arithmetic']>['matrices']): string | null {
  return choice ? `subgroup matrices: ${choice.used ? 'used' : 'not used'} (${choice.reason})` : null;
}
