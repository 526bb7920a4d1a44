// A run from its document, as figures, charts and comparisons read one. Pure.

import type { AnswerPart, RunMetrics } from '../../engine/engine';
import { summarizeGaps } from '../../engine/tbt';
import { type DoneEvent, type RecordedToken, type RunData, runLabel } from './run_data';
import type { ReadRun } from './run_parse';
import { findStalls } from './stalls';

export type KeptRun = RunData & { readonly isRunning: false };

export function runOf(document: ReadRun): KeptRun {
  const { info, promptIds, prefill, isFirst, marks, warnings, recoveries, places = [] } = document;
  const tokens = tokensOf(document);
  const done = doneOf(document);
  const metrics = done?.metrics ?? null;
  const gaps = tokens.flatMap(({ tbtMs }) => (tbtMs === null ? [] : [tbtMs]));
  const run = {
    origin: originOf(document),
    info,
    label: runLabel(info, metrics),
    isFirst,
    promptIds,
    tokens,
    tokenNumbers: tokens.flatMap(({ tbtMs }, i) => (tbtMs === null ? [] : [i + 1])),
    gaps,
    places,
    marks,
    warnings,
    recoveries,
    parts: partsOf(document),
    prefill,
    done,
    seed: done?.seed ?? null,
    usage: done?.usage ?? null,
    finishReason: done?.finishReason ?? null,
    metrics,
    isEnded: true,
    ttftMs: document.ttftMs,
    tbt: metrics?.tbtMs ?? summarizeGaps(gaps),
    decodeTokensPerSecond: document.decodeTokensPerSecond,
    roofline: document.roofline,
    isRunning: false,
  } as const;
  return { ...run, stalls: findStalls(run) };
}

function originOf({ id, name, date, vivace, browser, system, cores, address, sampling }: ReadRun): RunData['origin'] {
  return { id, name, startedAt: Date.parse(date), vivace, browser, system, cores, address, sampling };
}

function tokensOf({ ids, tokens: columns, logprobs }: ReadRun): RecordedToken[] {
  return ids.map((id, i) => {
    const token = {
      id,
      text: columns.text[i],
      position: columns.position[i],
      atMs: columns.atMs[i],
      tbtMs: columns.tbtMs[i],
      inFlightMs: columns.inFlightMs[i],
      workerMs: columns.workerMs[i],
      receivedMs: columns.receivedMs[i],
      paintedMs: columns.paintedMs[i],
    };
    const pipelines = columns.pipelines[i];
    const othersMs = columns.othersMs?.[i];
    const logprob = logprobs?.[i];
    const more = { ...(pipelines && { pipelines }), ...(othersMs && { othersMs }) };
    return { ...token, ...more, ...(logprob && { logprobs: logprob }) };
  });
}

/** The engine's last event, or null for a run without one. */
function doneOf(document: ReadRun): DoneEvent | null {
  const { finishReason, seed, usage, text, tokens } = document;
  const metrics = metricsOf(document);
  if (!metrics || !finishReason || seed === null || !usage) return null;
  return { type: 'done', text: text.slice(tokens.text.join('').length), finishReason, seed, usage, metrics };
}

function metricsOf(document: ReadRun): RunMetrics | null {
  const { attention, step, ttftMs, tokenizeMs, prefillMs, tbtMs, gpuMs, perToken, peakGpuBytes } = document;
  const { runAhead, prefillTokensPerSecond, decodeTokensPerSecond, batchSize, cache, network } = document;
  if (!attention || !step || !tbtMs || tokenizeMs === null || prefillMs === null) return null;
  const speeds = { prefillTokensPerSecond, decodeTokensPerSecond };
  const costs = { gpuMs, perToken, runAhead: runAhead ?? 0, peakGpuBytes };
  return {
    attention,
    step,
    ttftMs,
    tokenizeMs,
    prefillMs,
    ...speeds,
    tbtMs,
    ...costs,
    ...(batchSize && { batchSize }),
    cache,
    ...(network && { network }),
  };
}

function partsOf({ reasoning, toolCalls }: ReadRun): AnswerPart[] {
  const thinking: AnswerPart[] = reasoning ? [{ type: 'reasoning', text: reasoning }] : [];
  const calls = toolCalls.flatMap(({ id, name, arguments: given, error, text = '' }, index): AnswerPart[] => {
    const call = { type: 'tool-call', index, id, name, arguments: given } as const;
    if (error === undefined) return [call];
    const failed = { type: 'tool-call-error', index, message: error, text } as const;
    return id || name || given ? [call, failed] : [failed];
  });
  return [...thinking, ...calls];
}
