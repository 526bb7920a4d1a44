// The backend on WebGPU.

import type { Place } from '../../cpu/grammar';
import type { Gpu } from '../../gpu/device';
import { type CommandList, type ListAtStep, recordPass, type Step } from '../../gpu/kernel';
import { WordReadback } from '../../gpu/readback';
import { StepTimes } from '../../gpu/timestamps';
import type { Llama } from '../../model/llama';
import { type SampleEnd, sampleEnd } from '../../model/output/sampler';
import { entryWords, LOGPROBS_RING, MAX_LOGPROBS, readLogprobs } from '../../sampling/logprobs';
import { ALWAYS, GAVE_UP, penalizes, type SamplingParams } from '../../sampling/sampling';
import { arrived } from '../../shared/part';
import { storeProfile } from '../../tune/profile/profile_store';
import type { AttentionChoice, Roofline, StepChoice, TuneOutcome } from '../protocol';
import {
  type Arrival,
  type Backend,
  type BatchAsked,
  type Batching,
  type Constraint,
  type KvBytes,
  MOST_SHARED,
  type OnTuneResult,
  type Parking,
  type Stopped,
} from './backend';
import { PromptTimes } from './prompt_times';
import type { VectorReader } from './vector_reader';

/** Readbacks in flight: 4.5 ms of steps of 0.07 ms. Each takes a mapped buffer, and drivers grant a few thousand. */
const MAX_RUN_AHEAD = 64;
/** A pass that takes longer ends before the next is queued: a stop waits for one pass then, not for two. */
const LONG_PASS_MS = 1000;
/** Most steps of a run that are timed. */
const TIMED_STEPS = 2048;

function createReadbacks(gpu: Gpu): { readback: WordReadback; clock: StepTimes | null } {
  return {
    readback: new WordReadback(gpu, MAX_RUN_AHEAD + 1, MOST_SHARED * (1 + entryWords(MAX_LOGPROBS))),
    clock: gpu.can.timestamps ? new StepTimes(gpu, TIMED_STEPS) : null,
  };
}

/** Bytes that a backend allocates beside its model. */
export function readbackBytes(gpu: Gpu): number {
  return gpu.measure(() => createReadbacks(gpu)).bytes;
}

/** Queues passes of a Llama on the GPU, and reads their ids back while later steps run. */
export class WebGpuBackend implements Backend {
  readonly name = 'webgpu';
  stepBoundMs?: number;
  private readonly readback: WordReadback;
  private end: SampleEnd = 'sample';
  /** The end of passes whose new token has a position from `biasedUntil` on. */
  private unbiasedEnd: SampleEnd = 'sample';
  private biasedUntil = 0;
  /** The likeliest tokens that each step reports, or null where no step reports any. */
  private logprobs: number | null = null;
  private readonly clock: StepTimes | null;
  private timed = false;
  /** Position of the first step behind the prompt. A prompt's pass that is repeated as a step is not timed. */
  private timedFrom = 0;
  /** Position of the newest decode step, for which `attention` names the sibling. */
  private decodedAt = 0;
  private measured: Roofline | null = null;
  private readonly promptTimes: PromptTimes;
  /** The logits of a short run after the load or the tuning. */
  private witness: Float32Array | null = null;
  /** Made by the first `embed`. */
  private vectorReader: VectorReader | null = null;

  constructor(
    private readonly gpu: Gpu,
    private readonly llama: Llama,
    /** Key of the attention in the stored profile (see attentionKey), or null to store none. */
    private readonly attentionKey: string | null = null,
  ) {
    this.promptTimes = new PromptTimes(llama.submitOperations);
    ({ readback: this.readback, clock: this.clock } = createReadbacks(gpu));
  }

  /** 1 if a pass needs the CPU in its middle. */
  get maxRunAhead(): number {
    return this.llama.needsHost ? 1 : MAX_RUN_AHEAD;
  }

  /** `decode` names the sibling of the newest step; siblings change with the length of the cache. */
  get attention(): AttentionChoice {
    const { attention } = this.llama;
    const decode = attention.at(1, this.decodedAt + 1).kernel.name;
    return { prefill: attention.prefill.kernel.name, decode, reason: attention.reason };
  }

  get step(): StepChoice {
    return this.llama.step;
  }

  get vectors() {
    return this.llama.vectors;
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

  get parking(): Parking {
    return this.llama.kvParking;
  }

  async prepareBatch(slots: number, room: number): Promise<boolean> {
    const { prepareBatching } = await arrived(import('./gpu_batching'));
    return prepareBatching(this.llama, slots, room);
  }

  async batch(asked: BatchAsked): Promise<Batching | null> {
    const { createBatching } = await arrived(import('./gpu_batching'));
    return createBatching(this.llama, asked);
  }

  kvBytes(): Promise<KvBytes> {
    return this.llama.kvPieces();
  }

  async begin(sampling: SamplingParams, timed: boolean, constraint: Constraint | null = null): Promise<void> {
    this.llama.setSampling(sampling);
    this.timed = timed && this.clock !== null && !this.llama.needsHost; // the clock would stop while the CPU works
    this.clock?.restart();
    const { biases } = sampling;
    this.logprobs = sampling.logprobs;
    const end = { masks: constraint !== null, penalizes: penalizes(sampling), reports: this.logprobs !== null };
    this.end = sampleEnd({ ...end, biases: biases.length > 0 });
    this.unbiasedEnd = sampleEnd({ ...end, biases: false });
    this.biasedUntil = Math.max(0, ...biases.map(({ bias, forbiddenUntil }) => (bias === 0 ? forbiddenUntil : ALWAYS)));
    if (biases.length > 0 || end.penalizes) await this.llama.changeLogits();
    if (this.logprobs !== null) await this.llama.reportLogprobs();
    if (constraint) await this.llama.constrain(constraint.automaton, constraint.tokens);
  }

  async prefill(
    ids: Uint32Array<ArrayBuffer>,
    position: number,
    onProgress: (done: number) => void,
    stopped: Stopped,
    place?: Place,
  ): Promise<{ token: Promise<Arrival> } | { token: null; ran: number }> {
    this.llama.writeTokens(ids, position);
    if (place) this.llama.setPlace(position + ids.length, place);
    this.timedFrom = position + ids.length;
    let queued = 0;
    // Two passes in flight: with one, the GPU would idle for up to 3 ms a chunk until the CPU learns of its end.
    let before: Promise<void> | null = null;
    let begun = performance.now();
    let takesLong = false;
    const previousDone = async () => {
      await before;
      if (this.gpu.failure) throw this.gpu.failure;
      if (!before) return;
      onProgress(queued);
      before = null;
      takesLong = performance.now() - begun > LONG_PASS_MS;
      begun = performance.now();
    };
    this.llama.submitOperations = this.promptTimes.submitOperations;
    const nTokens = this.llama.passTokens;
    while (ids.length - queued > nTokens) {
      const step = { position: position + queued, nTokens };
      await this.llama.pass(nTokens, 'none', step.position).run(step);
      const running = this.gpu.workDone();
      running.catch(ignore); // awaited one chunk later
      await previousDone();
      before = running;
      queued += nTokens;
      if (takesLong) await previousDone();
      if (await stopped(running)) return { token: null, ran: queued };
    }
    const step = { position: position + queued, nTokens: ids.length - queued };
    const list = this.passAt(step);
    const token = this.run(list, step);
    token.catch(ignore); // the caller awaits the promise later
    await previousDone();
    this.watchClosely(token, step.nTokens, list);
    return { token };
  }

  /** Watches for the token of a prompt whose last pass has `nTokens` tokens. */
  private watchClosely(token: Promise<Arrival>, nTokens: number, list: CommandList): void {
    const { promptTimes } = this;
    const begun = performance.now();
    this.gpu.watch.closely(token, promptTimes.expected(nTokens));
    const remember = () => promptTimes.add(nTokens, list.operations, performance.now() - begun);
    token.then(remember, ignore);
  }

  goOn(ids: Uint32Array<ArrayBuffer>, place?: Place): void {
    const next = ids.length - 1;
    this.llama.writeTokens(ids.slice(next), next);
    if (place) this.llama.setPlace(ids.length, place);
    this.timedFrom = next;
  }

  decode(position: number): Promise<Arrival> {
    this.decodedAt = position;
    const step = { position, nTokens: 1 };
    return this.run(this.passAt(step), step, this.stamps(position));
  }

  /** One pass if the step travels in the commands. A uniform must be rewritten between submits. */
  decodeMany(position: number, count: number): Promise<Arrival> {
    const { gpu, llama } = this;
    if (gpu.failure) return Promise.reject(gpu.failure);
    this.decodedAt = position + count - 1;
    const lists = Array.from({ length: count }, (_, i): ListAtStep => {
      const step = { position: position + i, nTokens: 1 };
      return { list: llama.pass(1, this.endOf(step), step.position), step };
    });
    let encoder = gpu.device.createCommandEncoder();
    if (gpu.can.immediates) recordPass(gpu, encoder, lists, this.stamps(position, count));
    else {
      for (const [i, list] of lists.entries()) {
        if (i > 0) {
          gpu.submit(encoder.finish());
          encoder = gpu.device.createCommandEncoder();
        }
        recordPass(gpu, encoder, [list], this.stamps(position + i));
      }
    }
    return this.submitAndRead(encoder, position + 1, count);
  }

  /** The end of the pass at a step. */
  private endOf({ position, nTokens }: Step): SampleEnd {
    return position + nTokens < this.biasedUntil ? this.end : this.unbiasedEnd;
  }

  /** Submits passes with the copy of their ids, from `position` on, and of what was reported with them. */
  private submitAndRead(encoder: GPUCommandEncoder, position: number, count: number): Promise<Arrival> {
    const { gpu, llama, readback, logprobs } = this;
    const target = readback.copy(encoder, llama.tokens, 4 * position, count);
    if (logprobs === null) {
      gpu.submit(encoder.finish());
      return count > 1 ? readback.readMany(target, count) : readback.read(target);
    }
    const entry = entryWords(logprobs);
    const size = LOGPROBS_RING * entry;
    const range = { first: (position * entry) % size, words: count * entry, size };
    readback.addFromRing(encoder, target, count, llama.logprobs, range);
    gpu.submit(encoder.finish());
    return readback.readMany(target, count + range.words).then((words) => readLogprobs(words, count, logprobs));
  }

  async embed(ids: Uint32Array<ArrayBuffer>, stopped: Stopped): Promise<{ vector: Promise<Float32Array> | null }> {
    const { VectorReader } = await arrived(import('./vector_reader'));
    this.vectorReader ??= await VectorReader.create(this.gpu, this.llama);
    return this.vectorReader.read(ids, stopped);
  }

  private stamps(position: number, count = 1): GPUComputePassTimestampWrites | undefined {
    return this.timed && position >= this.timedFrom ? this.clock?.next(count) : undefined;
  }

  stepGaveUp(position: number): string | null {
    this.clock?.restart(Math.max(0, position - this.timedFrom));
    return this.llama.stepGaveUp(position);
  }

  findNotFinite(ids: Uint32Array<ArrayBuffer>): Promise<string | null> {
    return this.llama.findNotFinite(ids);
  }

  async stepTimes(): Promise<number[] | null> {
    return this.timed && this.clock ? this.clock.read() : null;
  }

  /**
   * Runs every pipeline once: costs 5 ms of the load and saves 1 ms of the first TTFT on an H200, more if drivers
   * compile late.
   */
  async warmUp(): Promise<void> {
    await this.llama.pass(2, 'sample', 0).run({ position: 0, nTokens: 2 });
    await this.warmUpStep();
    await this.gpu.settled();
    this.clock?.restart();
    const start = performance.now();
    await this.warmUpStep(this.clock?.next());
    const waitedMs = performance.now() - start; // includes the readback
    const [gpuMs = 0] = (await this.clock?.read()) ?? [];
    this.stepBoundMs = gpuMs > 0 ? gpuMs : waitedMs;
    this.witness = await this.llama.witnessed.runWitness();
  }

  async rechecker(): Promise<(stopped: () => boolean) => Promise<string | null>> {
    const { recheck } = await arrived(import('../../tune/witness'));
    const decoder = () => this.attention.decode;
    return async (stopped) => {
      const { gpu, llama, witness } = this;
      return witness && recheck({ gpu, llama, witness, decoder }, stopped);
    };
  }

  private async warmUpStep(stamps?: GPUComputePassTimestampWrites): Promise<void> {
    const step = { position: 0, nTokens: 1 };
    if ((await this.run(this.passAt(step), step, stamps)) === GAVE_UP) this.stepGaveUp(0);
  }

  /** The pass whose last token is followed by the next one. */
  private passAt(step: Step): CommandList {
    return this.llama.pass(step.nTokens, this.endOf(step), step.position);
  }

  private run(list: CommandList, step: Step, stamps?: GPUComputePassTimestampWrites): Promise<Arrival> {
    if (this.gpu.failure) return Promise.reject(this.gpu.failure);
    const waits = list.runCuts(step);
    return waits ? waits.then(() => this.submit(list, step)) : this.submit(list, step, stamps);
  }

  /** Submits the rest of a pass after its last cut, and the copy of its id. */
  private submit(list: CommandList, step: Step, stamps?: GPUComputePassTimestampWrites): Promise<Arrival> {
    const encoder = this.gpu.device.createCommandEncoder();
    list.record(encoder, step, stamps);
    return this.submitAndRead(encoder, step.position + step.nTokens, 1);
  }

  async tune(onResult: OnTuneResult, stopped: () => boolean): Promise<TuneOutcome> {
    const { llama, attentionKey } = this;
    const { checkTunable, tuneModel } = await arrived(import('../../tune/tune'));
    checkTunable(llama.asked);
    const { attention, products, results } = await this.gpu.trial('Tuning', () =>
      tuneModel(this.gpu, llama.tunable, onResult, stopped),
    );
    await llama.retune(attention, products);
    this.decodedAt = 0;
    if (this.witness) this.witness = await llama.witnessed.runWitness(); // other products may round otherwise
    const stored =
      attentionKey !== null &&
      (await storeProfile(this.gpu, { attention: { [attentionKey]: attention }, ...products })) !== null;
    return { results, attention: this.attention, step: this.step, stored };
  }

  async roofline(stopped: () => boolean): Promise<Roofline> {
    const { measureRoofline } = await arrived(import('../../tune/roofline'));
    this.measured ??= await this.gpu.trial('Measuring memory', () => measureRoofline(this.gpu, stopped));
    return this.measured;
  }

  get failing(): Promise<Error> {
    return this.gpu.failing;
  }

  explain(error: unknown): Promise<unknown> {
    return this.gpu.explain(error);
  }

  destroy(): void {
    this.gpu.destroy();
  }
}

function ignore(): void {}
