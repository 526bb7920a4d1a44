// The figures of a run and of the engine, each with its definition. Pure.

import type { EngineInfo, Roofline } from '../../engine/engine';
import { describeRecovery, type RunData } from '../run/run_data';
import { type Figure, type FigureGroup, formatMs, formatRate, NONE } from '../shared/figure_format';
import { gpuSteps, machine, memory, perToken } from './machine_figures';
import { countNote, percentiles } from './percentiles';

/** The tiles on top: the gaps that a reader of the stream feels. */
export function headline({ tbt }: RunData): Figure[] {
  const share = (n: number) => `${n} of 100 gaps between tokens are no longer.`;
  const definitions = {
    p50: 'Half of the gaps between tokens are no longer.',
    p95: share(95),
    p99: share(99),
    max: 'The longest gap between two tokens of this run.',
  };
  return percentiles(definitions, tbt, 'gaps', '');
}

/** The number of gaps behind the tiles, and the percentiles that need more, or '' without gaps. */
export function headlineNote({ tbt, tokens, recoveries }: RunData): string {
  const note = countNote(tbt, 'gaps');
  const isGap = ({ afterToken }: { afterToken: number }) => afterToken > 0 && afterToken < tokens.length;
  const count = recoveries.filter((each) => isGap(each) && each.pauseMs !== null).length;
  if (note === '' || count === 0) return note;
  return `${note} ${count === 1 ? 'One is a recovery, and counts' : `${count} are recoveries, and count`} like any other.`;
}

/** The recoveries of a run, or nothing for most runs. */
function recovering({ recoveries }: RunData): Figure[] {
  const ended = recoveries.filter(({ pauseMs }) => pauseMs !== null);
  if (ended.length === 0) return [];
  const pauseMs = ended.reduce((sum, each) => sum + (each.pauseMs ?? 0), 0);
  return [
    {
      key: 'recoveries',
      label: ended.length === 1 ? 'Recovery' : `${ended.length} recoveries`,
      value: formatMs(pauseMs),
      definition: `${[...new Set(ended.map(describeRecovery))].join(' ')} Such a pause is a gap like any other: it counts in mean, percentiles, histogram and decode rate.`,
    },
  ];
}

function timing(run: RunData): FigureGroup {
  const { tbt } = run;
  return {
    title: 'Timing',
    figures: [
      {
        key: 'decode-rate',
        label: 'Decode',
        value: formatRate(run.decodeTokensPerSecond),
        definition: 'Tokens generated a second after the first: (n − 1) / (time of the last − time of the first).',
      },
      {
        key: 'tokens',
        label: 'Tokens',
        value: `${run.usage?.promptTokens ?? run.prefill?.total ?? NONE} in, ${run.tokens.length} out`,
        definition: 'Prompt tokens and generated tokens.',
      },
      {
        key: 'mean',
        label: 'Mean gap',
        value: formatMs(tbt.mean),
        definition: 'Mean time between tokens. It hides stalls: look at p99 and the chart.',
      },
      {
        key: 'jitter',
        label: 'Jitter',
        value: formatMs(tbt.jitter),
        definition: 'Mean absolute difference of neighboring gaps. 0 is a perfectly even stream.',
      },
      ...recovering(run),
    ],
    note: 'By the clock of the engine’s worker, which browsers round: to 0.1 ms in Chromium.',
  };
}

/** TTFT and its parts. The first answer adds the times of the load before it. */
function firstToken(run: RunData, info: EngineInfo | null): FigureGroup {
  const { metrics, prefill, usage } = run;
  const isPrefilling = prefill && !metrics && prefill.done < prefill.total;
  const figures: Figure[] = [
    {
      key: 'ttft',
      label: 'First token',
      value: formatMs(run.ttftMs),
      definition: metrics
        ? 'TTFT: from the request to the first token, measured by the engine.'
        : 'TTFT: from the request to the first token, as seen by this page until the run is done.',
    },
    {
      key: 'prefill-rate',
      label: 'Prefill',
      value: formatRate(metrics?.prefillTokensPerSecond ?? null),
      definition: 'Prompt tokens a second. Those still in the cache from the turn before are not counted.',
    },
    {
      key: 'tokenize',
      label: '– tokenizing',
      value: formatMs(metrics?.tokenizeMs ?? null),
      definition: 'Part of TTFT: chat template and text to token ids.',
    },
    {
      key: 'prefill',
      label: '– prefill',
      value: isPrefilling ? `${prefill.done} of ${prefill.total}` : formatMs(metrics?.prefillMs ?? null),
      definition: 'Part of TTFT: the prompt through the model. While it runs: prompt tokens done, and all.',
    },
    {
      key: 'cached',
      label: 'Reused',
      value: usage ? `${usage.cachedTokens} of ${usage.promptTokens}` : NONE,
      definition:
        'Prompt tokens whose keys and values were still in the cache from the turn before: no prefill for them.',
    },
  ];
  return { title: 'Time to first token', figures: [...figures, ...(run.isFirst && info ? loading(info) : [])] };
}

function loading({ loadMs }: EngineInfo): Figure[] {
  const { open, weights, compile } = loadMs;
  const figure = (key: string, label: string, ms: number, what: string): Figure => ({
    key: `first-${key}`,
    label,
    value: formatMs(ms),
    definition: `Before the first answer: ${what} It is no part of TTFT.`,
  });
  return [
    figure('load', 'Loading', open + weights + compile, 'the model was loaded.'),
    figure('open', '– open', open, 'the model’s header, tokenizer and configuration were read.'),
    figure('weights', '– weights', weights, 'the weights were read and put in place, while kernels compiled.'),
    figure(
      'compile',
      '– compile',
      compile,
      'what compiling took beyond that, the checks of the kernels and a first pass.',
    ),
  ];
}

/** All groups of figures. `roofline` is the highest read speed of this GPU, where measured. */
export function figureGroups(run: RunData, info: EngineInfo | null, roofline: Roofline | null = null): FigureGroup[] {
  const groups = [
    timing(run),
    firstToken(run, info),
    gpuSteps(run),
    perToken(run, info, roofline),
    memory(run, info),
    machine(info),
  ];
  return groups.filter((group) => group !== null);
}
