// Times GPU work for the tuner and the bench, by the GPU's clock if it has one.

import type { Gpu } from './device';
import { CommandList, type Step } from './kernel';
import { StepTimes } from './timestamps';

export interface PassTime {
  /** Milliseconds of one repeat, as the median of the rounds. */
  ms: number;
  repeats: number;
  /** The GPU's own clock, or the CPU's around the whole submit, which needs longer measurements. */
  clock: 'gpu' | 'cpu';
}

export interface PassTimeOptions {
  /**
   * GPU work of one round. Browsers round the GPU's clock to 65 microseconds, and completions reach the CPU 3 ms late.
   */
  minMs?: number;
  rounds?: number;
  /** Fewest repeats of a round, if the budget allows: the number of buffers to rotate over. */
  minRepeats?: number;
  maxRepeats?: number;
  /** Length of the warm-up before the rounds: an idle GPU may take half a second to reach its full clocks. */
  warmMs?: number;
  /** Time for all rounds. Slower work is measured once, after one run to warm up. */
  budgetMs?: number;
}

const MAX_REPEATS = 2000;
/** The step of the coarsest GPU clock in a browser. Shorter measurements are meaningless. */
const CLOCK_STEP_MS = 0.065;
/** Largest growth of the repeats at a time: the first measurements are too short to predict more. */
const MAX_GROWTH = 8;

/**
 * Times the dispatches that `add` adds to a list, repeated in one pass often enough to outweigh the clock's steps.
 * `add` gets the number of the repeat, so that it can rotate over more buffers than a cache holds. A first run warms up
 * and is dropped.
 */
export async function timePass(
  gpu: Gpu,
  step: Step,
  add: (list: CommandList, repeat: number) => void,
  options: PassTimeOptions = {},
): Promise<PassTime> {
  const probe = new CommandList(gpu);
  add(probe, 0);
  const clock = gpu.can.timestamps && !probe.needsHost ? 'gpu' : 'cpu';
  const { minMs = clock === 'gpu' ? 5 : 60, rounds = 3, minRepeats = 1, maxRepeats = MAX_REPEATS } = options;
  const { budgetMs = Number.POSITIVE_INFINITY, warmMs = 0 } = options;
  const times = clock === 'gpu' ? new StepTimes(gpu, 1) : null;
  const measure = async (repeats: number): Promise<number> => {
    const list = new CommandList(gpu);
    for (let i = 0; i < repeats; i++) add(list, i);
    const ms = await (times ? onGpuClock(gpu, list, step, times) : onCpuClock(gpu, list, step));
    await gpu.settled();
    return ms;
  };
  try {
    let spentMs = await measure(1); // compiles, and clears memory that has never been written
    let repeats = 1;
    let ms = await measure(repeats);
    for (;;) {
      const each = Math.max(ms, CLOCK_STEP_MS) / repeats;
      const affordable = Math.max(1, Math.min(maxRepeats, Math.floor(budgetMs / rounds / each)));
      if ((ms >= minMs && repeats >= minRepeats) || repeats >= affordable) break;
      const wanted = Math.max(minRepeats, Math.ceil((1.2 * minMs) / each), 2 * repeats);
      repeats = Math.min(affordable, wanted, MAX_GROWTH * repeats);
      ms = await measure(repeats);
    }
    const warm = performance.now() + warmMs;
    while (performance.now() < warm) ms = await measure(repeats);
    const taken = [ms];
    spentMs += ms;
    while (taken.length < rounds && spentMs + ms <= budgetMs) {
      ms = await measure(repeats);
      taken.push(ms);
      spentMs += ms;
    }
    return { ms: median(taken) / repeats, repeats, clock };
  } finally {
    times?.destroy();
  }
}

async function onGpuClock(gpu: Gpu, list: CommandList, step: Step, times: StepTimes): Promise<number> {
  times.restart();
  const encoder = gpu.device.createCommandEncoder({ label: 'time_pass' });
  list.record(encoder, step, times.next());
  gpu.submit(encoder.finish());
  const [ms] = await times.read();
  return ms;
}

async function onCpuClock(gpu: Gpu, list: CommandList, step: Step): Promise<number> {
  const start = performance.now();
  await list.run(step);
  await gpu.workDone();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
