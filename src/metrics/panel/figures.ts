// The figures of a run and of the engine, each with its definition.

import type { EngineInfo, Roofline } from '../../engine/engine';
import { panelWords } from '../../words/panel_words';
import { describeRecovery, type RunData } from '../run/run_data';
import { type Figure, type FigureGroup, figureOf, formatMs, formatRate, NONE } from '../shared/figure_format';
import { gpuSteps, machine, memory, perToken } from './machine_figures';
import { network, server } from './network_figures';
import { countNote, percentiles } from './percentiles';

/** The tiles on top: the gaps that a reader of the stream feels. */
export function headline({ tbt }: RunData): Figure[] {
  return percentiles(panelWords().figures.gaps, tbt, 'gaps', '');
}

/** The number of gaps behind the tiles, and the percentiles that need more, or '' without gaps. */
export function headlineNote({ tbt, tokens, recoveries }: RunData): string {
  const note = countNote(tbt, 'gaps');
  const isGap = ({ afterToken }: { afterToken: number }) => afterToken > 0 && afterToken < tokens.length;
  const count = recoveries.filter((each) => isGap(each) && each.pauseMs !== null).length;
  return note === '' || count === 0 ? note : `${note} ${panelWords().figures.recoveryCount(count)}`;
}

/** The recoveries of a run, or nothing for most runs. */
function recovering({ recoveries }: RunData): Figure[] {
  const ended = recoveries.filter(({ pauseMs }) => pauseMs !== null);
  if (ended.length === 0) return [];
  const pauseMs = ended.reduce((sum, each) => sum + (each.pauseMs ?? 0), 0);
  const text = panelWords().figures;
  const what = [...new Set(ended.map(describeRecovery))].join(' ');
  return [figureOf('recoveries', [text.recoveries(ended.length), text.recoveriesHelp(what)], formatMs(pauseMs))];
}

function timing(run: RunData, info: EngineInfo | null): FigureGroup {
  const { tbt } = run;
  const text = panelWords().figures;
  const prompt = run.usage?.promptTokens ?? run.prefill?.total ?? NONE;
  return {
    key: 'timing',
    title: text.titles.timing,
    figures: [
      figureOf('decode-rate', text.decode, formatRate(run.decodeTokensPerSecond)),
      figureOf('tokens', text.tokens, text.inOut(`${prompt}`, run.tokens.length)),
      figureOf('mean', text.mean, formatMs(tbt.mean)),
      figureOf('jitter', text.jitter, formatMs(tbt.jitter)),
      ...recovering(run),
    ],
    note: isServer(info) ? text.arrivalNote : text.timingNote,
  };
}

/** TTFT and its parts. The first answer adds the times of the load before it. */
function firstToken(run: RunData, info: EngineInfo | null): FigureGroup {
  const { metrics, prefill, usage } = run;
  const text = panelWords().figures;
  const isPrefilling = prefill && !metrics && prefill.done < prefill.total;
  const figures: Figure[] = [
    figureOf('ttft', metrics ? text.ttft : [text.ttft[0], text.ttftSoFar], formatMs(run.ttftMs)),
    figureOf('prefill-rate', text.prefillRate, formatRate(metrics?.prefillTokensPerSecond ?? null)),
    ...(isServer(info)
      ? []
      : [
          figureOf('tokenize', text.tokenize, formatMs(metrics?.tokenizeMs ?? null)),
          figureOf(
            'prefill',
            text.prefill,
            isPrefilling ? text.of(prefill.done, prefill.total) : formatMs(metrics?.prefillMs ?? null),
          ),
        ]),
    figureOf('cached', text.cached, usage ? text.of(usage.cachedTokens, usage.promptTokens) : NONE),
    ...(metrics?.cache ? [figureOf('cache', text.cache, text.cacheReports[metrics.cache.report])] : []),
  ];
  return {
    key: 'first',
    title: text.titles.first,
    figures: [...figures, ...(run.isFirst && info && !isServer(info) ? loading(info) : [])],
  };
}

function loading({ loadMs }: EngineInfo): Figure[] {
  const { open, weights, compile } = loadMs;
  const { loaded, opened, weighed, compiled } = panelWords().figures;
  return [
    figureOf('first-load', loaded, formatMs(open + weights + compile)),
    figureOf('first-open', opened, formatMs(open)),
    figureOf('first-weights', weighed, formatMs(weights)),
    figureOf('first-compile', compiled, formatMs(compile)),
  ];
}

/** True for a model that runs on a server: what this machine would count is not known there. */
export function isServer(info: EngineInfo | null): boolean {
  return info?.backend === 'remote';
}

/** All groups of figures. `roofline` is the highest read speed of this GPU, where measured. */
export function figureGroups(run: RunData, info: EngineInfo | null, roofline: Roofline | null = null): FigureGroup[] {
  if (info && isServer(info))
    return [timing(run, info), firstToken(run, info), network(run), server(info)].filter((group) => group !== null);
  const groups = [
    timing(run, info),
    firstToken(run, info),
    gpuSteps(run),
    perToken(run, info, roofline),
    memory(run, info),
    machine(info, !run.isFirst),
  ];
  return groups.filter((group) => group !== null);
}
