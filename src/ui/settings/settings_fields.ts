// The settings that a person can change: names, ranges, defaults, and how they become the engine's options. Pure.

import type { EngineGenerateOptions, EngineLoadOptions } from '../../engine/engine';

export interface SamplingField {
  key: 'temperature' | 'topK' | 'topP' | 'minP' | 'repetitionPenalty' | 'maxTokens' | 'seed';
  label: string;
  help: string;
  /** Null is the engine's own choice, shown as `placeholder`. */
  standard: number | null;
  placeholder?: string;
  min: number;
  max: number;
  step: number;
  /** A slider beside the number. */
  slider: boolean;
}

export const SAMPLING_FIELDS: readonly SamplingField[] = [
  {
    key: 'temperature',
    label: 'Temperature',
    help: 'How freely words are drawn. 0 always takes the likeliest.',
    standard: 0.6,
    min: 0,
    max: 2,
    step: 0.05,
    slider: true,
  },
  {
    key: 'topK',
    label: 'Top-k',
    help: 'Draws from the k likeliest tokens only. 0 turns it off.',
    standard: 40,
    min: 0,
    max: 200,
    step: 1,
    slider: true,
  },
  {
    key: 'topP',
    label: 'Top-p',
    help: 'Draws from the likeliest tokens that make up this much probability. 1 turns it off.',
    standard: 0.9,
    min: 0,
    max: 1,
    step: 0.01,
    slider: true,
  },
  {
    key: 'minP',
    label: 'Min-p',
    help: 'Leaves out tokens less likely than this part of the likeliest. 0 turns it off.',
    standard: 0.05,
    min: 0,
    max: 1,
    step: 0.01,
    slider: true,
  },
  {
    key: 'repetitionPenalty',
    label: 'Repetition penalty',
    help: 'Above 1, tokens that were there already become less likely. 1 turns it off.',
    standard: 1,
    min: 1,
    max: 2,
    step: 0.01,
    slider: true,
  },
  {
    key: 'maxTokens',
    label: 'Max tokens',
    help: 'Most tokens of one answer. Empty: to the end of the context.',
    standard: null,
    placeholder: 'context',
    min: 1,
    max: 1_000_000,
    step: 1,
    slider: false,
  },
  {
    key: 'seed',
    label: 'Seed',
    help: 'The same seed gives the same answer. Empty: a new one each time.',
    standard: null,
    placeholder: 'random',
    min: 0,
    max: 4_294_967_295,
    step: 1,
    slider: false,
  },
];

export type SamplingSettings = Record<SamplingField['key'], number | null>;

export function standardSampling(): SamplingSettings {
  return Object.fromEntries(SAMPLING_FIELDS.map((field) => [field.key, field.standard])) as SamplingSettings;
}

/** What a person typed, as a value in range; the default where it is no number. */
export function readNumber(field: SamplingField, text: string): number | null {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? inRange(field, value) : field.standard;
}

/** The nearest value that the field allows. */
export function inRange(field: SamplingField, value: number): number {
  const near = Math.min(field.max, Math.max(field.min, value));
  return Number.isInteger(field.step) ? Math.round(near) : near;
}

/** Only what differs from nothing: a null leaves the choice to the engine. */
export function toGenerateOptions(settings: SamplingSettings): EngineGenerateOptions {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)) as EngineGenerateOptions;
}

/** Choices that the model is loaded with. */
export type LoadSettings = Required<Pick<EngineLoadOptions, 'attention' | 'kvCache' | 'activations' | 'backend'>>;

/** The help is a few words on what this choice is. */
type LoadChoice = readonly [value: string, label: string, help?: string];

export interface LoadField {
  key: keyof LoadSettings;
  label: string;
  help: string;
  choices: readonly LoadChoice[];
}

export const STANDARD_LOAD: LoadSettings = { attention: 'auto', kvCache: 'f16', activations: 'auto', backend: 'auto' };

export const LOAD_FIELDS: readonly LoadField[] = [
  {
    key: 'attention',
    label: 'Attention',
    help: 'Which kernel computes attention, in prefill and decode alike. Auto takes the fastest that fits.',
    choices: [
      ['auto', 'auto', 'the fastest that runs here, tuned or not'],
      ['cpu', 'cpu', 'reads everything back; the slow baseline'],
      ['eager', 'eager', 'five kernels, all scores in memory; the unfused baseline'],
      ['chunked', 'chunked', 'a block of queries at a time over all keys; little memory'],
      ['flash_prefill', 'flash_prefill', 'tiles, no scores in memory; made for prompts'],
      ['fused_decode', 'fused_decode', 'one pass over each KV head; made for short caches'],
      ['split_kv_decode', 'split_kv_decode', 'the cache split over many workgroups; made for long caches'],
    ],
  },
  {
    key: 'kvCache',
    label: 'KV cache',
    help: 'How keys and values are stored: f16 takes half the memory, f32 is exact.',
    choices: [
      ['f16', 'f16'],
      ['f32', 'f32'],
    ],
  },
  {
    key: 'activations',
    label: 'Activations',
    help: 'What matrices are multiplied with, where they are quantized: q8 is fast, f32 is exact.',
    choices: [
      ['auto', 'auto', 'q8 on a real GPU, else f32'],
      ['q8', 'q8', 'signed bytes; needs quantized weights'],
      ['f32', 'f32', 'exact'],
    ],
  },
  {
    key: 'backend',
    label: 'Backend',
    help: 'Auto takes WebGPU, or the CPU where there is none.',
    choices: [
      ['auto', 'auto'],
      ['webgpu', 'WebGPU'],
      ['cpu', 'CPU'],
    ],
  },
];
