// A request in a batch.

import type { Place } from '../../../cpu/grammar';
import type { GpuCounters } from '../../../gpu/device';
import type { SamplingParams } from '../../../sampling/sampling';
import type { BatchArrivals, SlotKv } from '../../backend/backend';
import type { IdsInFlight } from '../steps/ids_in_flight';
import type { TokenClock } from '../steps/token_clock';
import type { Constrained } from '../turns/beside';

/** A request that joins. */
export interface Joining {
  /** Of the conversation: all but the last are in the cache. */
  ids: Uint32Array<ArrayBuffer>;
  sampling: SamplingParams;
  constraint: Constrained | null;
  /** Where the document of a constraint stands behind the conversation. */
  place: Place | undefined;
  timed: boolean;
  inFlight: IdsInFlight;
  clock: TokenClock;
  stopped: () => boolean;
}

/** Steps that are queued together. */
interface QueuedSteps {
  count: number;
  /** Requests that they run for. */
  requests: number;
  arrivals: Promise<BatchArrivals>;
  queuedAt: number;
}

export class Seat {
  /** Calls of the steps that it took part in. */
  readonly calls: Partial<Record<keyof GpuCounters, number>> = {};
  /** The GPU's times of the steps that have arrived, where the request asks for them. */
  readonly times: number[] = [];
  /** The most requests that a step ran for. */
  batchSize = 1;
  isLeaving = false;
  /** Milliseconds in which others had the turn. */
  awayMs = 0;
  private wake: (() => void) | null = null;

  constructor(
    readonly slot: number,
    readonly kv: SlotKv,
    readonly joining: Joining,
    /** The token that its first step reads. */
    public id: number | undefined,
  ) {}

  /** Resolves when a step of the request is in flight, with false once no more will be. */
  async queued(): Promise<boolean> {
    const { inFlight, stopped } = this.joining;
    while (inFlight.isEmpty && !this.isLeaving && !stopped()) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return !inFlight.isEmpty;
  }

  /** Takes part in steps. */
  add({ count, requests, arrivals, queuedAt }: QueuedSteps): void {
    const { inFlight, timed } = this.joining;
    this.batchSize = Math.max(this.batchSize, requests);
    const own = arrivals.then(({ slots, stepMs }) => {
      if (timed && stepMs !== null) this.times.push(...Array<number>(count).fill(stepMs));
      return slots[this.slot];
    });
    inFlight.add(own, count, queuedAt);
    this.tell();
  }

  /** Takes note of the calls between two readings of the counters. */
  count(before: Readonly<GpuCounters>, after: Readonly<GpuCounters>): void {
    const { calls } = this;
    for (const name of Object.keys(before) as (keyof GpuCounters)[]) {
      calls[name] = (calls[name] ?? 0) + after[name] - before[name];
    }
  }

  /** Makes the request leave once nothing of it is in flight. */
  dismiss(): void {
    this.isLeaving = true;
    this.tell();
  }

  private tell(): void {
    this.wake?.();
    this.wake = null;
  }
}
