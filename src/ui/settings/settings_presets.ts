// Presets of sampling, for readers who want no numbers: what the model's makers suggest, precise, balanced, free. Pure.

import type { SamplingDefaults } from '../../engine/engine';
import { type SamplingSettings, standardSampling } from './settings_fields';

type Drawn = Pick<SamplingSettings, 'temperature' | 'topK' | 'topP' | 'minP' | 'repetitionPenalty'>;
export type PresetName = 'own' | 'precise' | 'balanced' | 'free';

const { temperature, topK, topP, minP, repetitionPenalty } = standardSampling();
const BALANCED: Drawn = { temperature, topK, topP, minP, repetitionPenalty };
/** Drawing from all tokens as likely as they are. A model's makers suggest changes to this. */
const PLAIN: Drawn = { temperature: 1, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1 };

/** The presets for a model. `own` is one of them if its files suggest anything. */
export function presetsFor(suggested: SamplingDefaults = {}): [PresetName, Drawn][] {
  const presets: [PresetName, Drawn][] = [
    ['precise', { ...BALANCED, temperature: 0.2, topK: 20, topP: 0.8, minP: 0.1 }],
    ['balanced', BALANCED],
    ['free', { ...BALANCED, temperature: 1, topK: 0, topP: 0.95, minP: 0.02 }],
  ];
  if (Object.keys(suggested).length > 0) presets.unshift(['own', { ...PLAIN, ...suggested }]);
  return presets;
}

/** The preset that the values are, or null for values of the reader's own. */
export function presetOf(sampling: SamplingSettings, suggested?: SamplingDefaults): PresetName | null {
  const isOf = (values: Drawn) =>
    (Object.keys(values) as (keyof Drawn)[]).every((key) => values[key] === sampling[key]);
  return presetsFor(suggested).find(([, values]) => isOf(values))?.[0] ?? null;
}

/** The settings with another model: those of a reader who has chosen nothing become what that model suggests. */
export function forModel(
  sampling: SamplingSettings,
  before: SamplingDefaults | undefined,
  suggested: SamplingDefaults | undefined,
): SamplingSettings {
  const preset = presetOf(sampling, before);
  if (preset !== 'own' && (preset !== 'balanced' || presetsFor(before)[0]?.[0] === 'own')) return sampling;
  const [first] = presetsFor(suggested);
  return { ...sampling, ...(first?.[0] === 'own' ? first[1] : BALANCED) };
}

/** The settings to remember between visits, without what the model suggests. */
export function withoutOwn(sampling: SamplingSettings, suggested: SamplingDefaults | undefined): SamplingSettings {
  return presetOf(sampling, suggested) === 'own' ? { ...sampling, ...BALANCED } : sampling;
}
