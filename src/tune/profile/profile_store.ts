// The profile of this GPU, kept in IndexedDB. Without storage there is no profile.

import { get, update } from 'idb-keyval';
import type { AttentionShape } from '../../attention/attention';
import type { Gpu } from '../../gpu/device';
import type { WeightFormat } from '../../kernels/linear/weight_format';
import type { ModelConfig } from '../../model/config/config';
import type { ActivationType } from '../../model/layers/arithmetic';
import { arrived } from '../../shared/part';
import { withTimeout } from '../../shared/with_timeout';
import type { RaceShape } from '../race/race_shape';
import type { Profile } from './profile';
import { shaderHash } from './shader_hash';

/** The parts of a load that the fused step depends on, beside the model's shape. */
export interface StepSettings {
  /** Formats of all weights, in any order. */
  formats: Iterable<WeightFormat>;
  kvType: AttentionShape['kvType'];
  contextLength: number;
  activations: ActivationType;
}

/** The longest wait for the database: some browsers never answer. */
const TIMEOUT_MS = 2000;
/** The database key: the GPU with its capabilities, the browser, and the shaders. */
export function profileKey(gpu: Gpu): string {
  return `vivace/tuned/3/${JSON.stringify([gpu.adapterName, gpu.can, globalThis.navigator?.userAgent, shaderHash()])}`;
}

/** The heads of a model, its type of keys and values, softcap, mask and windows (0: none). */
export function attentionKey(config: ModelConfig, kvType: AttentionShape['kvType']): string {
  const { nHeads, nKvHeads, headDim, attentionSoftcap, layers, causal } = config;
  const windows = new Set(layers.map(({ window }) => window ?? 0));
  const softcap = attentionSoftcap === null ? '' : ' softcap';
  const mask = causal ? '' : ' all';
  return `${nHeads}x${nKvHeads}x${headDim} ${kvType}${softcap}${mask} windows ${[...windows].join()}`;
}

/** The shape of a model, its formats, and the context length rounded up to a power of two. */
export function stepKey(config: ModelConfig, { formats, kvType, contextLength, activations }: StepSettings): string {
  const { architecture, nLayers, hiddenSize, intermediateSize, nHeads, nKvHeads, headDim } = config;
  const weights = [...new Set(formats)].sort().join('+');
  const shape = `${nLayers}x${hiddenSize}x${intermediateSize} heads ${nHeads}x${nKvHeads}x${headDim}`;
  return `${architecture} ${shape} ${weights} kv ${kvType} ${2 ** Math.ceil(Math.log2(contextLength))} ${activations}`;
}

export function raceKey({ format, rows, cols, copies }: RaceShape): string {
  return `${format} ${rows}x${cols} ${copies}`;
}

/** @throws MissingPartError */
export async function loadProfile(gpu: Gpu): Promise<Profile | null> {
  const stored = await withTimeout(() => get(profileKey(gpu)), TIMEOUT_MS).catch(() => undefined);
  if (stored === undefined) return null;
  const { parseProfile } = await arrived(import('./profile_check'));
  return parseProfile(stored);
}

/**
 * Adds to the stored profile; newer entries replace older ones, or, where `keepsOld`, are left out. Returns the profile
 * as it is stored then, or null if it could not be stored. Never throws.
 */
export async function storeProfile(gpu: Gpu, profile: Partial<Profile>, keepsOld = false): Promise<Profile | null> {
  try {
    const { mergeProfiles, parseProfile } = await arrived(import('./profile_check'));
    let merged: Profile | null = null;
    const merge = (old: unknown) => {
      const known = parseProfile(old);
      merged = keepsOld && known ? mergeProfiles(mergeProfiles(null, profile), known) : mergeProfiles(known, profile);
      return merged;
    };
    await withTimeout(() => update(profileKey(gpu), merge), TIMEOUT_MS);
    return merged;
  } catch {
    return null;
  }
}
