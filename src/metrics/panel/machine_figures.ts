// The figures of a run's demands on the machine: GPU time, calls and bytes of a token, memory, model and device.

import { arithmeticText } from '../../engine/arithmetic_text';
import type { EngineInfo, Roofline, StepChoice } from '../../engine/engine';
import { stepParts } from '../../engine/step_text';
import { panelWords } from '../../words/panel_words';
import { sayReason } from '../../words/reasons';
import type { RunData } from '../run/run_data';
import {
  type Figure,
  type FigureGroup,
  figureOf,
  formatBytes,
  formatCount,
  formatMs,
  formatShare,
  formatSpeed,
  NONE,
} from '../shared/figure_format';
import { countNote, percentiles } from './percentiles';

export function gpuSteps(run: RunData): FigureGroup | null {
  const { gpuMs: gpu, batchSize } = run.metrics ?? {};
  if (!gpu) return null;
  const text = panelWords().figures;
  return {
    key: 'gpu',
    title: text.titles.gpu,
    figures: percentiles(text.steps, gpu, 'steps', 'gpu-').map((figure) => ({
      ...figure,
      label: text.stepOf(figure.label),
    })),
    note: `${countNote(gpu, 'steps')} ${text.gpuNote} ${batchSize ? text.batchNote(batchSize) : ''}`.trim(),
  };
}

/** The running decode step, with its reason as the note. */
export function decodeStep(step: StepChoice): FigureGroup {
  const text = panelWords().figures;
  const reason = sayReason(step.reason);
  return {
    key: 'step',
    title: text.titles.step,
    figures: [figureOf('step', text.step, stepParts(step).map(sayReason).join(', '))],
    note: step.name === 'fused' ? text.stepNote(reason) : reason,
  };
}

export function perToken(run: RunData, info: EngineInfo | null, roofline: Roofline | null): FigureGroup {
  const per = run.metrics?.perToken ?? null;
  const text = panelWords().figures;
  const figures = [
    figureOf('dispatches', text.dispatches, formatCount(per?.dispatches ?? null)),
    figureOf('submits', text.submits, formatCount(per?.submits ?? null)),
    figureOf('syncs', text.syncs, formatCount(per?.syncs ?? null)),
    figureOf('bytes-read', text.bytesRead, formatBytes(per?.bytesRead ?? null)),
    figureOf('run-ahead', text.runAhead, formatCount(run.metrics?.runAhead ?? null)),
    ...reading(run, info, roofline),
  ];
  const group = { key: 'per-token', title: text.titles.perToken, figures };
  return info?.backend === 'cpu' ? { ...group, note: text.cpuNote } : group;
}

interface ReadSpeed {
  /** Bytes that a step has to read at the mean context of the run. */
  bytes: number;
  /** Bytes over the time of a step, in GB/s (1e9 bytes), or null without a time of steps for this answer alone. */
  gbps: number | null;
  /**
   * Source of the time: the GPU's own time of a step (p50), or without one the mean gap between tokens. `shared`: none,
   * because steps ran for other answers, too.
   */
  clock: 'gpu' | 'gaps' | 'shared';
}

/**
 * The speed at which the steps of a run read the GPU's memory, or null before the second token. In the long run the
 * roofline bounds it.
 */
function readSpeed(
  run: Pick<RunData, 'tokens' | 'metrics' | 'tbt'>,
  { weights, kvPerPosition, kvInWindows = [] }: NonNullable<EngineInfo['bytesPerToken']>,
): ReadSpeed | null {
  const first = run.tokens[1]; // the first token comes from prefill
  const last = run.tokens.at(-1);
  if (!first || !last) return null;
  // The step for the token at position p reads the keys and values of the p positions before it.
  const range = [first.position, last.position] as const;
  const inWindows = kvInWindows.map(({ positions, perPosition }) => perPosition * meanRead(range, positions));
  const bytes = inWindows.reduce((sum, read) => sum + read, weights + kvPerPosition * meanRead(range));
  const gpuMs = run.metrics?.gpuMs?.p50;
  if (run.metrics?.batchSize) return { bytes, gbps: null, clock: 'shared' };
  const ms = gpuMs || run.tbt.mean; // a clock that rounds may have measured 0
  return { bytes, gbps: ms ? bytes / ms / 1e6 : null, clock: gpuMs ? 'gpu' : 'gaps' };
}

/** The mean number of positions that the steps for a range of positions read, where each reads the last `most`. */
function meanRead([first, last]: readonly [number, number], most = Number.POSITIVE_INFINITY): number {
  if (first >= most) return most;
  const turn = Math.min(last, most);
  const rising = (first + turn) / 2;
  return last === first
    ? rising
    : (rising * (turn - first) + (last > turn ? most * (last - turn) : 0)) / (last - first);
}

/** The figures of memory reads: bytes per token, speed, and fraction of the highest speed that the memory gives. */
function reading(run: RunData, info: EngineInfo | null, roofline: Roofline | null): Figure[] {
  if (!info?.bytesPerToken) return [];
  const read = readSpeed(run, info.bytesPerToken);
  const text = panelWords().figures;
  const weights = formatBytes(info.bytesPerToken.weights);
  const { kvPerPosition, kvInWindows = [] } = info.bytesPerToken;
  const windows = kvInWindows.map(({ positions, perPosition }) =>
    text.neededInWindow(formatBytes(perPosition), formatCount(positions)),
  );
  const fraction = read?.gbps && roofline ? read.gbps / roofline.readGBps : null;
  const ofPeak = roofline ? text.ofPeakHelp(formatSpeed(roofline.readGBps), roofline.clock) : text.noPeak;
  return [
    figureOf(
      'bytes-needed',
      [text.neededLabel, [text.needed(weights, formatBytes(kvPerPosition)), ...windows].join(' ')],
      formatBytes(read?.bytes ?? null),
    ),
    figureOf(
      'read-speed',
      [text.bandwidth, text.bandwidthHelp[read?.clock ?? 'none']],
      formatSpeed(read?.gbps ?? null),
    ),
    figureOf('roofline', [text.ofPeak, ofPeak], formatShare(fraction)),
  ];
}

export function memory(run: RunData, info: EngineInfo | null): FigureGroup | null {
  const bytes = info?.gpuBytes;
  if (!bytes) return null;
  const text = panelWords().figures;
  return {
    key: 'memory',
    title: text.titles.memory,
    figures: [
      figureOf('memory-weights', text.weights, formatBytes(bytes.weights)),
      figureOf('memory-kv', text.kvCache, formatBytes(bytes.kvCache)),
      figureOf('memory-activations', text.activations, formatBytes(bytes.activations)),
      ...(run.metrics?.cache ? [figureOf('memory-parked', text.parked, formatBytes(run.metrics.cache.bytes))] : []),
      figureOf('memory-peak', text.peak, formatBytes(run.metrics?.peakGpuBytes ?? null)),
    ],
  };
}

/** @param hasLoad false where the times of the load stand above, with the first answer */
export function machine(info: EngineInfo | null, hasLoad = true): FigureGroup | null {
  if (!info) return null;
  const { model, loadMs } = info;
  const text = panelWords().figures;
  const [open, weights, compile] = [loadMs.open, loadMs.weights, loadMs.compile].map(formatMs);
  const figures: Figure[] = [
    figureOf('backend', text.backend, info.backend),
    figureOf('activations', text.arithmetic, arithmeticText(info)),
    figureOf('adapter', text.adapter, info.adapter ?? NONE),
    figureOf('model', [text.model, text.layers(model.architecture, model.nLayers)], model.name),
    figureOf('format', text.format, `${model.format}, ${formatBytes(model.fileBytes)}`),
    figureOf('context', text.context, text.contextValue(formatCount(info.contextLength), info.kvCache)),
    ...racedFigures(info.arithmetic?.race),
  ];
  const load = formatMs(loadMs.open + loadMs.weights + loadMs.compile);
  if (hasLoad) figures.push(figureOf('load', [text.load, text.loadHelp(open, weights, compile)], load));
  const cause = info.arithmetic?.cause;
  return { key: 'machine', title: text.titles.machine, figures, ...(cause && { note: text.arithmeticCauses[cause] }) };
}

/** The race of arithmetics: the time of a product each way, by kind of pass. */
function racedFigures(race: NonNullable<EngineInfo['arithmetic']>['race'] | undefined): Figure[] {
  if (!race) return [];
  const text = panelWords().figures;
  const size = `${formatCount(race.rows)} × ${formatCount(race.cols)}, ${race.format}`;
  return (['decode', 'prefill'] as const).map((pass) => {
    const { q8, f32 } = race[pass];
    const help = text.racedHelp(size, formatShare(Math.max(q8.spread, f32.spread)));
    return figureOf(`raced-${pass}`, [text.raced[pass], help], `q8 ${micros(q8.ms)}, f32 ${micros(f32.ms)}`);
  });
}

const micros = (ms: number) => `${formatCount(Number((1000 * ms).toPrecision(3)))} µs`;
