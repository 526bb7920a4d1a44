// Asks a GPU how many workgroups of a fused step run at once, and how long they take to hand words to one another.
// Bounded: a wait ends after MOST_POLLS, and every wait behind it at once.

import wgsl from '../../../shaders/step/residency.wgsl?raw';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import { CommandList, createKernel, type Kernel } from '../../gpu/kernel';
import { StepTimes } from '../../gpu/timestamps';

/** Workgroups of the launch that is counted: more than any GPU runs at once. */
const MOST_COUNTED = 1024;
/** Polls of a wait: 3 ms of an H200, and at most 20 ms where a poll takes 5 microseconds. */
const MOST_POLLS = 4096;
/** Rounds of a measurement. Browsers round the GPU's clock to 65 microseconds, and a round takes one or more. */
const ROUNDS = 512;
/** Measurements of each number of workgroups, in turns. The shortest counts: an idle GPU takes a while to wake up. */
const REPEATS = 3;

/** Words of shaders/step/residency.wgsl. */
const SEEN = 2;
const HEADER_WORDS = 64;
/** Bytes of `values`: 20 matrices. */
const VALUE_BYTES = 20 * 64;
const LABEL = 'residency';

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
        constants: { THREADS: threads, PAD: Math.ceil(workgroupBytes / 4) - 8, MOST_POLLS },
        bindings: ['write', 'read'],
        entryPoint,
      });
    const [arrive, handOver] = await Promise.all([compile('arrive'), compile('hand_over')]);
    const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
    const words = gpu.createBuffer(LABEL, 4 * (HEADER_WORDS + 4 * threads), usage);
    const values = gpu.createBuffer(LABEL, VALUE_BYTES, usage);
    return new Residency(gpu, { arrive, handOver }, words, values);
  }

  /** Workgroups that were seen to run at once, at most MOST_COUNTED. */
  async resident(): Promise<number> {
    this.reset();
    await this.list(this.kernels.arrive, MOST_COUNTED).run({ position: 0, nTokens: 1 });
    const [gaveUp, , seen] = await this.header();
    return gaveUp === 0 ? MOST_COUNTED : seen;
  }

  /**
   * Microseconds of a round among so many workgroups, each; null where some gave up waiting. Without a clock of the GPU
   * all are told to be equal.
   */
  async rounds(groups: readonly number[]): Promise<number[] | null> {
    const { gpu, kernels } = this;
    this.reset();
    const times = gpu.can.timestamps ? new StepTimes(gpu, REPEATS * groups.length) : null;
    const lists = groups.map((count) => this.list(kernels.handOver, count));
    const encoder = gpu.device.createCommandEncoder({ label: LABEL });
    for (let i = 0; i < REPEATS; i++) {
      for (const list of lists) list.record(encoder, { position: 0, nTokens: ROUNDS }, times?.next());
    }
    gpu.submit(encoder.finish());
    const ms = await times?.read();
    times?.destroy();
    const [gaveUp] = await this.header();
    if (gaveUp !== 0) return null;
    return lists.map((_, at) => (ms ? (1000 * Math.min(...ms.filter((_, i) => i % lists.length === at))) / ROUNDS : 1));
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
