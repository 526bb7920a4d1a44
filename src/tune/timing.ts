// Clocks of the tuner: one kernel alone, or several in turn, over the layers of a model.

import type { Gpu } from '../gpu/device';
import { CommandList, type Step } from '../gpu/kernel';
import { type PassTimeOptions, timePass } from '../gpu/time_pass';
import { StepTimes } from '../gpu/timestamps';

/** A kernel bound to the buffers of several layers, which together exceed every cache of the GPU. */
export interface LayeredRun {
  layers: number;
  /** Adds one run to a list, on the next layer for each repeat. */
  record(list: CommandList, repeat: number): void;
}

export interface TurnTiming {
  /** GPU work of one pass: browsers round the GPU's clock to 65 microseconds. */
  passMs: number;
  /** The longest pass, even if it does not reach all layers. */
  mostMs: number;
  /**
   * The first kernel runs for this long, and the rounds follow at once: an idle GPU drops its clocks within
   * milliseconds.
   */
  warmMs: number;
}

/** The timing of a GPU without a clock: completions reach the CPU on a grid of about 3 ms. */
export const CPU_TIMING = { minMs: 50, rounds: 3, budgetMs: 250 };
/** The first round warms up; the median of the others counts. */
const ROUNDS = 4;

/** Milliseconds of one run. */
export async function timeAlone(gpu: Gpu, step: Step, run: LayeredRun, timing: PassTimeOptions): Promise<number> {
  const { ms } = await timePass(gpu, step, run.record, { ...timing, minRepeats: run.layers });
  return ms;
}

/** Milliseconds of one run of each kernel, in rounds of one pass each. Without a GPU clock: one after another. */
export async function timeInTurn(
  gpu: Gpu,
  step: Step,
  runs: readonly LayeredRun[],
  timing: TurnTiming,
  throwIfStopped: () => void,
): Promise<number[]> {
  if (!gpu.can.timestamps) {
    const times: number[] = [];
    for (const run of runs) {
      throwIfStopped();
      times.push(await timeAlone(gpu, step, run, CPU_TIMING));
    }
    return times;
  }
  const [{ layers, record }] = runs;
  const estimate = { minMs: timing.passMs, rounds: 1, minRepeats: layers, budgetMs: timing.mostMs };
  const { repeats } = await timePass(gpu, step, record, estimate);
  const lists = runs.map((run) => listOf(gpu, run, repeats));
  return (await timeRounds(gpu, step, lists, timing.warmMs, throwIfStopped)).map((ms) => ms / repeats);
}

/** A pass of `repeats` runs. */
export function listOf(gpu: Gpu, run: LayeredRun, repeats: number): CommandList {
  const list = new CommandList(gpu);
  for (let i = 0; i < repeats; i++) run.record(list, i);
  return list;
}

/** Milliseconds of each list. The CPU waits for nothing until the last round is queued. */
async function timeRounds(
  gpu: Gpu,
  step: Step,
  lists: readonly CommandList[],
  warmMs: number,
  throwIfStopped: () => void,
): Promise<number[]> {
  const times = new StepTimes(gpu, ROUNDS * lists.length);
  const submit = (list: CommandList, stamps?: GPUComputePassTimestampWrites) => {
    const encoder = gpu.device.createCommandEncoder({ label: 'tune' });
    list.record(encoder, step, stamps);
    gpu.submit(encoder.finish());
  };
  try {
    const until = performance.now() + warmMs;
    let running = Promise.resolve();
    while (performance.now() < until) {
      submit(lists[0]);
      const before = running;
      running = gpu.workDone();
      running.catch(() => {}); // a lost device is this call's failure, not the page's
      await before; // one more is queued meanwhile
      throwIfStopped();
    }
    for (let round = 0; round < ROUNDS; round++) for (const list of lists) submit(list, times.next());
    const all = await times.read();
    return lists.map((_, i) => median(all.filter((__, j) => j >= lists.length && j % lists.length === i)));
  } finally {
    times.destroy();
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
