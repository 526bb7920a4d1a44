// The figures of an answer from a server: what the network took, and what the server did.

import type { EngineInfo } from '../../engine/engine';
import { panelWords } from '../../words/panel_words';
import type { RunData } from '../run/run_data';
import { type FigureGroup, figureOf, formatCount, formatMs, NONE } from '../shared/figure_format';

/** The parts of the first token and of the mean gap, or null before they are known. */
export function network({ metrics }: RunData): FigureGroup | null {
  if (!metrics?.network) return null;
  const { server, beyondServer, acceptedMs, tokensPerChunk } = metrics.network;
  const text = panelWords().figures;
  return {
    key: 'network',
    title: text.titles.network,
    figures: [
      figureOf('network-first', text.networkFirst, formatMs(beyondServer?.ttftMs ?? null)),
      figureOf('server-first', text.serverFirst, formatMs(server?.promptMs ?? null)),
      figureOf('network-gap', text.networkGap, formatMs(beyondServer?.tokenMs ?? null)),
      figureOf('server-gap', text.serverGap, formatMs(server?.tokenMs ?? null)),
      figureOf('accepted', text.accepted, formatMs(acceptedMs)),
      figureOf('tokens-per-chunk', text.tokensPerChunk, formatCount(tokensPerChunk)),
    ],
    note: server ? text.networkNote : text.noServerTimes,
  };
}

/** The model and the server in the place of the machine. */
export function server({ model, adapter, contextLength }: EngineInfo): FigureGroup {
  const text = panelWords().figures;
  return {
    key: 'machine',
    title: text.titles.server,
    figures: [
      figureOf('model', [text.model, ''], model.name),
      figureOf('adapter', text.server, `${adapter ?? NONE}, ${model.architecture}`),
      figureOf('context', text.serverContext, contextLength > 0 ? formatCount(contextLength) : NONE),
    ],
  };
}
