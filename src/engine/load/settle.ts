// The end of a load on a GPU: what an earlier load found out here, or what this load measures and keeps. First the
// decode step, fused or plain, then the parameters of products. A part of its own, because a GPU in software measures
// nothing but a step by name.

import type { AttentionProfile } from '../../attention/profile';
import { VivaceError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import type { Llama } from '../../model/llama';
import { checkStep } from '../../model/step/step_choice';
import { FirstTuning, tunedAtLoad } from '../../tune/products/first_tuning';
import { namedProducts } from '../../tune/products/products';
import { storeProfile } from '../../tune/profile/profile_store';
import { decideStep } from '../../tune/step';
import type { ResolvedLoad } from './load_options';
import { keyOf, type StepLoad, tunedStep } from './tuned_step';

export interface SettledLoad extends StepLoad {
  /** The attention that an earlier tuning found. */
  attention?: AttentionProfile;
  /** `before`: of a load that an answer goes on from. It measures nothing, so that the answer goes on as it began. */
  options: Pick<ResolvedLoad, 'before'>;
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
  const isTuned = !gpu.isSoftware && gpu.can.timestamps && !load.options.before;
  const all = isTuned ? namedProducts(linears, weights) : [];
  const products = llama.vectors.only ? all.filter(({ pass }) => pass === 'prefill') : all;
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

/**
 * The defaults are kept first: without storage nothing is tuned, because the next load would compute other last bits,
 * and a load that ends in the middle is not tuned again. What another tab has kept meanwhile is used.
 */
async function tuneProducts(gpu: Gpu, llama: Llama, load: SettledLoad, tuning: FirstTuning): Promise<void> {
  const kept = tuning.isEmpty ? null : await storeProfile(gpu, tuning.usual, true);
  if (!kept) return;
  const { signal, attention } = load;
  const isOurs = (['matvec', 'tiles'] as const).every((kind) =>
    Object.entries(tuning.usual[kind]).every(([key, usual]) => isEqual(kept[kind][key], usual)),
  );
  try {
    const found = isOurs ? await gpu.trial('Tuning', () => tuning.run(() => signal.throwIfAborted())) : null;
    const { matvec = {}, tiles = {} } = found ?? {};
    if (isOurs && Object.keys({ ...matvec, ...tiles }).length === 0) return;
    await llama.retune(attention, { matvec: { ...kept.matvec, ...matvec }, tiles: { ...kept.tiles, ...tiles } });
    if (found) await storeProfile(gpu, found);
  } catch (error) {
    signal.throwIfAborted();
    if (gpu.failure) throw gpu.failure;
    if (!(error instanceof VivaceError)) throw error; // without memory for it, the defaults run
  }
}

/** True for parameters of the same numbers, in any order. */
function isEqual(a: object, b: object): boolean {
  const sorted = (entries: object) => JSON.stringify(Object.entries(entries).sort());
  return sorted(a) === sorted(b);
}
