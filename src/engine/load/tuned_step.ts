// The decode step that an earlier load measured on this GPU.

import type { KvType } from '../../attention/kv_layout';
import type { ModelConfig } from '../../model/config/config';
import type { ActivationType } from '../../model/layers/arithmetic';
import type { StepAsked, TunedStep } from '../../model/step/step_choice';
import type { ModelWeights } from '../../model/weights/weights';
import type { Profile } from '../../tune/profile/profile';
import { stepKey } from '../../tune/profile/profile_store';

/** The parts of a load that the decision depends on. */
export interface StepLoad {
  asked: StepAsked;
  config: ModelConfig;
  weights: ModelWeights;
  kvType: KvType;
  contextLength: number;
  activations: ActivationType;
  profile: Profile | null;
}

/** The measurement of an earlier load, if there is one. */
export function tunedStep(load: StepLoad): TunedStep | undefined {
  return load.profile?.step[keyOf(load)];
}

/** The key of the step in a profile. */
export function keyOf({ config, weights, kvType, contextLength, activations }: StepLoad): string {
  const matrices = weights.layers.flatMap(({ qkv, o, gateUp, down }) => [qkv, o, gateUp, down]);
  const formats = matrices.flatMap(({ matrix }) => matrix.parts.map(({ format }) => format));
  return stepKey(config, { formats, kvType, contextLength, activations });
}
