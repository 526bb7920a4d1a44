// Turns a run and the engine's info into the figures that the panel shows, each with its definition. Pure.

import type { EngineInfo } from '../engine/engine';
import { formatBytes, formatCount, formatMs, formatRate, NONE } from './figure_format';
import type { RunRecord } from './run_record';

export interface Figure {
  /** Stable name, for tests and for the markup. */
  key: string;
  label: string;
  value: string;
  /** What the figure means and how it was measured. */
  definition: string;
}

export interface FigureGroup {
  title: string;
  figures: Figure[];
  /** A sentence under the figures. */
  note?: string;
}

/** The tiles on top: what a reader of the stream feels. */
export function headline(run: RunRecord): Figure[] {
  const { tbt } = run;
  return [
    {
      key: 'p50',
      label: 'p50',
      value: formatMs(tbt.p50),
      definition: 'Half of the gaps between tokens are no longer.',
    },
    { key: 'p95', label: 'p95', value: formatMs(tbt.p95), definition: '95 of 100 gaps between tokens are no longer.' },
    { key: 'p99', label: 'p99', value: formatMs(tbt.p99), definition: '99 of 100 gaps between tokens are no longer.' },
    {
      key: 'max',
      label: 'max',
      value: formatMs(tbt.max),
      definition: 'The longest gap between two tokens of this run.',
    },
  ];
}

function timing(run: RunRecord): FigureGroup {
  const m = run.metrics;
  const { tbt } = run;
  const prefill = run.prefill && !m && run.prefill.done < run.prefill.total;
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
        key: 'prefill-rate',
        label: 'Prefill',
        value: formatRate(m?.prefillTokensPerSecond ?? null),
        definition: 'Prompt tokens a second. Those still in the cache from the turn before are not counted.',
      },
      {
        key: 'mean',
        label: 'Mean gap',
        value: formatMs(tbt.mean),
        definition: 'Mean time between tokens. It hides stalls: look at p99 and the chart.',
      },
      {
        key: 'ttft',
        label: 'First token',
        value: formatMs(run.ttftMs),
        definition: m
          ? 'TTFT: from the request to the first token, measured by the engine.'
          : 'TTFT: from the request to the first token, as seen by this page until the run is done.',
      },
      {
        key: 'jitter',
        label: 'Jitter',
        value: formatMs(tbt.jitter),
        definition: 'Mean absolute difference of neighbouring gaps. 0 is a perfectly even stream.',
      },
      {
        key: 'tokenize',
        label: '– tokenising',
        value: formatMs(m?.tokenizeMs ?? null),
        definition: 'Part of TTFT: chat template and text to token ids.',
      },
      {
        key: 'tokens',
        label: 'Tokens',
        value: `${run.usage?.promptTokens ?? run.prefill?.total ?? NONE} in, ${run.tokens.length} out`,
        definition: `Prompt tokens and generated tokens. ${run.usage?.cachedTokens ?? 0} prompt tokens were in the cache already.`,
      },
      {
        key: 'prefill',
        label: '– prefill',
        value: prefill ? `${run.prefill!.done} of ${run.prefill!.total}` : formatMs(m?.prefillMs ?? null),
        definition: 'Part of TTFT: the prompt through the model. While it runs: prompt tokens done, and all.',
      },
    ],
  };
}

function gpuSteps(run: RunRecord): FigureGroup | null {
  const gpu = run.metrics?.gpuMs;
  if (!gpu) return null;
  const own = 'The GPU’s own time for one step, from its timestamps, without waiting and transfer. ';
  const grid = 'Browsers round timestamps to 65 microseconds unless developer features are on.';
  return {
    title: 'On the GPU',
    figures: (['p50', 'p95', 'p99', 'max'] as const).map((key) => ({
      key: `gpu-${key}`,
      label: `Step ${key}`,
      value: formatMs(gpu[key]),
      definition: own + grid,
    })),
  };
}

function perToken(run: RunRecord, info: EngineInfo | null): FigureGroup {
  const per = run.metrics?.perToken ?? null;
  const n = (key: 'dispatches' | 'submits' | 'syncs') => formatCount(per === null ? null : per[key]);
  const group: FigureGroup = {
    title: 'Per token',
    figures: [
      {
        key: 'dispatches',
        label: 'Dispatches',
        value: n('dispatches'),
        definition: 'Kernels started on the GPU per token.',
      },
      {
        key: 'submits',
        label: 'Submits',
        value: n('submits'),
        definition: 'Command buffers handed to the GPU per token.',
      },
      {
        key: 'syncs',
        label: 'Syncs',
        value: n('syncs'),
        definition: 'Readbacks per token that the CPU had to wait for.',
      },
      {
        key: 'bytes-read',
        label: 'Read back',
        value: formatBytes(per?.bytesRead ?? null),
        definition: 'Bytes that came back from the GPU per token: ids, no logits.',
      },
      {
        key: 'run-ahead',
        label: 'Run-ahead',
        value: run.metrics ? formatCount(run.metrics.runAhead) : NONE,
        definition: 'Steps queued on the GPU ahead of the one being read, so that it never waits for the CPU.',
      },
    ],
  };
  if (info?.backend === 'cpu') group.note = 'The cpu backend starts no kernels, so there is nothing to count.';
  return group;
}

function memory(run: RunRecord, info: EngineInfo | null): FigureGroup | null {
  const bytes = info?.gpuBytes;
  if (!bytes) return null;
  const figure = (key: string, label: string, value: number | null, definition: string): Figure => ({
    key,
    label,
    value: formatBytes(value),
    definition,
  });
  return {
    title: 'GPU memory',
    figures: [
      figure('memory-weights', 'Weights', bytes.weights, 'Buffers that hold the model.'),
      figure('memory-kv', 'KV cache', bytes.kvCache, 'Keys and values of the whole context, allocated at load.'),
      figure('memory-activations', 'Activations', bytes.activations, 'Everything else that a step needs.'),
      figure('memory-peak', 'Peak', run.metrics?.peakGpuBytes ?? null, 'Most bytes held at once, loading included.'),
    ],
  };
}

function machine(info: EngineInfo | null): FigureGroup | null {
  if (!info) return null;
  const { model, loadMs } = info;
  return {
    title: 'Model and machine',
    figures: [
      { key: 'backend', label: 'Backend', value: info.backend, definition: 'What computes: WebGPU or plain loops.' },
      {
        key: 'adapter',
        label: 'Adapter',
        value: info.adapter ?? NONE,
        definition: 'The GPU, as the browser names it.',
      },
      { key: 'model', label: 'Model', value: model.name, definition: `${model.architecture}, ${model.nLayers} layers` },
      {
        key: 'format',
        label: 'Weights',
        value: `${model.format}, ${formatBytes(model.fileBytes)}`,
        definition: 'Number formats found in the file, and its size.',
      },
      {
        key: 'context',
        label: 'Context',
        value: `${formatCount(info.contextLength)} tokens, KV ${info.kvCache}`,
        definition: 'Tokens that fit, and how their keys and values are stored.',
      },
      {
        key: 'activations',
        label: 'Activations',
        value: info.activations,
        definition: 'What quantized matrices are multiplied with: signed bytes (q8), or f32, which is exact.',
      },
      {
        key: 'load',
        label: 'Loading',
        value: formatMs(loadMs.open + loadMs.weights + loadMs.compile),
        definition: `Open ${formatMs(loadMs.open)}, weights ${formatMs(loadMs.weights)}, compile ${formatMs(loadMs.compile)}.`,
      },
    ],
  };
}

export function figureGroups(run: RunRecord, info: EngineInfo | null): FigureGroup[] {
  const groups = [timing(run), gpuSteps(run), perToken(run, info), memory(run, info), machine(info)];
  return groups.filter((group) => group !== null);
}
