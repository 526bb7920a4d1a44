// What the steps of a batch bring back: ids, and log probabilities where some request asks for them.

import type { Gpu } from '../../gpu/device';
import { WordReadback } from '../../gpu/readback';
import { type Batch, ENTRY_WORDS, REPORT_WORDS, RING_WORDS, SLOTS } from '../../model/batch/batch';
import { entryWords, readLogprobs } from '../../sampling/logprobs';
import { type Arrival, BATCH_DEPTH, MOST_TOGETHER } from './backend';

type Steps = readonly ReturnType<Batch['next']>[];

type SlotArrival = Exclude<Arrival, number>;

export class BatchReadbacks {
  /** The likeliest tokens that each slot reports. Null: no log probabilities. */
  readonly most: (number | null)[] = Array(SLOTS).fill(null);
  private ids: WordReadback | null = null;
  /** Of ids with reports. Made by the first request that asks for one. */
  private reports: WordReadback | null = null;

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

  private make(words: number): Promise<WordReadback> {
    const make = () => new WordReadback(this.gpu, BATCH_DEPTH + 1, MOST_TOGETHER * words);
    return this.gpu.guardMemory('The readback of a batch', make);
  }

  /** Records the copies of what steps bring. The returned function reads them, behind the submit. */
  copy(encoder: GPUCommandEncoder, steps: Steps): () => Promise<readonly SlotArrival[]> {
    const { tokens, ring } = this.batch;
    const [{ at: first, reportAt }] = steps;
    const idWords = SLOTS * steps.length;
    const readback = (reportAt === null ? this.ids : this.reports) as WordReadback; // made before
    const target = readback.copy(encoder, tokens, 4 * first, SLOTS);
    for (const [i, { at }] of steps.entries()) {
      if (i > 0) encoder.copyBufferToBuffer(tokens, 4 * at, target, 4 * SLOTS * i, 4 * SLOTS);
    }
    if (reportAt === null || !ring) {
      const none = this.most.map(() => null);
      return async () => arrivals(await readback.readMany(target, idWords), steps.length, none);
    }
    const words = REPORT_WORDS * steps.length;
    readback.addFromRing(encoder, target, idWords, ring, { first: reportAt, words, size: RING_WORDS });
    const most = [...this.most];
    return async () => arrivals(await readback.readMany(target, idWords + words), steps.length, most);
  }

  destroy(): void {
    this.ids?.destroy();
    this.reports?.destroy();
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
