import type { Gpu } from './device';
import { CommandList, type Step } from './kernel';
import { StepTimes } from './timestamps';

export interface PassTime {
  /** Milliseconds of one repeat: the median of the rounds. */
  ms: number;
  repeats: number;
  /** Whose clock: the GPU's own, or the CPU's around the whole submit, which takes longer measurements. */
  clock: 'gpu' | 'cpu';
}

export interface PassTimeOptions {
  /** GPU work of one round; browsers round the GPU's clock to 65 microseconds, and completions reach the CPU 3 ms late. */
  minMs?: number;
  rounds?: number;
  /** At least so many repeats in a round, where the budget allows them: as many as there are buffers to rotate over. */
  minRepeats?: number;
  maxRepeats?: number;
  /** The work is repeated for so long before the rounds: a GPU that was idle may take half a second to its full clocks. */
  warmMs?: number;
  /** All rounds together; what is slower than that is measured once, after one run to warm up. */
  budgetMs?: number;
}

const MAX_REPEATS = 2000;
/** The coarsest clock of a GPU in a browser: shorter measurements say nothing. */
const CLOCK_STEP_MS = 0.065;
/** The first measurements are too short to foresee more than this. */
const MAX_GROWTH = 8;

/**
 * The time of what `add` adds to a list, repeated in one pass often enough to beat the clock's steps. `add` gets the number
 * of the repeat, so that it can rotate over buffers which no cache holds together. A first run warms up and is dropped.
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
    if (gpu.failure) throw gpu.failure;
    return ms;
  };
  try {
    let spentMs = await measure(1); // compiles, and clears memory that was never written
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
  await gpu.device.queue.onSubmittedWorkDone();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
