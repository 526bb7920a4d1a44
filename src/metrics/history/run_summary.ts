// The line of a run in the list of runs. Pure.

import { isOfTooFew } from '../../engine/tbt';
import { UNIQUE_ID } from '../../shared/unique_id';
import { fields, list, matching, number, oneOf, orNull, text, whole } from '../run/run_checks';
import type { RunData } from '../run/run_data';
import { formatMs, formatRate } from '../shared/figure_format';

/** A pinned run is in the comparison under this letter. */
export type PinLetter = 'a' | 'b' | 'c';

export interface RunSummary {
  id: string;
  /** Given by a person, or ''. */
  name: string;
  /** Milliseconds since the epoch of 1970. */
  startedAt: number;
  model: string;
  attention: string;
  step: string;
  tokens: number;
  /** Number of gaps behind the percentiles. */
  gaps: number;
  p50: number | null;
  p99: number | null;
  tokensPerSecond: number | null;
  /** UTF-16 units of its document. */
  size: number;
  pin: PinLetter | null;
}

export function summarize(run: RunData, size: number, pin: PinLetter | null): RunSummary {
  const { origin, info, metrics, tokens, gaps, tbt, decodeTokensPerSecond } = run;
  const { id, name, startedAt } = origin;
  const attention = (metrics?.attention ?? info?.attention)?.decode ?? '';
  const step = (metrics?.step ?? info?.step)?.name ?? '';
  const figures = { p50: tbt.p50, p99: tbt.p99, tokensPerSecond: decodeTokensPerSecond };
  const what = { model: info?.model.name ?? '', attention, step, tokens: tokens.length, gaps: gaps.length };
  return { id, name, startedAt, ...what, ...figures, size, pin };
}

/**
 * True if both are lines of one run, under whatever id, name and letter. A document has whole milliseconds, and its
 * percentiles are taken again from its gaps: their last bits may differ.
 */
export function isSameRun(a: RunSummary, b: RunSummary): boolean {
  const keys = ['tokens', 'gaps', 'model'] as const;
  return Math.trunc(a.startedAt) === Math.trunc(b.startedAt) && keys.every((key) => a[key] === b[key]);
}

const MAX_ROWS = 10_000;
const ms = orNull(number());
const word = text(1000);

const summaries = list(
  fields<RunSummary>({
    id: matching(UNIQUE_ID, 'an id'),
    name: text(200),
    startedAt: number(0, 8.64e15),
    model: word,
    attention: word,
    step: word,
    tokens: whole(1e9),
    gaps: whole(1e9),
    p50: ms,
    p99: ms,
    tokensPerSecond: ms,
    size: number(),
    pin: orNull(oneOf<PinLetter>({ a: true, b: true, c: true })),
  }),
  MAX_ROWS,
);

/** The rows of a stored index, or none if it is damaged: the store makes missing rows again. */
export function readIndex(value: unknown): RunSummary[] {
  try {
    return summaries(value ?? [], 'the index');
  } catch {
    return [];
  }
}

/** The known figures. p99 of too few gaps is left out. */
export function figureParts({ gaps, p50, p99, tokensPerSecond }: RunSummary): string[] {
  const parts: string[] = [];
  if (p50 !== null) parts.push(`p50 ${formatMs(p50)}`);
  if (p99 !== null && !isOfTooFew('p99', gaps)) parts.push(`p99 ${formatMs(p99)}`);
  if (tokensPerSecond !== null) parts.push(formatRate(tokensPerSecond));
  return parts;
}

/** The known parts of a run: model, attention, step and number of tokens. */
export function whatParts({ model, attention, step, tokens }: RunSummary, text: WhatTexts): string[] {
  return [model, attention, step && text.step(step), text.tokens(tokens)].filter((part) => part !== '');
}

interface WhatTexts {
  step: (name: string) => string;
  tokens: (n: number) => string;
}
