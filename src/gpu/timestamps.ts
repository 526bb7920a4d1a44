// The GPU's clock at both ends of a pass.

import { GPU_COPY_DST, GPU_COPY_SRC, GPU_MAP_READ, GPU_QUERY_RESOLVE, type Gpu } from './device';

/** Bytes of one timestamp. */
const STAMP = 8;

/**
 * The GPU's own time of each step, from its clock at both ends of the pass. The stamps stay on the GPU until one read
 * after the run. Browsers round the clock to 65 microseconds unless developer features are on.
 */
export class StepTimes {
  private readonly stamps: GPUQuerySet;
  private readonly resolved: GPUBuffer;
  private readonly readable: GPUBuffer;
  private steps = 0;

  /** @param capacity steps of a run that are timed, from its start. A query set holds at most 4096 stamps. */
  constructor(
    private readonly gpu: Gpu,
    private readonly capacity: number,
  ) {
    const bytes = capacity * 2 * STAMP;
    this.stamps = gpu.device.createQuerySet({ label: 'step_times', type: 'timestamp', count: capacity * 2 });
    this.resolved = gpu.createBuffer('step_times.resolved', bytes, GPU_QUERY_RESOLVE | GPU_COPY_SRC);
    this.readable = gpu.createBuffer('step_times.readable', bytes, GPU_MAP_READ | GPU_COPY_DST);
  }

  /** Forgets all steps but the first `steps`. */
  restart(steps = 0): void {
    this.steps = Math.min(steps, this.steps);
  }

  /** The timestamp writes of the next step's pass, or undefined when there is no room left. */
  next(): GPUComputePassTimestampWrites | undefined {
    if (this.steps === this.capacity) return undefined;
    const first = 2 * this.steps++;
    return { querySet: this.stamps, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
  }

  /** Milliseconds of each step since `restart`, in order. */
  async read(): Promise<number[]> {
    if (this.steps === 0) return [];
    const bytes = this.steps * 2 * STAMP;
    const encoder = this.gpu.device.createCommandEncoder({ label: 'step_times' });
    encoder.resolveQuerySet(this.stamps, 0, 2 * this.steps, this.resolved, 0);
    encoder.copyBufferToBuffer(this.resolved, 0, this.readable, 0, bytes);
    this.gpu.submit(encoder.finish());
    const ends = new BigUint64Array(await this.gpu.readMapped(this.readable, bytes));
    return Array.from({ length: this.steps }, (_, i) => Number(ends[2 * i + 1] - ends[2 * i]) / 1e6);
  }

  destroy(): void {
    this.stamps.destroy();
    this.gpu.destroyBuffer(this.resolved);
    this.gpu.destroyBuffer(this.readable);
  }
}
