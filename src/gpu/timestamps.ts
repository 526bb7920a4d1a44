// The GPU's clock at both ends of a pass.

import { GPU_COPY_DST, GPU_COPY_SRC, GPU_MAP_READ, GPU_QUERY_RESOLVE, type Gpu } from './device';

/** Bytes of one timestamp. */
const STAMP = 8;

/** A timed pass: its steps, and how many of them count. */
interface TimedPass {
  steps: number;
  kept: number;
}

/**
 * The GPU's own time of each step, from its clock at both ends of a pass. Steps of one pass share its time. The stamps
 * stay on the GPU until one read after the run. Browsers round the clock to 65 microseconds unless developer features
 * are on.
 */
export class StepTimes {
  private readonly stamps: GPUQuerySet;
  private readonly resolved: GPUBuffer;
  private readonly readable: GPUBuffer;
  private readonly passes: TimedPass[] = [];

  /** @param capacity passes of a run that are timed, from its start. A query set holds at most 4096 stamps. */
  constructor(
    private readonly gpu: Gpu,
    private readonly capacity: number,
  ) {
    const bytes = capacity * 2 * STAMP;
    this.stamps = gpu.createStamps('step_times', capacity * 2);
    this.resolved = gpu.createBuffer('step_times.resolved', bytes, GPU_QUERY_RESOLVE | GPU_COPY_SRC);
    this.readable = gpu.createBuffer('step_times.readable', bytes, GPU_MAP_READ | GPU_COPY_DST);
  }

  /** Forgets all steps but the first `steps`. */
  restart(steps = 0): void {
    let left = steps;
    for (const pass of this.passes) {
      pass.kept = Math.min(pass.kept, left);
      left -= pass.kept;
    }
    while (this.passes.at(-1)?.kept === 0) this.passes.pop();
  }

  /** The timestamp writes of the pass of the next steps, or undefined when there is no room left. */
  next(steps = 1): GPUComputePassTimestampWrites | undefined {
    if (this.passes.length === this.capacity) return undefined;
    const first = 2 * this.passes.length;
    this.passes.push({ steps, kept: steps });
    return { querySet: this.stamps, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
  }

  /** Milliseconds of each step since `restart`, in order. */
  async read(): Promise<number[]> {
    const { gpu, passes } = this;
    if (passes.length === 0) return [];
    const bytes = passes.length * 2 * STAMP;
    const encoder = gpu.device.createCommandEncoder({ label: 'step_times' });
    encoder.resolveQuerySet(this.stamps, 0, 2 * passes.length, this.resolved, 0);
    encoder.copyBufferToBuffer(this.resolved, 0, this.readable, 0, bytes);
    gpu.submit(encoder.finish());
    const ends = new BigUint64Array(await gpu.readMapped(this.readable, bytes));
    return passes.flatMap(({ steps, kept }, i) => {
      const ms = Number(ends[2 * i + 1] - ends[2 * i]) / 1e6;
      return Array<number>(kept).fill(ms / steps);
    });
  }

  destroy(): void {
    this.stamps.destroy();
    this.gpu.destroyBuffer(this.resolved);
    this.gpu.destroyBuffer(this.readable);
  }
}
