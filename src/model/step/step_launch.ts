// The number of workgroups and threads of a fused step: all workgroups must run at once, and hand-overs are slow where
// two share a multiprocessor. Measures both while a model loads.

import type { Gpu } from '../../gpu/device';
import { Residency } from '../../kernels/step/residency';
import {
  planStep,
  refusal,
  type StepLaunch,
  type StepLimits,
  type StepShape,
  X_BLOCK,
} from '../../kernels/step/step_plan';
import { type Reason, why } from '../../shared/why';

/** An adapter that computes on the CPU runs a workgroup a core. */
const SOFTWARE: StepLaunch = { groups: 2, threads: 64 };
/** Share of the workgroups that ran at once: other work may take some of the GPU later. */
const RESIDENT_SHARE = 0.97;
/** A round of a hand-over may take so many times as long as among the fewest workgroups. */
const MOST_SLOWDOWN = 1.6;
/** Two numbers of workgroups that are timed first are at least this far apart. */
const RUNG = 0.55;

/**
 * A launch of the fused step on this GPU, or the reason why there is none. Workgroups have 512 threads, or 256 where
 * too few of 512 run.
 */
export async function findLaunch(gpu: Gpu, shape: StepShape): Promise<StepLaunch | Reason> {
  if (gpu.isSoftware) return SOFTWARE;
  const found = await probe(gpu, shape, 512);
  return typeof found === 'string' ? probe(gpu, shape, 256) : found;
}

async function probe(gpu: Gpu, shape: StepShape, threads: number): Promise<StepLaunch | Reason> {
  const subgroup = gpu.can.subgroupMinSize;
  const all = fittingGroups(shape, threads, subgroup, gpu.limits);
  if (typeof all === 'string') return all;
  const most = gpu.limits.maxComputeWorkgroupStorageSize;
  const plans = all.map((groups) => planStep(shape, { groups, threads }, subgroup, most).workgroupBytes);
  const bytes = Math.max(...plans.flatMap(({ tiles, lanes }) => [tiles, lanes]).filter((count) => count <= most));
  const residency = await Residency.create(gpu, threads, bytes);
  try {
    const resident = await residency.resident();
    const fitting = all.filter((groups) => groups <= RESIDENT_SHARE * resident);
    const seen = why`${resident} workgroups of ${threads} threads ran at once here`;
    if (fitting.length === 0) return why`${seen}, too few for ${shape.nKvHeads} KV heads`;
    const groups = await timeGroups(residency, fitting);
    return groups === null ? why`${seen}, but gave up waiting for one another` : { groups, threads };
  } finally {
    residency.destroy();
  }
}

/**
 * The numbers of workgroups that share the rows out well, most first: divisors of the blocks of the residual stream,
 * and else the fewest workgroups that own so many blocks each. Or why the step cannot run with so many threads.
 */
export function fittingGroups(
  shape: StepShape,
  threads: number,
  subgroup: number,
  limits: StepLimits,
): number[] | Reason {
  const blocks = Math.ceil(shape.hiddenSize / X_BLOCK);
  const all = Array.from({ length: blocks }, (_, i) => Math.ceil(blocks / (i + 1)));
  const fitting = [...new Set(all)].filter((groups) => refusal(shape, { groups, threads }, subgroup, limits) === null);
  const refused = refusal(shape, { groups: blocks, threads }, subgroup, limits); // of the smallest workgroups
  return fitting.length === 0 && refused !== null ? refused : fitting;
}

/** The number of workgroups to launch, or null where some gave up. First a few are timed, then those in between. */
async function timeGroups(residency: Pick<Residency, 'rounds'>, fitting: readonly number[]): Promise<number | null> {
  const rounds = new Map<number, number>();
  for (const next of [firstTimed, timedNext]) {
    const groups = next(fitting, rounds);
    const us = groups.length > 0 ? await residency.rounds(groups) : [];
    if (us === null) return null;
    for (const [i, count] of groups.entries()) rounds.set(count, us[i]);
  }
  return chooseGroups(rounds);
}

/** Numbers far apart, from the most on. */
export function firstTimed(fitting: readonly number[]): number[] {
  const rungs: number[] = [];
  for (const groups of fitting) if (groups <= RUNG * (rungs.at(-1) ?? Number.POSITIVE_INFINITY)) rungs.push(groups);
  return rungs;
}

/** The numbers between the choice so far and the next one that was too slow. */
export function timedNext(fitting: readonly number[], rounds: ReadonlyMap<number, number>): number[] {
  const best = chooseGroups(rounds);
  const slower = Math.min(...[...rounds.keys()].filter((groups) => groups > best));
  return fitting.filter((groups) => groups > best && groups < slower);
}

/**
 * The most workgroups whose round takes little longer than that of the fewest.
 * @param rounds microseconds of a round by the number of workgroups
 */
export function chooseGroups(rounds: ReadonlyMap<number, number>): number {
  const fewest = Math.min(...rounds.keys());
  const most = MOST_SLOWDOWN * (rounds.get(fewest) ?? 0);
  return Math.max(fewest, ...[...rounds].filter(([, us]) => us <= most).map(([groups]) => groups));
}
