// The search for the operation that first computes a NaN or an infinity: each operation of a pass runs by itself, and
// its output is read back.

import type { Gpu } from '../gpu/device';
import { CommandList, type Step } from '../gpu/kernel';
import type { Operation } from './linears';

/** An operation, and where it leaves `size` numbers for each token. */
export interface Stage {
  what: string;
  operation: Operation;
  out: GPUBuffer;
  size: number;
}

/** Runs the stages in their order. The first with a number that is not finite, and its last kernel, or null. */
export async function firstNotFinite(gpu: Gpu, stages: Iterable<Stage>, step: Step): Promise<string | null> {
  for (const { what, operation, out, size } of stages) {
    const list = new CommandList(gpu);
    operation.record(list, step.nTokens);
    await list.run(step);
    if (await allFinite(gpu, out, size * step.nTokens)) continue;
    return `${what} (${list.submits.flat().at(-1)?.label ?? 'on the CPU'})`;
  }
  return null;
}

/** True if the first `count` numbers of a buffer are finite, as far as it reaches. */
export async function allFinite(gpu: Gpu, buffer: GPUBuffer, count: number): Promise<boolean> {
  const values = new Float32Array(await gpu.read(buffer, Math.min(4 * count, buffer.size)));
  return values.every(Number.isFinite);
}
