// Makes the fused step of a model ready: a part of its own, loaded where the step may run.

import type { StepTest } from '../../kernels/step/step';
import type { StepLaunch } from '../../kernels/step/step_plan';
import type { Reason } from '../../shared/why';
import type { LinearSources } from '../linears';
import { type FusedModel, refusedLaunch } from './fused_model';
import { FusedStep } from './fused_step';
import { findLaunch } from './step_launch';

/** @param known a launch that was found before @returns why no launch can run here, where none can */
export async function createFused(
  sources: Omit<LinearSources, 'tuned'>,
  model: FusedModel,
  known: StepLaunch | null,
  test?: StepTest,
): Promise<FusedStep | Reason> {
  const { gpu } = sources;
  const launch = known ?? (await findLaunch(gpu, model.shape));
  if (typeof launch === 'string') return launch;
  return refusedLaunch(model, launch, gpu) ?? FusedStep.create(sources, model, launch, test);
}
