// What a model's makers suggest for drawing its tokens: of generation_config.json, or of a GGUF's metadata
// (`general.sampling.*`, as written by llama.cpp). Untrusted: a value outside the engine's range is left out. Pure.

import type { ModelFiles } from '../../storage/model_files';
import { isLegal } from '../option_values';
import { SAMPLING_SETTINGS } from '../options';
import type { SamplingDefaults } from '../protocol';

const NAMES = {
  temperature: { json: 'temperature', gguf: 'general.sampling.temp' },
  topK: { json: 'top_k', gguf: 'general.sampling.top_k' },
  topP: { json: 'top_p', gguf: 'general.sampling.top_p' },
  minP: { json: 'min_p', gguf: 'general.sampling.min_p' },
  repetitionPenalty: { json: 'repetition_penalty', gguf: 'general.sampling.penalty_repeat' },
} as const;

/** The values that the model's files suggest. A model that is not to be sampled (`do_sample: false`) has none. */
export function readSamplingDefaults({
  generationConfig,
  gguf,
}: Pick<ModelFiles, 'generationConfig' | 'gguf'>): SamplingDefaults {
  const json = generationConfig?.do_sample === false ? null : generationConfig;
  const defaults: SamplingDefaults = {};
  for (const key of Object.keys(NAMES) as (keyof typeof NAMES)[]) {
    const { json: inJson, gguf: inGguf } = NAMES[key];
    const found = json && Object.hasOwn(json, inJson) ? json[inJson] : gguf?.get(inGguf);
    const value = tidy(found);
    if (value !== null && isLegal(SAMPLING_SETTINGS[key], value)) defaults[key] = value;
  }
  return defaults;
}

/** A number as somebody wrote it: GGUF holds 0.7 as 0.699999988. */
function tidy(value: unknown): number | null {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(6)) : null;
}
