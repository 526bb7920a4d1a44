// Asks a GPU how many workgroups of a fused step run at once, and how long they take to hand words to one another.
// Bounded: a wait ends after MOST_POLLS, and every wait behind it at once.

import wgsl from '../../../shaders/step/residency.wgsl?raw';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import { CommandList, createKernel, type Kernel } from '../../gpu/kernel';
import { StepTimes } from '../../gpu/timestamps';

/** Workgroups of the launch that is counted: more than any GPU runs at once. */
export const MOST_COUNTED = 1024;
/** Polls of a wait: 3 ms of an H200, and at most 20 ms where a poll takes 5 microseconds. */
const MOST_POLLS = 4096;
/** Rounds of a measurement. Browsers round the GPU's clock to 65 microseconds, and a round takes one or more. */
const ROUNDS = 512;
/** The CPU hears 3 ms late of the end of a measurement. */
const ROUNDS_WITHOUT_CLOCK = 4096;
/** Measurements of each number of workgroups, in turns. The shortest counts: an idle GPU takes a while to wake up. */
const REPEATS = 3;

/** Words of shaders/step/residency.wgsl. */
const GAVE_UP = 0;
const SEEN = 2;
const HEADER_WORDS = 64;
/** Bytes of `values`: 20 matrices. */
const VALUE_BYTES = 20 * 64;

export class Residency {
  private constructor(
    private readonly gpu: Gpu,
    private readonly kernels: { arrive: Kernel; handOver: Kernel },
    private readonly words: GPUBuffer,
    private readonly values: GPUBuffer,
  ) {}

  /**
   * Compiles both kernels for workgroups of this size.
   * @throws GpuProgramError where the browser refuses them
   */
  static async create(gpu: Gpu, threads: number, workgroupBytes: number): Promise<Residency> {
    const compile = (entryPoint: string) =>
      createKernel(gpu, {
        label: `kernels/residency.${entryPoint}`,
        wgsl: [wgsl],
        constants: { THREADS: threads, PAD: Math.ceil(workgroupBytes / 4) - 1, MOST_POLLS },
        bindings: ['write', 'read'],
        entryPoint,
      });
    const [arrive, handOver] = await Promise.all([compile('arrive'), compile('hand_over')]);
    const words = gpu.createBuffer(
      'step.residency',
      4 * (HEADER_WORDS + 4 * threads),
      GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC,
    );
    const values = gpu.createBuffer('step.residency.values', VALUE_BYTES, GPU_STORAGE);
    return new Residency(gpu, { arrive, handOver }, words, values);
  }

  /** Workgroups that were seen to run at once, at most MOST_COUNTED. */
  async resident(): Promise<number> {
    this.reset();
    await this.list(this.kernels.arrive, MOST_COUNTED).run({ position: 0, nTokens: 1 });
    const header = await this.header();
    return header[GAVE_UP] === 0 ? MOST_COUNTED : header[SEEN];
  }

  /** Microseconds of a round among so many workgroups, each; null where some gave up waiting. */
  async rounds(groups: readonly number[]): Promise<number[] | null> {
    this.reset();
    const lists = groups.map((count) => this.list(this.kernels.handOver, count));
    const us = await (this.gpu.can.timestamps ? this.onGpuClock(lists) : this.onCpuClock(lists));
    const header = await this.header();
    return header[GAVE_UP] === 0 ? us : null;
  }

  private async onGpuClock(lists: readonly CommandList[]): Promise<number[]> {
    const times = new StepTimes(this.gpu, REPEATS * lists.length);
    const encoder = this.gpu.device.createCommandEncoder({ label: 'step.residency' });
    for (let i = 0; i < REPEATS; i++) {
      for (const list of lists) list.record(encoder, { position: 0, nTokens: ROUNDS }, times.next());
    }
    this.gpu.submit(encoder.finish());
    const ms = await times.read();
    times.destroy();
    return lists.map((_, at) => (1000 * Math.min(...ms.filter((_, i) => i % lists.length === at))) / ROUNDS);
  }

  private async onCpuClock(lists: readonly CommandList[]): Promise<number[]> {
    const best = lists.map(() => Number.POSITIVE_INFINITY);
    for (let i = 0; i < REPEATS; i++) {
      for (const [at, list] of lists.entries()) {
        const start = performance.now();
        await list.run({ position: 0, nTokens: ROUNDS_WITHOUT_CLOCK });
        await this.gpu.device.queue.onSubmittedWorkDone();
        best[at] = Math.min(best[at], performance.now() - start);
      }
    }
    return best.map((ms) => (1000 * ms) / ROUNDS_WITHOUT_CLOCK);
  }

  private list(kernel: Kernel, groups: number): CommandList {
    const list = new CommandList(this.gpu);
    list.add(kernel, kernel.bind(this.words, this.values), groups);
    return list;
  }

  private reset(): void {
    const words = new Uint32Array(this.words.size / 4);
    words[SEEN] = 0xffffffff;
    this.gpu.write(this.words, words);
  }

  private async header(): Promise<Uint32Array> {
    return new Uint32Array(await this.gpu.read(this.words, 4 * HEADER_WORDS));
  }

  destroy(): void {
    this.gpu.destroyBuffer(this.words);
    this.gpu.destroyBuffer(this.values);
  }
}
