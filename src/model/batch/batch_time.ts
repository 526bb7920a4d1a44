// How long a step of a batch takes beside a step of one conversation. A GPU that idled is several times slower for a
// while, so both are timed in turns, behind other steps.

import type { Gpu } from '../../gpu/device';
import { type ListAtStep, recordPass } from '../../gpu/kernel';
import { StepTimes } from '../../gpu/timestamps';
import type { Llama } from '../llama';
import type { Batch } from './batch';

/** Keys of each conversation, unless the first one has more. */
const TIMED_AT = 512;
/** Milliseconds of steps in front, and of those that are timed, as the first step of all estimates them. */
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
  const together = (conversations: number): ListAtStep => {
    batch.setRows(Array.from({ length: conversations }, (_, slot) => ({ slot, position: at, id: 0 })));
    return batch.next().pass;
  };
  const cold = await time(gpu, together(slots), 1);
  const steps = (ms: number) => Math.min(MOST, Math.max(LEAST, Math.ceil(ms / cold)));
  const timed = (pass: ListAtStep) => time(gpu, pass, steps(TIMED_MS));
  await time(gpu, together(slots), steps(WARM_MS));
  const before = await timed(one);
  const all = await timed(together(slots));
  const some = await timed(together(few));
  const alone = (before + (await timed(one))) / 2;
  return (count) => (count <= few ? some : some + ((all - some) * (count - few)) / (slots - few)) / alone;
}

/** Milliseconds of each of `count` steps in a row. */
async function time(gpu: Gpu, pass: ListAtStep, count: number): Promise<number> {
  const times = gpu.can.timestamps ? new StepTimes(gpu, 1) : null;
  try {
    const start = performance.now();
    const encoder = gpu.device.createCommandEncoder({ label: 'batch.time' });
    recordPass(gpu, encoder, Array(count).fill(pass), times?.next());
    gpu.submit(encoder.finish());
    if (times) return (await times.read())[0] / count;
    await gpu.workDone();
    return (performance.now() - start) / count;
  } finally {
    times?.destroy();
  }
}
