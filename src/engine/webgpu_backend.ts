import { InvalidRequestError } from '../errors';
import type { Gpu } from '../gpu/device';
import type { CommandList, Step } from '../gpu/kernel';
import { WordReadback } from '../gpu/readback';
import { StepTimes } from '../gpu/timestamps';
import { type AttentionName, type Llama, type PassEnd, PREFILL_CHUNK } from '../model/llama';
import type { SamplingParams } from '../sampling/sampling';
import type { Backend, OnTuneResult } from './backend';
import { storeProfile } from './profile_store';
import type { AttentionChoice, TuneOutcome } from './protocol';

const MAX_RUN_AHEAD = 16;
/** Steps of a run that are timed. */
const TIMED_STEPS = 2048;

/** Queues passes of a Llama on the GPU and reads back one id a step, late. */
export class WebGpuBackend implements Backend {
  readonly name = 'webgpu';
  private readonly readback: WordReadback;
  private end: PassEnd = 'sample';
  private readonly clock: StepTimes | null;
  private timed = false;
  /** The sibling of the newest decode step. */
  private decodedBy: AttentionName;

  constructor(
    private readonly gpu: Gpu,
    private readonly llama: Llama,
    /** Where the tuner's findings are kept; null: nowhere. */
    private readonly profileKey: string | null = null,
  ) {
    this.decodedBy = llama.attention.at(1, 1).kernel.name;
    this.readback = new WordReadback(gpu, MAX_RUN_AHEAD + 1);
    this.clock = gpu.can.timestamps ? new StepTimes(gpu, TIMED_STEPS) : null;
  }

  /** A pass that needs the CPU in its middle runs alone. */
  get maxRunAhead(): number {
    return this.llama.needsHost ? 1 : MAX_RUN_AHEAD;
  }

  /** `decode`: what ran last; the siblings change with the length of the cache. */
  get attention(): AttentionChoice {
    const { prefill, reason } = this.llama.attention;
    return { prefill: prefill.kernel.name, decode: this.decodedBy, reason };
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
    this.timed = timed && this.clock !== null && !this.llama.needsHost; // the clock would stop while the CPU works
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
      const step = { position: position + done, nTokens: PREFILL_CHUNK };
      await this.llama.pass(PREFILL_CHUNK, 'none', step.position).run(step);
      await this.gpu.device.queue.onSubmittedWorkDone();
      if (this.gpu.failure) throw this.gpu.failure;
      if (stopped()) return { token: null };
      done += PREFILL_CHUNK;
      onProgress(done);
    }
    return { token: this.run(position + done, ids.length - done) };
  }

  decode(position: number): Promise<number> {
    this.decodedBy = this.llama.attention.at(1, position + 1).kernel.name;
    return this.run(position, 1, this.timed ? this.clock?.next() : undefined);
  }

  async stepTimes(): Promise<number[] | null> {
    return this.timed && this.clock ? this.clock.read() : null;
  }

  /** Runs every pipeline once: 5 ms of loading for 1 ms of the first TTFT on an H200, more where drivers compile at first use. */
  async warmUp(): Promise<void> {
    await this.llama.pass(2, 'none', 0).run({ position: 0, nTokens: 2 });
    this.end = 'penalise_and_sample';
    await this.run(0, 1);
  }

  private run(position: number, nTokens: number, stamps?: GPUComputePassTimestampWrites): Promise<number> {
    if (this.gpu.failure) return Promise.reject(this.gpu.failure);
    const list = this.llama.pass(nTokens, this.end, position);
    const step = { position, nTokens };
    return list.needsHost
      ? list.runHostParts(step).then(() => this.submit(list, step))
      : this.submit(list, step, stamps);
  }

  /** One submit: the pass, or what the CPU has left of it, and the copy of the id that it leaves. */
  private submit(list: CommandList, step: Step, stamps?: GPUComputePassTimestampWrites): Promise<number> {
    const encoder = this.gpu.device.createCommandEncoder();
    list.record(encoder, step, stamps);
    const target = this.readback.copy(encoder, this.llama.tokens, (step.position + step.nTokens) * 4);
    this.gpu.submit(encoder.finish());
    return this.readback.read(target);
  }

  async tune(onResult: OnTuneResult, stopped: () => boolean): Promise<TuneOutcome> {
    const { llama, profileKey } = this;
    if (llama.asked !== 'auto') {
      throw new InvalidRequestError(
        `This model was loaded with attention "${llama.asked}", which tuning would not change. Load it with "auto" first.`,
      );
    }
    const { profile, results } = await llama.tune({ onResult, stopped });
    if (stopped()) throw new DOMException('Tuning was cancelled.', 'AbortError');
    await llama.retune(profile);
    this.decodedBy = llama.attention.at(1, 1).kernel.name;
    return {
      results,
      attention: this.attention,
      stored: profileKey !== null && (await storeProfile(profileKey, profile)),
    };
  }

  destroy(): void {
    this.gpu.destroy();
  }
}
