// The decode step of a load: what an earlier load found out on this GPU, or what this load measures and keeps.

import type { KvType } from '../../attention/kv_layout';
import type { Gpu } from '../../gpu/device';
import type { ActivationType } from '../../model/arithmetic';
import type { ModelConfig } from '../../model/config/config';
import type { Llama } from '../../model/llama';
import { checkStep, type StepAsked, type TunedStep } from '../../model/step/step_choice';
import type { ModelWeights } from '../../model/weights';
import { arrived } from '../../shared/part';
import type { Profile } from '../../tune/profile';
import { stepKey, storeProfile } from '../../tune/profile_store';

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

function keyOf({ config, weights, kvType, contextLength, activations }: StepLoad): string {
  const matrices = weights.layers.flatMap(({ qkv, o, gateUp, down }) => [qkv, o, gateUp, down]);
  const formats = matrices.flatMap(({ matrix }) => matrix.parts.map(({ format }) => format));
  return stepKey(config, { formats, kvType, contextLength, activations });
}

async function stepDecider() {
  const { decideStep } = await arrived(import('../../tune/step'));
  return decideStep;
}

/** Begins to fetch what decides between steps where a GPU may run fused ones, before it is needed. Never throws. */
export async function foreseeStep({ isSoftware, isApple, can }: Gpu, asked: StepAsked): Promise<void> {
  const mayDecide = asked === 'fused' || (asked === 'auto' && !isSoftware && !isApple && can.subgroupMinSize >= 2);
  if (mayDecide) await stepDecider().catch(() => {});
}

/**
 * Decides between fused and plain steps, once the weights are there. Overwrites keys and values.
 * @throws InvalidRequestError for a step by name that cannot run
 */
export async function chooseStep(gpu: Gpu, llama: Llama, load: StepLoad): Promise<void> {
  const { asked } = load;
  const { stepped } = llama;
  const known = tunedStep(load);
  const decision = stepped.fused && (await (await stepDecider())(gpu, stepped, asked === 'fused', known));
  if (decision) llama.decideStep(decision);
  checkStep(asked, llama.step);
  // What was not measured may have been a busy moment, and is tried again by the next load.
  if (decision && decision.gain !== null && stepped.fused && asked === 'auto' && !known) {
    await storeProfile(gpu, { step: { [keyOf(load)]: { ...decision, ...stepped.fused.launch } } });
  }
}
