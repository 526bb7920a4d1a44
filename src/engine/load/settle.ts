// The end of a load on a GPU: what an earlier load found out here, or what this load measures and keeps. First the
// decode step, fused or plain, then the parameters of products. A part of its own, because a GPU in software measures
// nothing.

import type { AttentionProfile } from '../../attention/profile';
import { VivaceError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import type { Llama } from '../../model/llama';
import { checkStep } from '../../model/step/step_choice';
import { FirstTuning, tunedAtLoad } from '../../tune/first_tuning';
import { namedProducts } from '../../tune/products';
import { storeProfile } from '../../tune/profile_store';
import { decideStep } from '../../tune/step';
import { keyOf, type StepLoad, tunedStep } from './tuned_step';

export interface SettledLoad extends StepLoad {
  /** The attention that an earlier tuning found. */
  attention?: AttentionProfile;
  signal: AbortSignal;
}

/**
 * Begins to compile what will be measured, while the weights are on their way.
 * @returns what follows once they are there. Overwrites keys, values and activations.
 * @throws InvalidRequestError for a step by name that cannot run; the failure of the device; the reason of `signal`
 */
export function settle(gpu: Gpu, llama: Llama, load: SettledLoad): () => Promise<void> {
  const { linears, weights, prefillTokens } = llama.tunable;
  // By the CPU's clock a candidate takes a quarter of a second.
  const products = gpu.isSoftware || !gpu.can.timestamps ? [] : namedProducts(linears, weights);
  const tuning = new FirstTuning(gpu, prefillTokens, load.profile);
  const onMatrices = llama.matrices?.used === true;
  const add = (isFused: boolean) => tuning.add(tunedAtLoad(products, { isFused, onMatrices }));
  const mayFuse = llama.stepped.fused !== null;
  add(mayFuse);
  return async () => {
    load.signal.throwIfAborted();
    await chooseStep(gpu, llama, load);
    load.signal.throwIfAborted();
    if (mayFuse && llama.step.name === 'plain') add(false);
    await tuneProducts(gpu, llama, load, tuning);
  };
}

/**
 * Decides between fused and plain steps, once the weights are there. Overwrites keys and values.
 * @throws InvalidRequestError for a step by name that cannot run
 */
export async function chooseStep(gpu: Gpu, llama: Llama, load: StepLoad): Promise<void> {
  const { asked } = load;
  const { stepped } = llama;
  const known = tunedStep(load);
  const decision = await decideStep(gpu, stepped, asked === 'fused', known);
  if (decision) llama.decideStep(decision);
  checkStep(asked, llama.step);
  // What was not measured may have been a busy moment, and is tried again by the next load.
  if (decision && decision.gain !== null && stepped.fused && asked === 'auto' && !known) {
    await storeProfile(gpu, { step: { [keyOf(load)]: { ...decision, ...stepped.fused.launch } } });
  }
}

/** Parameters that cannot be kept are not used: the next load would compute other last bits. */
async function tuneProducts(gpu: Gpu, llama: Llama, load: SettledLoad, tuning: FirstTuning): Promise<void> {
  if (tuning.isEmpty) return;
  const { signal, profile, attention } = load;
  try {
    const found = await gpu.trial('Tuning', () => tuning.run(() => signal.throwIfAborted()));
    if (!(await storeProfile(gpu, found)) || tuning.isUsual) return;
    const matvec = { ...profile?.matvec, ...found.matvec };
    await llama.retune(attention, { matvec, tiles: { ...profile?.tiles, ...found.tiles } });
  } catch (error) {
    signal.throwIfAborted();
    if (gpu.failure) throw gpu.failure;
    if (!(error instanceof VivaceError)) throw error; // without memory for it, the defaults run
  }
}
