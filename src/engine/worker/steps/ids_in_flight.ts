// The steps between this thread and the GPU: queues them ahead of the answer and hands their ids back in order.

import { GAVE_UP } from '../../../sampling/sampling';
import type { Arrival, Backend } from '../../backend/backend';
import type { RunAhead } from './run_ahead';
import type { TokenClock } from './token_clock';

/** Token i of the answer sits at position `promptLength + i`; the step that reads it brings token i + 1. */
export class IdsInFlight {
  /** Tokens asked for so far, arrived or not. */
  queued = 0;
  /** Tokens that may be asked for. */
  most = 0;
  /** True while a batch queues the steps: their arrivals tell nothing of steps of one request. */
  isBeside = false;
  /** Decode steps that were queued in vain, because a step before them gave up, and those that gave up. */
  discarded = 0;
  private arrived = 0;
  private promptLength = 0;
  private readonly readbacks: Promise<Arrival>[] = [];
  /** The readback that the loop took last, and how many ids had arrived before it. */
  private newest: Promise<Arrival> | null = null;
  private arrivedBefore = 0;
  /** True until the step that gave up has been queued again, by itself. */
  private repeats = false;

  constructor(
    private readonly backend: Backend,
    private readonly clock: TokenClock,
    private readonly runAhead: RunAhead,
  ) {}

  /** Begins behind `promptLength` ids, for at most `most` tokens. All steps in flight must have settled. */
  begin(promptLength: number, most: number): void {
    this.promptLength = promptLength;
    this.most = most;
    this.arrived = 0;
    this.rewind();
    this.discarded = 0;
    this.repeats = false;
  }

  /** Adds a readback of `count` ids, whose recording began at `recordedAt`. */
  add(readback: Promise<Arrival>, count: number, recordedAt: number): void {
    readback.catch(ignore); // `next` reports the failure in its turn
    this.readbacks.push(readback);
    this.queued += count;
    for (let i = 0; i < count; i++) this.clock.records(recordedAt);
  }

  get isEmpty(): boolean {
    return this.readbacks.length === 0;
  }

  /** The position of the token that the next step to be queued reads. */
  get position(): number {
    return this.promptLength + this.queued - 1;
  }

  /** The position of the token that the first step in flight read. */
  get start(): number {
    return this.promptLength - 1;
  }

  /** Queues steps up to the depth of the run-ahead, as far as the answer may go. */
  fill(): void {
    const { backend, runAhead, most } = this;
    while (this.readbacks.length < backend.maxRunAhead && this.queued < most) {
      const count = this.repeats ? 1 : Math.min(runAhead.shared, most - this.queued);
      if (this.queued - this.arrived + count > runAhead.depth) break;
      const { position } = this;
      const now = performance.now();
      const readback = count > 1 && backend.decodeMany ? backend.decodeMany(position, count) : backend.decode(position);
      this.repeats = false;
      this.add(readback, count, now);
    }
  }

  /** The oldest readback. Its ids count as arrived once `land` has been called for each. */
  next(): Promise<Arrival> {
    this.clock.waits();
    this.arrivedBefore = this.arrived;
    this.newest = this.readbacks.shift() as Promise<Arrival>;
    return this.newest;
  }

  /** Takes the time of the next id, which the reader has or has not been told. Returns true for the first id of all. */
  land(isTold: boolean): boolean {
    this.clock.arrived(isTold);
    if (!this.isBeside) this.runAhead.arrived(this.clock.last);
    return this.arrived++ === 0;
  }

  /**
   * Waits for all steps in flight. Their ids are dropped and their positions are dead. Returns the position of the
   * first step that gave up, or null.
   * @throws the first failure, after the last step
   */
  async settle(): Promise<number | null> {
    const rest = this.newest ? [this.newest, ...this.readbacks] : this.readbacks;
    const settled = await Promise.allSettled(rest);
    let position = this.promptLength + this.arrivedBefore - 1;
    let gaveUpAt: number | null = null;
    for (const step of settled) {
      if (step.status === 'rejected') throw step.reason;
      for (const id of idsOf(step.value)) {
        if (id === GAVE_UP) gaveUpAt ??= position;
        position++;
      }
    }
    return gaveUpAt;
  }

  /** Makes the step after the newest token the next to be queued. All steps in flight must have settled. */
  rewind(): void {
    this.readbacks.length = 0;
    this.newest = null;
    this.arrivedBefore = this.arrived;
    this.discarded += this.queued - this.arrived;
    this.queued = this.arrived;
    this.repeats = true;
    this.clock.forgets();
    this.runAhead.restart(); // the pause is no lateness of readbacks
  }
}

function idsOf(arrival: Arrival): Iterable<number> {
  if (typeof arrival === 'number') return [arrival];
  return 'ids' in arrival ? arrival.ids : arrival;
}

function ignore(): void {}
