// How long a step of a batch takes beside a step of one conversation. A GPU that idled is several times slower for a
// while, so both are timed in turns, behind other steps, without a wait in between.

import type { Gpu } from '../../gpu/device';
import { type ListAtStep, recordPass } from '../../gpu/kernel';
import { StepTimes } from '../../gpu/timestamps';
import type { Llama } from '../llama';
import type { Batch } from './batch';

/** Keys of each conversation, unless the first one has more. */
const TIMED_AT = 512;
/** Steps, behind the first of all, that tell about how long one takes. */
const ROUGH_STEPS = 2;
/** Milliseconds of steps in front, and of those that are timed. */
const WARM_MS = 100;
const TIMED_MS = 16;
/** Fewest and most steps of either. */
const LEAST = 2;
const MOST = 128;

/**
 * The time of a step of so many conversations, as a multiple of a step of one with as many keys. Runs a new batch,
 * before any is in its slots, and the model's own step at `position`, whose token and keys are there, or behind it,
 * where nothing of its conversation is: but not in rings, where later keys take the places of earlier ones.
 */
export async function timeBatch(
  gpu: Gpu,
  llama: Llama,
  batch: Batch,
  position: number,
): Promise<(conversations: number) => number> {
  const { slots } = batch;
  const few = Math.ceil(slots / 2);
  const { rings } = llama.batchSources.kvCache;
  const { written } = rings;
  const hasRings = rings.room < Number.POSITIVE_INFINITY;
  const at = hasRings ? position : Math.max(position, Math.min(TIMED_AT, batch.room - 2)); // and one for the next token
  const one = { list: llama.pass(1, 'sample', at), step: { position: at, nTokens: 1 } };
  rings.written = written;
  const together = (conversations: number) => (): ListAtStep => {
    batch.setRows(Array.from({ length: conversations }, (_, slot) => ({ slot, position: at, id: 0 })));
    return batch.next().pass;
  };
  const most = together(slots);
  const [, rough] = await time(gpu, [
    { pass: most, count: 1 },
    { pass: most, count: ROUGH_STEPS },
  ]);
  const steps = (ms: number) => Math.min(MOST, Math.max(LEAST, Math.ceil(ms / rough)));
  const timed = (pass: () => ListAtStep) => ({ pass, count: steps(TIMED_MS) });
  const [, before, all, some, after] = await time(gpu, [
    { pass: most, count: steps(WARM_MS) },
    timed(() => one),
    timed(most),
    timed(together(few)),
    timed(() => one),
  ]);
  const alone = (before + after) / 2;
  return (count) => (count <= few ? some : some + ((all - some) * (count - few)) / (slots - few)) / alone;
}

/** Steps in a row: `pass` is called when all before are submitted. */
interface TimedSteps {
  pass: () => ListAtStep;
  count: number;
}

/**
 * Milliseconds of a step of each run. The GPU never idles between runs, where it has timestamps: no clock falls then.
 */
async function time(gpu: Gpu, runs: readonly TimedSteps[]): Promise<number[]> {
  const times = gpu.can.timestamps ? new StepTimes(gpu, runs.length) : null;
  const waited: number[] = [];
  try {
    for (const { pass, count } of runs) {
      const start = performance.now();
      const encoder = gpu.device.createCommandEncoder({ label: 'batch.time' });
      recordPass(gpu, encoder, Array(count).fill(pass()), times?.next());
      gpu.submit(encoder.finish());
      if (times) continue;
      await gpu.workDone();
      waited.push(performance.now() - start);
    }
    const all = times ? await times.read() : waited;
    return all.map((ms, i) => ms / runs[i].count);
  } finally {
    times?.destroy();
  }
}
