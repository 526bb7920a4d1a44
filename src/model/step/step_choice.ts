// How a decode step runs on the GPU, and why: one dispatch for all layers, or a dispatch for each operation.

import { InvalidRequestError } from '../../errors';

/** `auto`: the fused step where it was measured faster on this GPU. */
export type StepAsked = 'auto' | StepChoice['name'];

export interface StepChoice {
  /** `fused`: one dispatch for all layers. `plain`: a dispatch for each operation. */
  name: 'fused' | 'plain';
  reason: string;
  /** Time of a plain step / time of a fused step - 1, measured on this GPU. Null if not measured. */
  gain: number | null;
  /** Fused steps since the load that gave up and ran again as plain steps. */
  giveUps: number;
}

/** The measurement of an earlier load on this GPU, and the launch of the fused step. */
export interface TunedStep extends Omit<StepChoice, 'giveUps'> {
  /** Workgroups of the fused step, and threads of each. */
  groups: number;
  threads: number;
  /** Most polls of a wait. */
  spins: number;
  /** The first position that ran faster by lanes (StepDecision), or one past every context. */
  lanesFrom: number;
  /** The first position that ran faster as a plain step, or one past every context. */
  until: number;
}

/**
 * Checks that the step asked for by name is the one that runs.
 * @throws InvalidRequestError
 */
export function checkStep(asked: StepAsked, { name, reason }: StepChoice): void {
  if (asked === 'auto' || asked === name) return;
  throw new InvalidRequestError(`Step "${asked}" cannot run here: ${reason}. Choose step auto or ${name}.`, 'step');
}
