// A run as a document: everything that is known of it, and what it takes to run it again. A superset of the object of
// `generate --json`. Pure.

import {
  type EngineInfo,
  type Roofline,
  type RunMetrics,
  type RunReport,
  runReport,
  type TokenEvent,
  type Usage,
} from '../../engine/engine';
import type { Mark, PlaceStart, RunData, Stall } from './run_data';
import type { RunSettings } from './run_origin';

export const RUN_FORMAT = 'vivace-run';
export const RUN_VERSION = 1;
/** Most marks and recoveries of a document: the newest. */
export const MAX_MARKS = 500;

/** One list per value, each with one entry per token, in the order of `ids`. Times in milliseconds. */
export interface TokenColumns {
  text: string[];
  position: number[];
  atMs: number[];
  tbtMs: (number | null)[];
  inFlightMs: number[];
  workerMs: (number | null)[];
  receivedMs: number[];
  paintedMs: (number | null)[];
  /** Pipelines compiled before the token. */
  pipelines: number[];
  /** The part of `tbtMs` in which other requests ran. Absent where none did, and in older documents. */
  othersMs?: number[];
}

/** The keys of the report come after those that only the panel knows. */
export interface RunDocument extends RunReport {
  format: typeof RUN_FORMAT;
  version: typeof RUN_VERSION;
  id: string;
  name: string;
  /** The start of the run, as ISO 8601. */
  date: string;
  vivace: string;
  browser: string;
  system: string;
  cores: number | null;
  address: string | null;
  sampling: RunSettings | null;
  seed: number | null;
  usage: Usage | null;
  isFirst: boolean;
  info: EngineInfo | null;
  /** Null where it was not measured before the document was written. */
  roofline: Roofline | null;
  /** Prompt tokens that went through the model, and how many had when the run ended. */
  prefill: { done: number; total: number } | null;
  tokenizeMs: number | null;
  prefillMs: number | null;
  /** The most answers that one step ran for, if more than one. */
  batchSize?: RunMetrics['batchSize'];
  /** The cache's share of the prompt. Absent in older documents. */
  cache?: RunMetrics['cache'];
  /** The times of an answer from a server. */
  network?: RunMetrics['network'];
  /** The places that computed the tokens, if there was a choice. */
  places?: readonly PlaceStart[];
  tokens: TokenColumns;
  marks: Mark[];
  /** Found again by who reads the document: the causes are here for people and other programs. */
  stalls: readonly Stall[];
  logprobs?: (TokenEvent['logprobs'] | null)[];
}

/** A run as a document. `info` stands in where the run has none. Values still unknown are null. */
export function runDocument(run: RunData, info: EngineInfo | null, roofline: Roofline | null): RunDocument {
  const { id, name, startedAt, vivace, browser, system, cores, address, sampling } = run.origin;
  const { prefill, isFirst, seed, usage } = run;
  const metrics: Partial<RunMetrics> = run.metrics ?? {};
  return {
    format: RUN_FORMAT,
    version: RUN_VERSION,
    id,
    name,
    date: new Date(startedAt).toISOString(),
    vivace,
    browser,
    system,
    cores,
    address,
    sampling,
    seed,
    usage,
    isFirst,
    ...reportOf(run, run.info ?? info),
    tokenizeMs: metrics.tokenizeMs ?? null,
    prefillMs: metrics.prefillMs ?? null,
    batchSize: metrics.batchSize,
    cache: metrics.cache,
    network: metrics.network,
    prefill,
    ...(run.places.length > 0 && { places: run.places.slice(-MAX_MARKS) }),
    tokens: columnsOf(run),
    marks: run.marks.slice(-MAX_MARKS),
    stalls: run.stalls,
    info: run.info ?? info,
    roofline,
  };
}

function reportOf(run: RunData, info: EngineInfo | null) {
  const { promptIds, tokens, parts, warnings, recoveries, done, ttftMs, tbt: tbtMs, decodeTokensPerSecond } = run;
  const ids = tokens.map((token) => token.id);
  const text = tokens.map((token) => token.text).join('') + (done?.text ?? '');
  const logprobs = tokens.some((token) => token.logprobs) ? tokens.map((token) => token.logprobs ?? null) : undefined;
  const measured = { ttftMs, tbtMs, decodeTokensPerSecond };
  const told = { warnings, recoveries: recoveries.slice(-MAX_MARKS), promptIds, ids, text, parts, done, measured };
  const { logprobs: given, ...report } = runReport({ info, logprobs, ...told });
  return given ? { ...report, logprobs: [...given] } : report;
}

function columnsOf({ tokens }: RunData): TokenColumns {
  return {
    text: tokens.map(({ text }) => text),
    position: tokens.map(({ position }) => position),
    atMs: tokens.map(({ atMs }) => rounded(atMs)),
    tbtMs: tokens.map(({ tbtMs }) => tbtMs),
    inFlightMs: tokens.map(({ inFlightMs }) => rounded(inFlightMs)),
    workerMs: tokens.map(({ workerMs }) => workerMs && rounded(workerMs)),
    receivedMs: tokens.map(({ receivedMs }) => rounded(receivedMs)),
    paintedMs: tokens.map(({ paintedMs }) => paintedMs && rounded(paintedMs)),
    pipelines: tokens.map(({ pipelines }) => pipelines ?? 0),
    ...(tokens.some(({ othersMs }) => othersMs) && { othersMs: tokens.map(({ othersMs }) => rounded(othersMs ?? 0)) }),
  };
}

/** Rounds to microseconds: finer digits are rounding errors of subtraction. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
