// The first module of a worker: injects the faults of its plan, then lets the engine's module run.

import { randomSource } from '../../test/random';
import { damageWeights, destroyDevices, patchGpu } from './gpu';
import { patchNetwork } from './network';
import type { Plan, Planned } from './plan';
import { Schedule } from './schedule';
import { patchStorage } from './storage';
import { beSlow, hang, throwLater, watchWork } from './worker_thread';

/** The plan, from the lines that the page puts before this module. */
const { vivacePlan } = globalThis as unknown as { vivacePlan: Plan };
const random = randomSource(vivacePlan.seed);

function act({ name, seconds }: Planned): void {
  if (name === 'gpu-destroy') destroyDevices();
  else if (name === 'nan') damageWeights(random);
  else if (name === 'worker-hang') hang();
  else if (name === 'worker-close') close();
  else if (name === 'worker-throw') throwLater();
  else if (name === 'worker-slow') beSlow(seconds);
}

const schedule = new Schedule(vivacePlan, act, (vivaceHappened) => postMessage({ vivaceHappened }));
patchGpu(schedule);
patchStorage(schedule);
patchNetwork(schedule);
watchWork(schedule);
addEventListener('message', (event: MessageEvent<{ vivaceNow?: Planned } | null>) => {
  const fault = event.data?.vivaceNow;
  if (!fault) return;
  event.stopImmediatePropagation();
  schedule.now(fault);
});
postMessage({ vivaceReady: true });
