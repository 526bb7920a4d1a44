// The figures of a run's demands on the machine: GPU time, calls and bytes of a token, memory, model and device. Pure.

import type { EngineInfo, Roofline, StepChoice } from '../../engine/engine';
import { stepText } from '../../engine/step_text';
import type { RunData } from '../run/run_data';
import {
  type Figure,
  type FigureGroup,
  formatBytes,
  formatCount,
  formatMs,
  formatPerCent,
  formatSpeed,
  NONE,
} from '../shared/figure_format';
import { countNote, percentiles } from './percentiles';

const STEP = 'The GPU’s own time for one step, from its timestamps, without waiting and transfer.';
const STEP_DEFINITIONS = { p50: STEP, p95: STEP, p99: STEP, max: STEP };

export function gpuSteps(run: RunData): FigureGroup | null {
  const gpu = run.metrics?.gpuMs;
  if (!gpu) return null;
  return {
    title: 'On the GPU',
    figures: percentiles(STEP_DEFINITIONS, gpu, 'steps', 'gpu-').map((figure) => ({
      ...figure,
      label: `Step ${figure.label}`,
    })),
    note: `${countNote(gpu, 'steps')} By the GPU’s clock, which browsers round to 65 microseconds unless developer features are on.`.trim(),
  };
}

const OWN_ATTENTION = 'Fused steps compute attention themselves; the decode kernel above runs in plain steps.';

/** The running decode step, with its reason as the note. */
export function decodeStep(step: StepChoice): FigureGroup {
  const definition =
    'Fused: one dispatch for all layers. Plain: a dispatch for each operation. A fused step that waits too long gives up and runs again as a plain one.';
  return {
    title: 'Decode step',
    figures: [{ key: 'step', label: 'Step', value: stepText(step), definition }],
    note: step.name === 'fused' ? `${step.reason}. ${OWN_ATTENTION}` : step.reason,
  };
}

export function perToken(run: RunData, info: EngineInfo | null, roofline: Roofline | null): FigureGroup {
  const per = run.metrics?.perToken ?? null;
  const figure = (key: string, label: string, value: string, definition: string) => ({ key, label, value, definition });
  const figures = [
    figure('dispatches', 'Dispatches', formatCount(per?.dispatches ?? null), 'Kernels started on the GPU per token.'),
    figure('submits', 'Submits', formatCount(per?.submits ?? null), 'Command buffers handed to the GPU per token.'),
    figure('syncs', 'Syncs', formatCount(per?.syncs ?? null), 'Readbacks per token that the CPU had to wait for.'),
    figure(
      'bytes-read',
      'Readback',
      formatBytes(per?.bytesRead ?? null),
      'Bytes that came back from the GPU per token: ids, no logits.',
    ),
    figure(
      'run-ahead',
      'Run-ahead',
      formatCount(run.metrics?.runAhead ?? null),
      'Steps queued on the GPU ahead of the one being read, so that it never waits for the CPU.',
    ),
    ...reading(run, info, roofline),
  ];
  if (info?.backend !== 'cpu') return { title: 'Per token', figures };
  return { title: 'Per token', figures, note: 'The cpu backend starts no kernels, so there is nothing to count.' };
}

interface ReadSpeed {
  /** Bytes that a step has to read at the mean context of the run. */
  bytes: number;
  /** Bytes over the time of a step, in GB/s (1e9 bytes), or null without a time. */
  gbps: number | null;
  /** Source of the time: the GPU's own time of a step (p50), or without one the mean gap between tokens. */
  clock: 'gpu' | 'gaps';
}

/**
 * The speed at which the steps of a run read the GPU's memory, or null before the second token. In the long run the
 * roofline bounds it.
 */
function readSpeed(
  run: Pick<RunData, 'tokens' | 'metrics' | 'tbt'>,
  { weights, kvPerPosition }: NonNullable<EngineInfo['bytesPerToken']>,
): ReadSpeed | null {
  const first = run.tokens[1]; // the first token comes from prefill
  const last = run.tokens.at(-1);
  if (!first || !last) return null;
  // The step for the token at position p reads the keys and values of the p positions before it.
  const bytes = weights + (kvPerPosition * (first.position + last.position)) / 2;
  const gpuMs = run.metrics?.gpuMs?.p50;
  const ms = gpuMs || run.tbt.mean; // a clock that rounds may have measured 0
  return { bytes, gbps: ms ? bytes / ms / 1e6 : null, clock: gpuMs ? 'gpu' : 'gaps' };
}

/** The figures of memory reads: bytes per token, speed, and fraction of the highest speed that the memory gives. */
function reading(run: RunData, info: EngineInfo | null, roofline: Roofline | null): Figure[] {
  if (!info?.bytesPerToken) return [];
  const read = readSpeed(run, info.bytesPerToken);
  const by = read && `by the ${read.clock === 'gpu' ? 'GPU’s own time of a step (p50)' : 'mean gap between tokens'}`;
  const weights = formatBytes(info.bytesPerToken.weights);
  const kv = formatBytes(info.bytesPerToken.kvPerPosition);
  const fraction = read?.gbps && roofline ? read.gbps / roofline.readGBps : null;
  return [
    {
      key: 'bytes-needed',
      label: 'Read per token',
      value: formatBytes(read?.bytes ?? null),
      definition: `What a step has to read of the GPU’s memory: ${weights} of weights, and ${kv} for each position of this run’s mean context.`,
    },
    {
      key: 'read-speed',
      label: 'Bandwidth',
      value: formatSpeed(read?.gbps ?? null),
      definition: `These bytes a second${by ? `, ${by}` : ''}.`,
    },
    {
      key: 'roofline',
      label: 'Of peak bandwidth',
      value: formatPerCent(fraction),
      definition: roofline
        ? `Of ${formatSpeed(roofline.readGBps)}, the most that a kernel of ours reads here, measured by the ${roofline.clock === 'gpu' ? 'GPU’s' : 'CPU’s'} clock. A small model stays in the GPU’s cache and may pass it.`
        : 'How near the reading comes to the most that this GPU’s memory gives: measure the roofline first.',
    },
  ];
}

export function memory(run: RunData, info: EngineInfo | null): FigureGroup | null {
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
      figure(
        'memory-activations',
        'Activations',
        bytes.activations,
        'Everything else: activations, scratch memory of attention, readbacks, timestamps.',
      ),
      figure('memory-peak', 'Peak', run.metrics?.peakGpuBytes ?? null, 'Most bytes held at once, loading included.'),
    ],
  };
}

export function machine(info: EngineInfo | null): FigureGroup | null {
  if (!info) return null;
  const { model, loadMs } = info;
  const figures: Figure[] = [
    { key: 'backend', label: 'Backend', value: info.backend, definition: 'What computes: WebGPU or plain loops.' },
    { key: 'adapter', label: 'Adapter', value: info.adapter ?? NONE, definition: 'The GPU, as the browser names it.' },
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
  ];
  return { title: 'Model and machine', figures };
}
