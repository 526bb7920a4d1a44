// The panel's sentences about tuning: before, during and after.

import type { EngineInfo, ProductResult, TuneOutcome, TuneResult } from '../../engine/engine';
import { sayError } from '../../words/error_words';
import { panelWords } from '../../words/panel_words';
import { formatCount, formatMs } from '../shared/figure_format';
import { BASELINE, parametersText, productTitle, type TuneTable } from './tune_table';

/** The conditions of a start. */
interface TuneConditions {
  hasModel: boolean;
  info: EngineInfo | null;
  isAnswering: boolean;
}

/** The reason why tuning cannot start now, or null if it can. */
export function whyNotTune({ hasModel, info, isAnswering }: TuneConditions): string | null {
  const text = panelWords().tuning;
  if (!hasModel || !info) return text.noModel;
  if (info.backend === 'cpu') return text.onCpu;
  if (info.askedAttention !== 'auto') return text.byName(info.askedAttention);
  return isAnswering ? text.answering : null;
}

/** The newest candidate, shown until the next one. */
export function lastMeasured(result: TuneResult): string {
  if (result.pass === 'product') return lastProduct(result);
  const { passes, refused } = panelWords().tuning;
  const pass =
    result.pass === 'prefill' ? passes.prefill(formatCount(result.nTokens)) : passes.decode(formatCount(result.kvLen));
  const letter = result.combination === null ? '' : ` ${result.combination}`;
  const parameters = parametersText(result.parameters);
  const what = `${pass}:${letter} ${result.name}${parameters ? ` (${parameters})` : ''}`;
  return `${what}, ${result.ms === null ? refused : formatMs(result.ms)}`;
}

function lastProduct(result: ProductResult): string {
  const { passes, refused, decode } = panelWords().tuning;
  const pass = result.nTokens === 1 ? decode.toLowerCase() : passes.prefill(formatCount(result.nTokens));
  const what = `${pass}: ${productTitle(result)} (${parametersText(result.parameters)})`;
  return `${what}, ${result.ms === null ? refused : `${formatCount(Math.round(10_000 * result.ms) / 10)} µs`}`;
}

/** The validity of the outcome. */
export function keptText({ results, stored }: TuneOutcome): string {
  const text = panelWords().tuning;
  if (!results.some((result) => result.fastest)) return text.nothingRan;
  return stored ? text.kept : text.notStored;
}

/** The sentence over the prefill table. */
export function prefillSummary({ winner, baseline }: TuneTable): string {
  const text = panelWords().tuning;
  const parts: string[] = [];
  if (winner) {
    const { title, time, gain } = winner;
    const isOther = baseline && winner !== baseline;
    parts.push(isOther ? text.wonAgainst(title, time, gain, baseline.title) : text.won(title, time));
  }
  if (baseline && baseline.letter !== BASELINE) parts.push(text.baselineRefused(BASELINE, baseline.title));
  return parts.join(' ');
}

/** The error, with a next step. */
export function tuneFailure(error: unknown): string {
  const text = panelWords().tuning;
  const message = sayError(error).text || text.silentFailure;
  switch ((error as { code?: unknown } | null)?.code) {
    case 'invalid-request':
      return message;
    case 'device-lost':
    case 'worker':
      return `${message} ${text.afterLoss}`;
    default:
      return `${message} ${text.afterFailure}`;
  }
}
