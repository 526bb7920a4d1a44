// The batch of running requests: steps for all of them at once, and gives way to prompts and to requests that it cannot
// step for. Each request reads its own ids, as if it were alone; who joins and who leaves is decided between steps.

import { GpuMemoryError } from '../../../errors';
import { BATCH_DEPTH, type Batching, type BatchMember, MOST_TOGETHER } from '../../backend/backend';
import { LEAST_TOKENS } from '../prefix_cache/shared_prefix';
import { systemTokens } from '../request/prompt';
import { dropsAnswer, withMemory } from '../request/reuse';
import type { Session } from '../request/session';
import type { Answer } from '../steps/answer';
import type { IdsInFlight } from '../steps/ids_in_flight';
import { RunAhead } from '../steps/run_ahead';
import type { AnswerBeside, StepsBeside } from '../turns/beside';
import { Pause } from '../turns/pause';
import type { Turn, Turns } from '../turns/turns';
import { type BatchAbility, BatchPlan, WORTH_TOKENS } from './batch_plan';
import { type Joining, Seat } from './seat';

export class BatchTurns implements StepsBeside {
  private batching: Batching | null = null;
  /** Requests that step, and slots that are taken, also by one that joins or has left. */
  private readonly seats = new Set<Seat>();
  private readonly taken = new Set<number>();
  private hasChanged = false;
  private isRunning = false;
  /** True once a fused step gave up: no step of this batch does anything any more. Those of the next are plain. */
  private isStuck = false;
  private isPlainFromNow = false;
  /** Readbacks in flight, the oldest first, each of so many steps. */
  private readonly flights: { arrivals: ReturnType<Batching['steps']>; steps: number }[] = [];
  private readonly runAhead = new RunAhead('auto', BATCH_DEPTH, MOST_TOGETHER);
  private wake: (() => void) | null = null;
  private members: readonly Seat[] = [];
  private readonly plan: BatchPlan;

  constructor(
    private readonly session: Session,
    private readonly turns: Turns,
    private readonly now: () => number,
  ) {
    this.plan = new BatchPlan(session, () => turns.most, now);
  }

  mayJoin(turns: AnswerBeside, answer: Answer, { position, most, queued }: IdsInFlight): boolean {
    const { plan } = this;
    const tokens = position + 1;
    plan.note(turns, tokens);
    if (plan.isRefused || this.isStuck || most - queued < WORTH_TOKENS) return false;
    if (!plan.canStep(turns) || !isCaughtUp(answer) || !this.hasSeat(tokens)) return false;
    const shape = this.batching ?? plan.shapeFor(tokens);
    return shape !== null && plan.isWorth(shape) && plan.isPrepared(shape);
  }

  async step(turns: AnswerBeside, answer: Answer, inFlight: IdsInFlight, stopped: () => boolean): Promise<boolean> {
    const { session } = this;
    const { clock, asked } = turns;
    const { branches, backend } = session;
    const turn = turns.turn as Turn;
    const idsSoFar = () => Uint32Array.from([...asked.prompt, ...answer.heldIds]);
    const ids = idsSoFar();
    session.cachedIds = Array.from(ids.subarray(0, -1));
    const opened = backend.counters && { ...backend.counters };
    const place = asked.constraint?.placeAfter(answer.heldIds);
    const seat = await this.join({ ...asked, ids, place, inFlight, clock, stopped });
    if (opened) turns.count(opened); // of all requests, not of this one
    if (!seat || !branches) return false;
    const firstStep = inFlight.queued;
    turns.leaveBatch = (ended, reasoningTokens) => this.keep(seat, turns, ended, reasoningTokens);
    turns.dropAside();
    branches.keep(0); // what the cache holds is in the slot
    await turns.keepTimes().catch(() => {}); // a lost GPU fails the steps, too
    turns.isBeside = true;
    const before = backend.counters && { ...backend.counters };
    turn.rests = true;
    const back = turn.giveWay();
    try {
      while (answer.finishReason === null && (await seat.queued())) {
        if (answer.take(await inFlight.next()) === 'gave up') await this.gaveUp(seat);
        if (stopped()) answer.finishReason ??= 'abort';
      }
      if (stopped()) answer.finishReason ??= 'abort';
    } finally {
      this.leave(seat);
      turns.awayMs += seat.awayMs;
      turns.addTimes(seat.times.slice(0, inFlight.queued - firstStep));
      turns.batchSize = Math.max(turns.batchSize, seat.batchSize);
      if (before) turns.count(before, seat.calls);
    }
    if (answer.finishReason !== null) return true;
    this.plan.note(turns, inFlight.position + 1); // where it has outgrown its slot, the others may be too few
    const start = this.now();
    turn.comeBack();
    await back;
    const all = idsSoFar();
    await branches.bringBack(session, seat, all.slice(0, -1), () => systemTokens(asked.prompt, asked.chat, session));
    turns.leaveBatch = null;
    turns.isBeside = false;
    this.release(seat.slot);
    await turns.begin();
    backend.goOn(all, asked.constraint?.placeAfter(answer.heldIds));
    const ms = this.now() - start;
    clock.othersRan(ms);
    turns.awayMs += ms;
    return true;
  }

  /** Keeps the conversation of an answer that has ended here, as far as a later prompt may begin with it. */
  private async keep(seat: Seat, turns: AnswerBeside, answer: Answer, reasoningTokens: number): Promise<void> {
    const { session } = this;
    const { prompt, chat } = turns.asked;
    const { branches } = session;
    turns.leaveBatch = null;
    try {
      const isShort = dropsAnswer(session, answer, reasoningTokens);
      const ids = Uint32Array.from(isShort ? prompt : [...prompt, ...answer.ids.slice(0, -1)]);
      const bytes = branches?.bytesOf(ids.length) ?? 0;
      if (!branches || answer.isBroken || ids.length < Math.max(LEAST_TOKENS, seat.kv.least) || bytes > branches.free)
        return;
      branches.evictFor(bytes);
      const kv = await seat.kv.shrink(ids.length);
      if (kv) branches.add(kv, ids, Math.min(ids.length, systemTokens(prompt, chat, session)), seat.kv);
    } finally {
      this.release(seat.slot);
    }
  }

  /** True where a batch, if there is one, has a slot left, with room for a conversation of so many tokens. */
  private hasSeat(tokens: number): boolean {
    const { batching, taken } = this;
    return !batching || (taken.size < batching.slots && tokens + WORTH_TOKENS <= batching.room);
  }

  /** A seat for the request that has the turn, or null where it has to take turns as ever. */
  private async join(joining: Joining): Promise<Seat | null> {
    const { ids } = joining;
    if (!this.batching) await this.open(ids);
    const { batching } = this;
    if (!batching || !this.hasSeat(ids.length)) return null;
    const slots = Array.from({ length: batching.slots }, (_, i) => i);
    const slot = slots.find((free) => !this.taken.has(free)) as number;
    this.taken.add(slot);
    if (!(await this.makeReady(batching, slot, joining))) {
      this.release(slot);
      return null;
    }
    const cached = ids.slice(0, -1);
    const kv = batching.fill(slot, cached, joining.sampling, joining.place);
    const seat = new Seat(slot, kv, joining, ids[cached.length]);
    joining.inFlight.isBeside = true;
    this.seats.add(seat);
    this.changed();
    if (!this.isRunning) void this.run();
    return seat;
  }

  /** Ends a request's part in the steps to come. Its keys and values stay until `release`. */
  private leave(seat: Seat): void {
    seat.joining.inFlight.isBeside = false;
    seat.kv.wrote(seat.joining.inFlight.position);
    this.seats.delete(seat);
    this.changed();
  }

  /** Makes steps do what a request asks. False where this GPU refuses it: such requests take turns. */
  private async makeReady(batching: Batching, slot: number, joining: Joining): Promise<boolean> {
    const { sampling, constraint, timed } = joining;
    let what: BatchAbility = 'logprobs';
    try {
      if (sampling.logprobs !== null) await withMemory(this.session, () => batching.reportLogprobs());
      what = 'constraint';
      if (constraint) await withMemory(this.session, () => batching.constrain(slot, constraint));
      if (timed) await batching.openClock().catch(() => {}); // without memory for it the times are null
      return true;
    } catch {
      this.plan.refused.add(what);
      return false;
    }
  }

  /** Frees the slot of a request that has left. */
  private release(slot: number): void {
    this.taken.delete(slot);
    this.closeUnused();
  }

  /** Makes a request go on by itself, from the last id that arrived. */
  private async gaveUp(seat: Seat): Promise<void> {
    const { inFlight } = seat.joining;
    this.isStuck = true;
    this.isPlainFromNow = true;
    seat.isLeaving = true;
    await inFlight.settle();
    inFlight.rewind();
  }

  private changed(): void {
    this.hasChanged = true;
    this.wake?.();
    this.wake = null;
  }

  /** Makes a batch with room for a conversation, or notes why there is none. */
  private async open(ids: Uint32Array<ArrayBuffer>): Promise<void> {
    const { session } = this;
    const { backend, branches } = session;
    const { plan } = this;
    const shape = plan.shapeFor(ids.length);
    if (!branches || !backend.batch || !shape) return;
    branches.slotBytes = shape.slots * branches.bytesOf(shape.room);
    branches.evictFor(0);
    const least = ids.length + WORTH_TOKENS;
    const asked = { ...shape, ids, least, plain: this.isPlainFromNow };
    try {
      const make = async () => (await backend.batch?.(asked)) ?? null;
      this.batching = await withMemory(session, make);
      const { slots, room } = this.batching ?? { slots: 2, room: least - 1 };
      if (room < shape.room) plan.mostPositions = slots * room;
      if (this.batching) plan.learnCost(this.batching);
    } catch (error) {
      if (error instanceof GpuMemoryError) plan.mostPositions = (shape.slots * shape.room) / 2;
      else plan.isRefused = true; // steps are wrong on this GPU
    }
    if (!this.batching) branches.slotBytes = 0;
  }

  /** Steps until nobody is left, among the requests that take turns. */
  private async run(): Promise<void> {
    this.isRunning = true;
    const stopped = () => [...this.seats].some(({ joining }) => joining.stopped());
    const turn = await this.turns.enter({ stopped, isBatch: true });
    try {
      while (turn && this.seats.size > 0) await this.go(turn);
    } catch {
      // Each request reads the failure with its ids.
    } finally {
      await Promise.allSettled(this.flights.splice(0).map(({ arrivals }) => arrivals));
      for (const seat of this.seats) seat.dismiss();
      this.isRunning = false;
      this.closeUnused();
      turn?.leave();
    }
  }

  /** One turn of the loop: queues steps, reads the oldest, or rests where nothing is in flight. */
  private async go(turn: Turn): Promise<void> {
    const { pause = new Pause() } = this.session;
    for (const seat of this.seats) if (seat.joining.stopped() || this.isOutgrown(seat)) seat.dismiss();
    const isWorth = this.plan.isWorth(this.batching as Batching) || this.isNearEnd;
    const rests = pause.isOn || turn.isOver || !isWorth;
    if (!rests) this.fill();
    const oldest = this.flights.shift();
    if (oldest) {
      await oldest.arrivals;
      for (let i = 0; i < oldest.steps; i++) this.runAhead.arrived(this.now());
      return;
    }
    if (turn.isOver) {
      const start = this.now();
      await turn.giveWay();
      const ms = this.now() - start;
      for (const seat of this.seats) {
        seat.awayMs += ms;
        seat.joining.clock.othersRan(ms);
      }
      this.runAhead.restart();
    } else if (pause.isOn) {
      await pause.over(() => [...this.seats].some(({ joining }) => joining.stopped()));
      this.runAhead.restart();
    } else if (!isWorth) {
      for (const seat of this.seats) seat.dismiss();
      await this.change();
    } else if (![...this.seats].some((seat) => this.wants(seat))) {
      await this.change();
    }
  }

  /** Resolves when a request has joined or left. */
  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private wants(seat: Seat): boolean {
    const { inFlight, stopped } = seat.joining;
    return !seat.isLeaving && !stopped() && inFlight.queued < inFlight.most && !this.isOutgrown(seat);
  }

  /** True where each request has too few tokens to go for the copies of leaving. */
  private get isNearEnd(): boolean {
    return [...this.seats].every(({ joining: { inFlight } }) => inFlight.most - inFlight.queued < WORTH_TOKENS);
  }

  private isOutgrown({ joining }: Seat): boolean {
    return joining.inFlight.position >= (this.batching?.room ?? 0);
  }

  /** Queues steps up to the depth of the run-ahead, for the requests that want one. */
  private fill(): void {
    const batching = this.batching as Batching;
    const { flights, runAhead } = this;
    while (flights.length < BATCH_DEPTH) {
      const members = [...this.seats].filter((seat) => this.wants(seat));
      const count = Math.min(runAhead.shared, ...members.map((seat) => this.leftOf(seat)));
      const queued = flights.reduce((sum, { steps }) => sum + steps, 0);
      if (members.length === 0 || queued + count > runAhead.depth) return;
      if (this.hasChanged || members.length !== this.members.length) this.setMembers(members);
      this.queue(batching, members, count);
    }
  }

  /** Steps that a request may still take here. */
  private leftOf({ joining: { inFlight } }: Seat): number {
    return Math.min(inFlight.most - inFlight.queued, (this.batching?.room ?? 0) - inFlight.position);
  }

  private setMembers(members: readonly Seat[]): void {
    this.members = members;
    this.hasChanged = false;
    const rows = members.map(
      ({ slot, joining, id }): BatchMember => ({ slot, position: joining.inFlight.position, id }),
    );
    this.batching?.setMembers(rows);
    for (const seat of members) seat.id = undefined;
  }

  private queue(batching: Batching, members: readonly Seat[], steps: number): void {
    const { counters } = this.session.backend;
    const before = counters && { ...counters };
    const queuedAt = this.now();
    const timed = members.some(({ joining }) => joining.timed);
    const arrivals = batching.steps(steps, timed);
    arrivals.catch(() => {}); // the requests read it
    this.flights.push({ arrivals, steps });
    for (const seat of members) {
      if (before && counters) seat.count(before, counters);
      seat.add({ count: steps, requests: members.length, arrivals, queuedAt });
    }
  }

  private closeUnused(): void {
    if (this.isRunning || this.taken.size > 0) return;
    this.batching?.destroy();
    this.batching = null;
    this.isStuck = false;
    this.members = [];
    const { branches } = this.session;
    if (branches) branches.slotBytes = 0;
  }
}

/** True once no told id is left to be run again. */
function isCaughtUp({ heldIds, ids }: Answer): boolean {
  return heldIds.length === ids.length;
}
