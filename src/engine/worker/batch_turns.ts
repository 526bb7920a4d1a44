// The batch of running requests: steps for all of them at once, and gives way to prompts and to requests that it cannot
// step for. Each request reads its own ids, as if it were alone; who joins and who leaves is decided between steps.

import type { GpuCounters } from '../../gpu/device';
import type { SamplingParams } from '../../sampling/sampling';
import type { BatchMember, Batching, SlotKv } from '../backend/backend';
import type { IdsInFlight } from './ids_in_flight';
import { Pause } from './pause';
import { withMemory } from './reuse';
import { RunAhead } from './run_ahead';
import type { Session } from './session';
import type { TokenClock } from './token_clock';
import type { Turn, Turns } from './turns';

/** Steps in flight, at most: the batch's readbacks. */
const MOST_IN_FLIGHT = 32;
/** Fewer tokens of an answer are not worth the two copies. */
const WORTH_TOKENS = 16;
/** Room of a slot beyond the conversation that makes fewer slots the better choice. */
const GOOD_ROOM = 256;

interface Joining {
  /** Of the conversation: all but the last are in the cache. */
  ids: Uint32Array;
  sampling: SamplingParams;
  inFlight: IdsInFlight;
  clock: TokenClock;
  stopped: () => boolean;
}

/** A request in the batch. */
export class Seat {
  /** Calls of the steps that it took part in. */
  readonly calls: Partial<Record<keyof GpuCounters, number>> = {};
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

  tell(): void {
    this.wake?.();
    this.wake = null;
  }
}

export class BatchTurns {
  private batching: Batching | null = null;
  /** Requests that step, and those whose slots are taken. */
  private readonly seats = new Set<Seat>();
  private readonly taken = new Set<Seat>();
  private hasChanged = false;
  private isRunning = false;
  /** True where a batch could not be made. */
  private isRefused = false;
  /** Steps in flight, the oldest first. */
  private readonly steps: Promise<unknown>[] = [];
  private readonly runAhead = new RunAhead('auto', MOST_IN_FLIGHT);
  private wake: (() => void) | null = null;

  constructor(
    private readonly session: Session,
    private readonly turns: Turns,
  ) {}

  /** True if a request with so many ids, of which `left` are to come, may find a seat. */
  suits(tokens: number, left: number): boolean {
    const { batching, taken, isRefused } = this;
    if (isRefused || left < WORTH_TOKENS) return false;
    return !batching || (taken.size < batching.slots && tokens + WORTH_TOKENS <= batching.room);
  }

  /** A seat for the request that has the turn, or null where it has to take turns as ever. */
  async join(joining: Joining): Promise<Seat | null> {
    const { ids } = joining;
    if (!(await this.open(ids.length)) || !this.suits(ids.length, WORTH_TOKENS)) return null;
    const batching = this.batching as Batching;
    const slots = Array.from({ length: batching.slots }, (_, i) => i);
    const slot = slots.find((free) => [...this.taken].every((seat) => seat.slot !== free)) as number;
    const tokens = ids.length - 1;
    const seat = new Seat(slot, batching.fill(slot, tokens, joining.sampling), joining, ids[tokens]);
    joining.inFlight.isBeside = true;
    this.seats.add(seat);
    this.taken.add(seat);
    this.changed();
    if (!this.isRunning) void this.run();
    return seat;
  }

  /** Ends a request's part in the steps to come. Its keys and values stay until `release`. */
  leave(seat: Seat): void {
    seat.joining.inFlight.isBeside = false;
    seat.kv.wrote(seat.joining.inFlight.position);
    this.seats.delete(seat);
    this.changed();
  }

  /** Frees the slot of a request that has left. */
  release(seat: Seat): void {
    this.taken.delete(seat);
    this.closeUnused();
  }

  private changed(): void {
    this.hasChanged = true;
    this.wake?.();
    this.wake = null;
  }

  private async open(tokens: number): Promise<boolean> {
    if (this.batching) return true;
    const { session, turns } = this;
    const { backend, branches } = session;
    if (!branches || !backend.batch) return false;
    const most = backend.contextLength;
    for (let slots = turns.most; slots > 1; slots--) {
      const room = branches.slotRoom(slots, most);
      if (room < Math.min(most, tokens + (slots > 2 ? GOOD_ROOM : WORTH_TOKENS))) continue;
      branches.reserveSlots(slots, room);
      try {
        const make = async () => (await backend.batch?.(slots, room)) ?? null;
        this.batching = await withMemory(session, make);
      } catch {
        // as where there is none
      }
      this.isRefused = !this.batching;
      if (this.isRefused) branches.reserveSlots(0, 0);
      return !this.isRefused;
    }
    return false;
  }

  /** Steps until nobody is left, among the requests that take turns. */
  private async run(): Promise<void> {
    this.isRunning = true;
    const stopped = () => [...this.seats].some(({ joining }) => joining.stopped());
    const turn = await this.turns.enter({ stopped, isBatch: true });
    try {
      while (this.seats.size > 0) await this.go(turn as Turn);
    } catch {
      // Each request reads the failure with its ids.
    } finally {
      await Promise.allSettled(this.steps.splice(0));
      for (const seat of this.seats) this.dismiss(seat);
      this.isRunning = false;
      this.closeUnused();
      turn?.leave();
    }
  }

  /** One turn of the loop: queues steps, reads the oldest, or rests where nothing is in flight. */
  private async go(turn: Turn): Promise<void> {
    const { pause = new Pause() } = this.session;
    const rests = pause.isOn || turn.isOver || this.isAlone;
    if (!rests) this.fill();
    const oldest = this.steps.shift();
    if (oldest) {
      await oldest;
      this.runAhead.arrived(performance.now());
      return;
    }
    for (const seat of this.seats) if (seat.joining.stopped() || this.isOutgrown(seat)) this.dismiss(seat);
    if (turn.isOver) {
      const start = performance.now();
      await turn.giveWay();
      const ms = performance.now() - start;
      for (const seat of this.seats) {
        seat.awayMs += ms;
        seat.joining.clock.othersRan(ms);
      }
      this.runAhead.restart();
    } else if (pause.isOn) {
      await pause.over(() => [...this.seats].some(({ joining }) => joining.stopped()));
      this.runAhead.restart();
    } else if (this.isAlone) {
      for (const seat of this.seats) this.dismiss(seat);
      await this.change();
    } else if (![...this.seats].some((seat) => this.wants(seat))) {
      await this.change();
    }
  }

  /** True where one request is left, whose own steps are faster. */
  private get isAlone(): boolean {
    return this.seats.size === 1 && (this.session.batches?.candidates ?? 0) < 2;
  }

  /** Resolves when a request has joined or left. */
  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private wants(seat: Seat): boolean {
    const { inFlight, stopped } = seat.joining;
    return !seat.isLeaving && !stopped() && inFlight.left > 0 && !this.isOutgrown(seat);
  }

  private isOutgrown({ joining }: Seat): boolean {
    return joining.inFlight.position >= (this.batching?.room ?? 0);
  }

  private dismiss(seat: Seat): void {
    seat.isLeaving = true;
    seat.tell();
  }

  /** Queues steps up to the depth of the run-ahead, for the requests that want one. */
  private fill(): void {
    const batching = this.batching as Batching;
    while (this.steps.length < Math.min(this.runAhead.depth, MOST_IN_FLIGHT)) {
      const members = [...this.seats].filter((seat) => this.wants(seat));
      if (members.length === 0) return;
      if (this.hasChanged || members.length !== this.members.length) this.setMembers(members);
      this.step(batching, members);
    }
  }

  private members: readonly Seat[] = [];

  private setMembers(members: readonly Seat[]): void {
    this.members = members;
    this.hasChanged = false;
    const rows = members.map(({ slot, joining, id }): BatchMember => ({ slot, position: joining.inFlight.position, id }));
    this.batching?.setMembers(rows);
    for (const seat of members) seat.id = undefined;
  }

  private step(batching: Batching, members: readonly Seat[]): void {
    const { counters } = this.session.backend;
    const before = counters && { ...counters };
    const now = performance.now();
    const step = batching.step();
    step.catch(() => {}); // the requests read it
    this.steps.push(step);
    for (const seat of members) {
      if (before && counters) addCalls(seat, before, counters);
      seat.joining.inFlight.add(
        step.then((ids) => ids[seat.slot]),
        1,
        now,
      );
      seat.tell();
    }
  }

  private closeUnused(): void {
    if (this.isRunning || this.taken.size > 0) return;
    this.batching?.destroy();
    this.batching = null;
    this.members = [];
    this.session.branches?.reserveSlots(0, 0);
  }
}

function addCalls({ calls }: Seat, before: GpuCounters, after: Readonly<GpuCounters>): void {
  for (const name of Object.keys(before) as (keyof GpuCounters)[]) {
    calls[name] = (calls[name] ?? 0) + after[name] - before[name];
  }
}
