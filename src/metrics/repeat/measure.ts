// Asks the engine for the same answer again and again, each time with an empty cache, and keeps the figures. Settings
// take turns (A B A B), so that a machine that grows warm slows all of them alike.

import type { Engine, EngineGenerateOptions, RunMetrics } from '../../engine/engine';
import { type Sample, sampleOf } from './measured_figures';

export interface Measurement {
  engine: Pick<Engine, 'complete'>;
  promptIds: readonly number[];
  /** Tokens of each answer: the tokens that would end it never come. */
  tokens: number;
  /** Options of each setting. */
  settings: readonly EngineGenerateOptions[];
  times: number;
  signal: AbortSignal;
  /** Runs after each run: how many are done, of how many. */
  onProgress: (done: number, total: number) => void;
}

/** Tokens of the run before the first, which is not counted: kernels and clocks warm up. */
const WARM_UP_TOKENS = 16;

/**
 * The samples of each setting.
 * @throws VivaceError as of an answer; Error where the engine was lost meanwhile; DOMException AbortError
 */
export async function measure(measurement: Measurement): Promise<Sample[][]> {
  const { settings, times, tokens, signal, onProgress } = measurement;
  const series: Sample[][] = settings.map(() => []);
  const total = settings.length * times;
  onProgress(0, total);
  for (const setting of settings) await runOnce(measurement, setting, Math.min(tokens, WARM_UP_TOKENS));
  for (let done = 0; done < total; done++) {
    signal.throwIfAborted();
    const turn = done % settings.length;
    const metrics = await runOnce(measurement, settings[turn] ?? {}, tokens);
    series[turn]?.push(sampleOf(metrics));
    onProgress(done + 1, total);
  }
  return series;
}

async function runOnce(measurement: Measurement, setting: EngineGenerateOptions, tokens: number): Promise<RunMetrics> {
  const { engine, promptIds, signal } = measurement;
  const options = { ...setting, maxTokens: tokens, ignoreEos: true, reuseCache: false, signal };
  let metrics: RunMetrics | null = null;
  for await (const event of engine.complete(promptIds, options)) {
    if (event.type === 'interrupted') throw new InterruptedError(event.message);
    if (event.type === 'done') metrics = event.metrics;
  }
  signal.throwIfAborted();
  if (!metrics) throw new InterruptedError('The run ended without figures.');
  return metrics;
}

/** The engine was lost in the middle of a run, whose times mean nothing. */
class InterruptedError extends Error {}
