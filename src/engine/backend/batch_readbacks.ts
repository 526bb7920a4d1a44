// What the steps of a batch bring back: ids; log probabilities and the GPU's times, where some request asks for them.

import type { Gpu } from '../../gpu/device';
import { WordReadback } from '../../gpu/readback';
import { type Batch, ENTRY_WORDS, REPORT_WORDS, RING_WORDS, SLOTS } from '../../model/batch/batch';
import { entryWords, readLogprobs } from '../../sampling/logprobs';
import { type Arrival, BATCH_DEPTH, type BatchArrivals, MOST_TOGETHER } from './backend';
import { BatchClock, msBetween, STAMP_WORDS, type Stamps } from './batch_clock';

type Steps = readonly ReturnType<Batch['next']>[];

type SlotArrival = Exclude<Arrival, number>;

export class BatchReadbacks {
  /** The likeliest tokens that each slot reports. Null: no log probabilities. */
  readonly most: (number | null)[] = Array(SLOTS).fill(null);
  private ids: WordReadback | null = null;
  /** Of ids with reports. Made by the first request that asks for one. */
  private reports: WordReadback | null = null;
  /** Made by the first request that asks for the GPU's times, where the GPU has a clock. */
  private clock: BatchClock | null = null;

  constructor(
    private readonly gpu: Gpu,
    private readonly batch: Batch,
  ) {}

  /** @throws GpuMemoryError */
  async open(): Promise<void> {
    this.ids = await this.make(SLOTS);
  }

  /** @throws GpuMemoryError */
  async openReports(): Promise<void> {
    this.reports ??= await this.make(SLOTS + REPORT_WORDS);
  }

  /** @throws GpuMemoryError */
  async openClock(): Promise<void> {
    const { gpu } = this;
    if (gpu.can.timestamps) this.clock ??= await gpu.guardMemory('The clock of a batch', () => new BatchClock(gpu));
  }

  /** The stamps of the next submit, or null without a clock. */
  stamps(): Stamps | null {
    return this.clock?.next() ?? null;
  }

  private make(words: number): Promise<WordReadback> {
    const make = () => new WordReadback(this.gpu, BATCH_DEPTH + 1, MOST_TOGETHER * words + STAMP_WORDS);
    return this.gpu.guardMemory('The readback of a batch', make);
  }

  /** Records the copies of what steps bring. The returned function reads them, behind the submit. */
  copy(encoder: GPUCommandEncoder, steps: Steps, stamps: Stamps | null): () => Promise<BatchArrivals> {
    const { tokens, ring } = this.batch;
    const [{ at: first, reportAt }] = steps;
    const idWords = SLOTS * steps.length;
    const readback = (reportAt === null ? this.ids : this.reports) as WordReadback; // made before
    const target = readback.copy(encoder, tokens, 4 * first, SLOTS);
    for (const [i, { at }] of steps.entries()) {
      if (i > 0) encoder.copyBufferToBuffer(tokens, 4 * at, target, 4 * SLOTS * i, 4 * SLOTS);
    }
    const reports = reportAt === null || !ring ? null : { ring, first: reportAt, words: REPORT_WORDS * steps.length };
    if (reports) readback.addFromRing(encoder, target, idWords, reports.ring, { ...reports, size: RING_WORDS });
    const most = this.most.map((likeliest) => reports && likeliest);
    const words = idWords + (reports?.words ?? 0);
    stamps?.resolve(encoder, target, words);
    return async () => {
      const read = await readback.readMany(target, words + (stamps ? STAMP_WORDS : 0));
      const stepMs = stamps && msBetween(read.slice(words)) / steps.length;
      return { slots: arrivals(read, steps.length, most), stepMs };
    };
  }

  destroy(): void {
    this.ids?.destroy();
    this.reports?.destroy();
    this.clock?.destroy();
  }
}

/** Splits ids (count, SLOTS) and entries (count, SLOTS, ENTRY_WORDS) by slot. */
function arrivals(words: Uint32Array, count: number, most: readonly (number | null)[]): SlotArrival[] {
  return most.map((likeliest, slot) => {
    const size = likeliest === null ? 0 : entryWords(likeliest);
    const own = new Uint32Array(count * (1 + size));
    for (let i = 0; i < count; i++) {
      const at = SLOTS * i + slot;
      const entry = SLOTS * count + at * ENTRY_WORDS;
      own[i] = words[at];
      own.set(words.subarray(entry, entry + size), count + i * size);
    }
    return likeliest === null ? own : readLogprobs(own, count, likeliest);
  });
}
