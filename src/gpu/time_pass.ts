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
  maxRepeats?: number;
}

const MAX_REPEATS = 2000;

/**
 * The time of what `add` adds to a list, repeated in one pass often enough to beat the clock's steps. `add` gets the number
 * of the repeat, so that it can rotate over buffers which no cache holds together. The first round warms up and is dropped.
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
  const { minMs = clock === 'gpu' ? 5 : 60, rounds = 3, maxRepeats = MAX_REPEATS } = options;
  const times = clock === 'gpu' ? new StepTimes(gpu, 1) : null;
  const measure = async (repeats: number): Promise<number> => {
    const list = new CommandList(gpu);
    for (let i = 0; i < repeats; i++) add(list, i);
    if (!times) {
      const start = performance.now();
      await list.run(step);
      await gpu.device.queue.onSubmittedWorkDone();
      return performance.now() - start;
    }
    times.restart();
    const encoder = gpu.device.createCommandEncoder({ label: 'time_pass' });
    list.record(encoder, step, times.next());
    gpu.submit(encoder.finish());
    return (await times.read())[0];
  };
  try {
    let repeats = 1;
    for (;;) {
      const ms = await measure(repeats);
      if (gpu.failure) throw gpu.failure;
      if (ms >= minMs || repeats === maxRepeats) break;
      repeats = Math.min(maxRepeats, repeats * Math.max(2, Math.min(8, Math.ceil(minMs / Math.max(ms, 0.065)))));
    }
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) taken.push((await measure(repeats)) / repeats);
    taken.sort((a, b) => a - b);
    return { ms: taken[Math.floor(taken.length / 2)], repeats, clock };
  } finally {
    times?.destroy();
  }
}
