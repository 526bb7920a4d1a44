import type { Gpu } from '../gpu/device';
import { WordReadback } from '../gpu/readback';
import { StepTimes } from '../gpu/timestamps';
import { type Llama, type PassEnd, PREFILL_CHUNK } from '../model/llama';
import type { SamplingParams } from '../sampling/sampling';
import type { Backend } from './backend';
import type { AttentionChoice } from './protocol';

const MAX_RUN_AHEAD = 16;
/** Steps of a run that are timed. */
const TIMED_STEPS = 2048;

/** Queues passes of a Llama on the GPU and reads back one id a step, late. */
export class WebGpuBackend implements Backend {
  readonly name = 'webgpu';
  readonly maxRunAhead = MAX_RUN_AHEAD;
  readonly attention: AttentionChoice;
  private readonly readback: WordReadback;
  private end: PassEnd = 'sample';
  private readonly clock: StepTimes | null;
  private timed = false;

  constructor(
    private readonly gpu: Gpu,
    private readonly llama: Llama,
  ) {
    const { prefill, decode } = llama.choice;
    this.attention = {
      prefill: prefill.name,
      decode: decode.name,
      reason: prefill.reason === decode.reason ? prefill.reason : `${prefill.reason}; ${decode.reason}`,
    };
    this.readback = new WordReadback(gpu, MAX_RUN_AHEAD + 1);
    this.clock = gpu.can.timestamps ? new StepTimes(gpu, TIMED_STEPS) : null;
  }

  get contextLength(): number {
    return this.llama.contextLength;
  }

  get counters() {
    return this.gpu.counters;
  }

  get peakGpuBytes(): number {
    return this.gpu.peakBytes;
  }

  begin(sampling: SamplingParams, timed: boolean): void {
    this.llama.setSampling(sampling);
    this.timed = timed && this.clock !== null;
    this.clock?.restart();
    this.end = sampling.repetitionPenalty === 1 ? 'sample' : 'penalise_and_sample';
  }

  async prefill(
    ids: Uint32Array<ArrayBuffer>,
    position: number,
    onProgress: (done: number) => void,
    stopped: () => boolean,
  ): Promise<{ token: Promise<number> | null }> {
    this.llama.writeTokens(ids, position);
    let done = 0;
    while (ids.length - done > PREFILL_CHUNK) {
      await this.llama.pass(PREFILL_CHUNK, 'none').run({ position: position + done, nTokens: PREFILL_CHUNK });
      await this.gpu.device.queue.onSubmittedWorkDone();
      if (this.gpu.failure) throw this.gpu.failure;
      if (stopped()) return { token: null };
      done += PREFILL_CHUNK;
      onProgress(done);
    }
    return { token: this.run(position + done, ids.length - done) };
  }

  decode(position: number): Promise<number> {
    return this.run(position, 1, this.timed ? this.clock?.next() : undefined);
  }

  async stepTimes(): Promise<number[] | null> {
    return this.timed && this.clock ? this.clock.read() : null;
  }

  /** Runs every pipeline once: 5 ms of loading for 1 ms of the first TTFT on an H200, more where drivers compile at first use. */
  async warmUp(): Promise<void> {
    await this.llama.pass(2, 'none').run({ position: 0, nTokens: 2 });
    this.end = 'penalise_and_sample';
    await this.run(0, 1);
  }

  /** One submit: the pass, and the copy of the id that it leaves. */
  private run(position: number, nTokens: number, stamps?: GPUComputePassTimestampWrites): Promise<number> {
    if (this.gpu.failure) return Promise.reject(this.gpu.failure);
    const encoder = this.gpu.device.createCommandEncoder();
    this.llama.pass(nTokens, this.end).record(encoder, { position, nTokens }, stamps);
    const target = this.readback.copy(encoder, this.llama.tokens, (position + nTokens) * 4);
    this.gpu.submit(encoder.finish());
    return this.readback.read(target);
  }

  destroy(): void {
    this.gpu.destroy();
  }
}
