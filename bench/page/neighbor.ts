// A page beside the one that is measured: submits compute work of a few milliseconds, one piece after another, until it
// is stopped.

import { GPU_STORAGE, Gpu } from '../../src/gpu/device';
import { CommandList } from '../../src/gpu/kernel';
import { timePass } from '../../src/gpu/time_pass';
import { createRead, READ_OUT_BYTES, READ_SPAN_BYTES } from '../../src/tune/read_memory';
import type { BenchProgress, Neighbor } from '../report';

const SHAPE = { workgroup: 128, loads: 8, grid: 1056 };
/** 34 MB. An adapter that computes on the CPU takes milliseconds for a sixteenth of it. */
const BYTES = 256 * READ_SPAN_BYTES;
const SOFTWARE_BYTES = BYTES / 16;
/** Work of one submit. Another waits behind it, so that the GPU never idles. */
const SUBMIT_MS = 4;
const MOST_READS = 2000;
const STEP = { position: 0, nTokens: 1 };

export async function keepBusy(say: (progress: BenchProgress) => void, signal: AbortSignal): Promise<Neighbor> {
  const gpu = await Gpu.request();
  const x = gpu.createBuffer('bench.neighbor', gpu.isSoftware ? SOFTWARE_BYTES : BYTES, GPU_STORAGE);
  const add = await createRead(gpu, x, gpu.createBuffer('bench.neighbor.out', READ_OUT_BYTES, GPU_STORAGE), SHAPE);
  const { ms } = await timePass(gpu, STEP, add, { minMs: 1, rounds: 1, budgetMs: 100 });
  const reads = Math.max(1, Math.min(MOST_READS, Math.round(SUBMIT_MS / ms)));
  const list = new CommandList(gpu);
  for (let i = 0; i < reads; i++) add(list);
  const start = performance.now();
  let submits = 0;
  let before: Promise<void> | null = null;
  while (!signal.aborted && !gpu.failure) {
    await list.run(STEP);
    submits++;
    const running = gpu.workDone();
    await before;
    before = running;
    if (submits === 2) say({ text: 'busy' });
  }
  const ranMs = performance.now() - start;
  const lost = gpu.failure?.message ?? null;
  gpu.destroy();
  return { submits, submitMs: reads * ms, ranMs, lost };
}
