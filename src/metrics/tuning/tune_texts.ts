// The panel's sentences about tuning: before, during and after. Pure.

import type { EngineInfo, ProductResult, TuneOutcome, TuneResult } from '../../engine/engine';
import { formatCount, formatMs } from '../shared/figure_format';
import { BASELINE, parametersText, productTitle, type TuneTable } from './tune_table';

/** The conditions of a start. */
interface TuneConditions {
  hasModel: boolean;
  info: EngineInfo | null;
  isAnswering: boolean;
}

/** Why tuning cannot start now, or null when it can. */
export function whyNotTune({ hasModel, info, isAnswering }: TuneConditions): string | null {
  if (!hasModel || !info) return 'There is no model yet: tuning measures with the shape of the one that is loaded.';
  if (info.backend === 'cpu') return 'The cpu backend starts no kernels, so there is nothing to tune.';
  if (info.askedAttention !== 'auto')
    return `The settings ask for ${info.askedAttention} by name, which tuning would not change: set it to auto first.`;
  if (isAnswering) return 'An answer is running: tuning would wait for the same GPU. Stop it, or tune after it.';
  return null;
}

/** The newest candidate, shown until the next one. */
export function lastMeasured(result: TuneResult): string {
  if (result.pass === 'product') return lastProduct(result);
  const size =
    result.pass === 'prefill' ? `${formatCount(result.nTokens)} tokens` : `${formatCount(result.kvLen)} keys`;
  const letter = result.combination === null ? '' : ` ${result.combination}`;
  const parameters = parametersText(result.parameters);
  const what = `${result.pass} of ${size}:${letter} ${result.name}${parameters ? ` (${parameters})` : ''}`;
  return `${what}, ${result.ms === null ? 'refused' : formatMs(result.ms)}`;
}

function lastProduct(result: ProductResult): string {
  const pass = result.nTokens === 1 ? 'decode' : `prefill of ${formatCount(result.nTokens)} tokens`;
  const what = `${pass}: ${productTitle(result)} (${parametersText(result.parameters)})`;
  return `${what}, ${result.ms === null ? 'refused' : `${(1000 * result.ms).toFixed(1)} µs`}`;
}

/** The validity of the outcome. */
export function keptText({ results, stored }: TuneOutcome): string {
  if (!results.some((result) => result.fastest)) return 'No candidate ran, so everything stays as it was.';
  return stored
    ? 'Kept for this GPU and browser; used from now on.'
    : 'Used until the page closes: this page may not store anything.';
}

/** The sentence over the prefill table. */
export function prefillSummary({ winner, baseline }: TuneTable): string {
  const parts: string[] = [];
  if (winner) {
    const gain = baseline && winner !== baseline ? `, ${winner.gain} against ${baseline.title}` : '';
    parts.push(`Winner: ${winner.title}, ${winner.time} ms${gain}.`);
  }
  if (baseline && baseline.letter !== BASELINE) {
    parts.push(`${BASELINE} was refused, so the percentages are against ${baseline.title}, the first that ran.`);
  }
  return parts.join(' ');
}

/** The error, with a next step. */
export function tuneFailure(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)) || 'Tuning failed without a message.';
  switch ((error as { code?: unknown } | null)?.code) {
    case 'invalid-request':
      return message;
    case 'device-lost':
    case 'worker':
      return `${message} The model loads again by itself, and runs as before. Then try again.`;
    default:
      return `${message} What ran before goes on running. Try again; if it fails again, load the model again.`;
  }
}
