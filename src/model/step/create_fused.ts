// Makes the fused step of a model ready: a part of its own, loaded where the step may run.

import type { Gpu } from '../../gpu/device';
import { Step, type StepTest } from '../../kernels/step/step';
import { refusal, type StepLaunch } from '../../kernels/step/step_plan';
import type { Reason } from '../../shared/why';
import type { LinearSources } from '../layers/linears';
import type { FusedModel, StepSources } from './fused_model';
import { FusedStep } from './fused_step';
import type { TunedStep } from './step_choice';
import { findLaunch } from './step_launch';

/** Launches that need not be looked for. */
interface KnownLaunches {
  asked?: StepLaunch;
  /** The decision of an earlier load. */
  tuned?: TunedStep;
}

/** @returns why no launch can run here, where none can */
export async function createFused(
  sources: Omit<LinearSources, 'tuned'>,
  model: FusedModel,
  { asked, tuned }: KnownLaunches,
  test?: StepTest,
): Promise<FusedStep | Reason> {
  const { gpu } = sources;
  const launch = asked ?? tunedLaunch(tuned, model, gpu) ?? (await findLaunch(gpu, model.shape));
  if (typeof launch === 'string') return launch;
  return refusedLaunch(model, launch, gpu) ?? FusedStep.create(sources, model, launch, test);
}

/** Compiles the step for short caches, as FusedStep.create will find it, where this launch can run. */
export async function compileFused(
  { gpu, attentionShape }: StepSources,
  model: FusedModel,
  launch: StepLaunch,
): Promise<void> {
  if (refusedLaunch(model, launch, gpu) !== null) return;
  await Step.create(gpu, model.shape, launch, 'tiles', {}, attentionShape.rows);
}

/** The launch of an earlier load, if it can run: a profile is as untrusted as a file. */
function tunedLaunch(tuned: TunedStep | undefined, model: FusedModel, gpu: Gpu): StepLaunch | null {
  if (!tuned) return null;
  const { groups, threads } = tuned;
  return refusedLaunch(model, { groups, threads }, gpu) === null ? { groups, threads } : null;
}

/** The reason why this launch cannot run here, or null. */
export function refusedLaunch({ shape }: FusedModel, launch: StepLaunch, gpu: Gpu): Reason | null {
  return refusal(shape, launch, gpu.can.subgroupMinSize, gpu.limits);
}
