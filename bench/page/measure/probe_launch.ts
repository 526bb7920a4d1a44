// What this GPU does with workgroups that wait for one another: how many run at once, and how long a hand-over takes.

import type { Gpu } from '../../../src/gpu/device';
import { Residency } from '../../../src/kernels/step/residency';
import type { LaunchProbe } from '../../report';

/** Threads of a workgroup, and its bytes of workgroup memory. */
const SIZES = [
  [512, 16384],
  [512, 32768],
  [256, 16384],
  [256, 32768],
] as const;
const QUICK_SIZES = [[64, 8192]] as const;
const GROUPS = [2, 8, 16, 32, 64, 128, 256, 512];
/** Share of the workgroups that ran at once: the last ones may not run the next time. */
const RESIDENT_SHARE = 0.97;

/** One row a size that this GPU has. */
export async function probeLaunches(gpu: Gpu, quick: boolean): Promise<LaunchProbe[]> {
  const { maxComputeInvocationsPerWorkgroup: mostThreads, maxComputeWorkgroupStorageSize: mostBytes } = gpu.limits;
  const probes: LaunchProbe[] = [];
  for (const [threads, bytes] of quick ? QUICK_SIZES : SIZES) {
    if (threads > mostThreads || bytes > mostBytes) continue;
    const residency = await Residency.create(gpu, threads, bytes);
    const start = performance.now();
    const resident = await residency.resident();
    const groups = GROUPS.filter((count) => count <= RESIDENT_SHARE * resident);
    const us = groups.length > 0 ? await residency.rounds(groups) : [];
    const ms = performance.now() - start;
    residency.destroy();
    const rounds = us && groups.map((count, i) => ({ groups: count, us: us[i] }));
    probes.push({ threads, bytes, resident, rounds, ms });
  }
  return probes;
}
