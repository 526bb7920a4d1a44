// The running decode step: fused or plain, why, and what becomes of a step that gave up.

import { GpuProgramError } from '../../errors';
import type { StepTest } from '../../kernels/step/step';
import type { StepLaunch } from '../../kernels/step/step_plan';
import { arrived } from '../../shared/part';
import { quoted, type Reason, why } from '../../shared/why';
import type { LinearSources } from '../layers/linears';
import { fusedModel } from './fused_model';
import type { FusedLayers, FusedStep } from './fused_step';
import type { StepAsked, StepChoice, TunedStep } from './step_choice';

/** A step that gives up as often as this stays off until the next load. */
const MOST_GIVE_UPS = 3;

/** Polls of a wait until a load has measured how long one takes. */
const FIRST_SPINS = 4096;

/** The result of a load's check of the fused step, with the limit of a wait. */
export interface StepDecision extends Omit<StepChoice, 'giveUps'> {
  /** Most polls of a wait. */
  spins: number;
  /** The first position whose fused step attends by lanes, which are faster over many keys. */
  lanesFrom: number;
  /** The first position that runs as a plain step, since long caches may be faster so. */
  until: number;
}

/** A launch of the fused step that works here, and most polls of a wait. */
export interface FusedLaunch {
  launch: StepLaunch;
  spins: number;
}

export class DecodeStep {
  private giveUps = 0;
  /** The position of the step that gave up last, which runs as a plain step. */
  private plainAt = -1;
  private decision: StepDecision;

  /**
   * @param fused null where it does not run, for `reason`
   * @param gain of an earlier load
   */
  constructor(
    readonly fused: FusedStep | null,
    reason: Reason,
    gain: number | null = null,
  ) {
    this.decision = { name: 'plain', reason, gain, spins: 0, lanesFrom: 0, until: 0 };
  }

  get choice(): StepChoice {
    const { name, reason, gain } = this.decision;
    return { name, reason, gain, giveUps: this.giveUps };
  }

  get launch(): StepLaunch | null {
    return this.fused?.launch ?? null;
  }

  /** The fused step that runs, for a batch to run one, too. */
  get running(): FusedLaunch | null {
    const { launch, decision } = this;
    return launch && decision.name === 'fused' ? { launch, spins: decision.spins } : null;
  }

  /** Runs as decided from now on. Sampling reads the status of a fused step that was not chosen, too: it is cleared. */
  decide(decision: StepDecision): void {
    this.decision = decision;
    this.fused?.reset(decision.spins);
  }

  /** The layers of a fused step if one runs the token at `position`. */
  at(position: number): FusedLayers | null {
    const { fused, plainAt } = this;
    const { name, lanesFrom, until } = this.decision;
    if (!fused || name !== 'fused' || position >= until || position === plainAt) return null;
    return (position >= lanesFrom && fused.lanes) || fused.tiles;
  }

  /**
   * Clears the step after it gave up at `position`, which runs as a plain step now, and tells the user. Null if no
   * fused step runs.
   */
  gaveUp(position: number): string | null {
    const { name, spins } = this.decision;
    if (name === 'plain') return null;
    this.giveUps++;
    this.plainAt = position;
    this.fused?.reset(spins);
    const what = `A fused decode step gave up waiting at position ${position}, and ran again as a plain step`;
    if (this.giveUps < MOST_GIVE_UPS) return `${what} (${this.giveUps} of ${MOST_GIVE_UPS} before it is turned off).`;
    const reason = why`the fused step gave up ${this.giveUps} times`;
    this.decision = { ...this.decision, name: 'plain', reason };
    return `${what}. It has done so ${this.giveUps} times, and stays off until the next load.`;
  }
}

interface DecodeStepOptions {
  step?: StepAsked;
  stepLaunch?: StepLaunch;
  tunedStep?: TunedStep;
  stepTest?: StepTest;
  attention: string;
}

/**
 * Compiles the fused step where it can run and was not slower in an earlier load. It runs once it was asked for by
 * name, or decided for.
 * @throws GpuProgramError for a fused step by name that the browser refuses
 */
export async function createDecodeStep(
  sources: Omit<LinearSources, 'tuned'>,
  { step: asked = 'plain', stepLaunch, tunedStep: tuned, stepTest, attention }: DecodeStepOptions,
): Promise<DecodeStep> {
  const { gpu } = sources;
  const plain = (reason: Reason) => new DecodeStep(null, reason);
  if (asked === 'plain') return plain(why`asked for by name`);
  if (asked === 'auto' && gpu.isSoftware) return plain(why`the adapter computes on the CPU`);
  if (attention !== 'auto') return plain(why`attention "${attention}" was asked for by name`);
  if (asked === 'auto' && sources.config.embedsOnly) return plain(why`the model writes no text`);
  const model = fusedModel(sources);
  if (typeof model === 'string') return plain(model);
  if (asked === 'auto' && tuned?.name === 'plain') return new DecodeStep(null, quoted(tuned.reason), tuned.gain);
  const { createFused } = await arrived(import('./create_fused'));
  try {
    const fused = await createFused(sources, model, { asked: stepLaunch, tuned }, stepTest);
    if (typeof fused === 'string') return plain(fused);
    const step = new DecodeStep(fused, why`not measured yet`);
    if (asked === 'fused') {
      step.decide({
        name: 'fused',
        reason: why`asked for by name`,
        gain: null,
        spins: FIRST_SPINS,
        lanesFrom: Number.POSITIVE_INFINITY,
        until: Number.POSITIVE_INFINITY,
      });
    }
    return step;
  } catch (error) {
    if (asked === 'auto' && error instanceof GpuProgramError) return plain(quoted(error.message));
    throw error;
  }
}
