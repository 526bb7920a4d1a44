// RoPE parameters from the config.json of transformers.

import type { RopeParameters, RopeScaling } from '../../cpu/rope';
import { UnsupportedModelError } from '../../errors';
import type { ArchitectureName } from './architectures';
import { type ConfigReader, MAX } from './reader';

const THETA = 10000;

/**
 * Reads the RoPE of all layers, and with `hasLocal` a second one for the local layers (Gemma 3). transformers 5 keeps
 * both in `rope_parameters`, by kind of layer if there are two. Older checkpoints have `rope_theta` and `rope_scaling`.
 */
export function readRopes(
  read: ConfigReader,
  headDim: number,
  hasLocal: boolean,
  name: ArchitectureName,
): RopeParameters[] {
  const parameters = read.inner('rope_parameters');
  const all = hasLocal ? parameters?.inner('full_attention') : parameters;
  const theta = read.positive('rope_theta', THETA);
  const rope = readRope(read, all ?? read.inner('rope_scaling'), theta, headDim, name);
  if (!hasLocal) return [rope];
  const localTheta = read.positive('rope_local_base_freq', THETA);
  return [rope, readRope(read, parameters?.inner('sliding_attention') ?? null, localTheta, headDim, name)];
}

function readRope(
  read: ConfigReader,
  rope: ConfigReader | null,
  theta: number,
  headDim: number,
  name: ArchitectureName,
): RopeParameters {
  const share = rope?.optionalPositive('partial_rotary_factor') ?? read.positive('partial_rotary_factor', 1);
  const rotaryDim = Math.floor(headDim * share);
  if (rotaryDim > headDim || rotaryDim % 2 !== 0 || rotaryDim === 0) {
    throw new UnsupportedModelError(
      `config.json: partial_rotary_factor ${share} turns ${rotaryDim} of the ${headDim} elements of a head; an even number of them must turn.`,
    );
  }
  const whole = rotaryDim === headDim ? {} : { rotaryDim };
  return {
    theta: rope?.positive('rope_theta', theta) ?? theta,
    ...whole,
    scaling: rope ? readScaling(read, rope, rotaryDim / 2, name) : null,
  };
}

/** Reads the kinds of modeling_rope_utils.py, with its defaults. */
function readScaling(
  read: ConfigReader,
  rope: ConfigReader,
  nPairs: number,
  name: ArchitectureName,
): RopeScaling | null {
  const type = rope.text('rope_type') ?? rope.text('type') ?? 'default';
  // Older names of longrope in the checkpoints of Phi-3 (configuration_phi3.py).
  const kind = type === 'su' || (name === 'phi3' && type === 'yarn') ? 'longrope' : type;
  const maxPositions = read.count('max_position_embeddings', MAX.context, 2048);
  const inRope = rope.optionalCount('original_max_position_embeddings', MAX.context);
  const originalContextLength = read.count('original_max_position_embeddings', MAX.context, inRope ?? maxPositions);
  switch (kind) {
    case 'default':
      return null;
    case 'linear':
      return { type: kind, factor: rope.positive('factor') };
    case 'dynamic':
      return { type: kind, factor: rope.positive('factor'), originalContextLength: maxPositions };
    case 'llama3':
      return {
        type: kind,
        factor: rope.positive('factor'),
        lowFreqFactor: rope.positive('low_freq_factor'),
        highFreqFactor: rope.positive('high_freq_factor'),
        originalContextLength,
      };
    case 'yarn':
      return readYarn(rope, maxPositions, originalContextLength);
    case 'longrope':
      return readLongrope(rope, nPairs, maxPositions, originalContextLength);
  }
  throw new UnsupportedModelError(
    `config.json: RoPE of type "${type.slice(0, 80)}" is not supported; default, linear, dynamic, llama3, yarn and longrope are.`,
  );
}

function readYarn(rope: ConfigReader, maxPositions: number, originalContextLength: number): RopeScaling {
  const factor = rope.positive('factor', maxPositions / originalContextLength);
  const mscale = (by: number) => (factor <= 1 ? 1 : 0.1 * by * Math.log(factor) + 1);
  const some = rope.optionalPositive('mscale');
  const all = rope.optionalPositive('mscale_all_dim');
  const attention = some !== null && all !== null ? mscale(some) / mscale(all) : mscale(1);
  return {
    type: 'yarn',
    factor,
    betaFast: rope.positive('beta_fast', 32),
    betaSlow: rope.positive('beta_slow', 1),
    truncate: rope.flag('truncate', true),
    attentionFactor: rope.optionalPositive('attention_factor') ?? attention,
    originalContextLength,
  };
}

function readLongrope(
  rope: ConfigReader,
  nPairs: number,
  maxPositions: number,
  originalContextLength: number,
): RopeScaling {
  const factors = (key: string) => {
    const listed = rope.list(key, nPairs, 'numbers above 0', isPositive);
    if (!listed) throw new UnsupportedModelError(`config.json: RoPE of type "longrope" lacks ${key}.`);
    return listed;
  };
  const factor = rope.positive('factor', maxPositions / originalContextLength);
  return {
    type: 'longrope',
    shortFactors: factors('short_factor'),
    longFactors: factors('long_factor'),
    attentionFactor: rope.optionalPositive('attention_factor') ?? longropeAttention(factor, originalContextLength),
    originalContextLength,
  };
}

/** sqrt(1 + ln(factor) / ln(original context)). Ding et al. 2024, arXiv:2402.13753. */
function longropeAttention(factor: number, originalContextLength: number): number {
  return factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(Math.max(2, originalContextLength)));
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}
