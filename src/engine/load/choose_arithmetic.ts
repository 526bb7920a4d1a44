// The arithmetic of a load: what the caller asked for, what an earlier load measured on this GPU, or what this load
// measures and keeps. What is kept decides the same at every load: equal seeds go on giving equal texts.

import type { Gpu } from '../../gpu/device';
import type { ModelConfig } from '../../model/config/config';
import { type Arithmetic, arithmeticOf } from '../../model/layers/arithmetic';
import { type ModelMemory, shapeOf } from '../../model/memory';
import { padConfig } from '../../model/padding';
import { fusedModel } from '../../model/step/fused_model';
import type { LayerWeights, ModelWeights } from '../../model/weights/weights';
import { arrived } from '../../shared/part';
import type { Profile } from '../../tune/profile/profile';
import { raceKey } from '../../tune/profile/profile_store';
import { decideArithmetic } from '../../tune/race/arithmetic_choice';
import { type RaceShape, raceShape } from '../../tune/race/race_shape';
import type { Race } from '../../tune/results';
import type { ArithmeticChoice, Warning } from '../protocol';
import type { ResolvedLoad } from './load_options';

/** The parts of a load that the choice depends on. */
export interface ArithmeticLoad {
  options: Pick<ResolvedLoad, 'activations' | 'step' | 'before'>;
  layers: readonly LayerWeights[];
  /** True if all layers can run as one dispatch, which multiplies bytes. */
  mayFuse: boolean;
  profile: Pick<Profile, 'race'> | null;
  warnings: Warning[];
  signal: AbortSignal;
}

const RACED: readonly ArithmeticChoice['cause'][] = ['raced', 'kept', 'failed'];

const choice = (cause: ArithmeticChoice['cause'], reason: string, of: Arithmetic, figures: Race | null = null) => ({
  ...of,
  cause,
  reason,
  race: figures,
});

export const CPU_ARITHMETIC: ArithmeticChoice = choice('cpu', 'the cpu backend computes in f32', arithmeticOf('f32'));

/** The facts on which a load chooses. */
type Inputs = Omit<ArithmeticLoad, 'layers' | 'mayFuse' | 'options'> & {
  options: ArithmeticLoad['options'] & Pick<ResolvedLoad, 'kvCache'>;
  config: ModelConfig;
  weights: ModelWeights;
  memory: ModelMemory;
};

/**
 * Chooses. Weights are read while a race runs, which `startReading` begins.
 * @throws as `raceWhile`; MissingPartError
 */
export async function chooseArithmetic(
  gpu: Gpu,
  { config: unpadded, weights, memory, ...inputs }: Inputs,
  startReading: () => Promise<unknown>,
): Promise<ArithmeticChoice> {
  const config = padConfig(unpadded);
  const { contextLength } = memory;
  const attentionShape = shapeOf(gpu, config, { contextLength, kvType: inputs.options.kvCache });
  const sources = { gpu, config, attentionShape, weights, activations: arithmeticOf('q8'), ...memory };
  const load = { ...inputs, layers: weights.layers, mayFuse: typeof fusedModel(sources) !== 'string' };
  const known = knownArithmetic(gpu, load);
  if ('cause' in known) return known;
  const reading = startReading();
  // Few loads race: what they measure is kept.
  const { raceWhile } = await arrived(import('./race_while'));
  return chooseBy(await raceWhile(gpu, load, known, reading), load);
}

/** The choice that needs no race, or else what to race over. */
export function knownArithmetic(gpu: Gpu, load: ArithmeticLoad): ArithmeticChoice | RaceShape {
  const { activations, before } = load.options;
  if (activations !== 'auto') return choice('asked', 'asked for by name', arithmeticOf(activations));
  // A software GPU gains nothing from q8, takes seconds longer to compile its kernels, and its times are luck.
  if (gpu.isSoftware) return choice('software', 'no race on a GPU in software', arithmeticOf('f32'));
  const shape = raceShape(load.layers);
  if (!shape) return choice('plain', 'no matrix of this model has integers', arithmeticOf('f32'));
  // Where nothing is kept, or no race brought a result, an answer still goes on as it began.
  if (before && RACED.includes(before.cause)) return before;
  const kept = load.profile?.race[raceKey(shape)];
  return kept ? raced('kept', { ...shape, ...kept }, load) : shape;
}

/** The choice by the figures of a race, or without them, for a reason. */
export const chooseBy = (result: Race | string, load: ArithmeticLoad): ArithmeticChoice =>
  typeof result === 'string' ? choice('failed', result, arithmeticOf('q8')) : raced('raced', result, load);

function raced(cause: 'raced' | 'kept', result: Race, { mayFuse, options }: ArithmeticLoad): ArithmeticChoice {
  const decided = decideArithmetic(result, mayFuse);
  // The fused step multiplies bytes, and was asked for by name.
  const of: Arithmetic = options.step === 'fused' ? { ...decided, decode: 'q8' } : decided;
  return choice(cause, describe(result), of, result);
}

/** "decode 0.0082 ms in q8, 0.0171 ms in f32; prefill ...". */
function describe(result: Race): string {
  const of = (pass: 'decode' | 'prefill') =>
    `${pass} ${result[pass].q8.ms.toPrecision(3)} ms in q8, ${result[pass].f32.ms.toPrecision(3)} ms in f32`;
  return `${of('decode')}; ${of('prefill')}`;
}
