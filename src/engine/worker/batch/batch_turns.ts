// The batch of running requests: steps for all of them at once, and gives way to prompts and to requests that it cannot
// step for. Each request reads its own ids, as if it were alone; who joins and who leaves is decided between steps.

import type { Place } from '../../../cpu/grammar';
import { GpuMemoryError } from '../../../errors';
import type { GpuCounters } from '../../../gpu/device';
import { automatonBytes } from '../../../grammar/packed';
import type { SamplingParams } from '../../../sampling/sampling';
import { mostThatFit } from '../../../shared/most_that_fit';
import {
  BATCH_DEPTH,
  type Batching,
  type BatchMember,
  MOST_AUTOMATON_BYTES,
  MOST_TOGETHER,
  type SlotKv,
} from '../../backend/backend';
import { LEAST_TOKENS } from '../prefix_cache/branch_plan';
import { systemTokens } from '../request/prompt';
import { dropsAnswer, withMemory } from '../request/reuse';
import type { Session } from '../request/session';
import type { Answer } from '../steps/answer';
import type { IdsInFlight } from '../steps/ids_in_flight';
import { RunAhead } from '../steps/run_ahead';
import type { TokenClock } from '../steps/token_clock';
import type { AnswerBeside, Constrained, StepsBeside } from '../turns/beside';
import { Pause } from '../turns/pause';
import type { Turn, Turns } from '../turns/turns';

/** Fewer tokens of an answer are not worth the two copies. */
const WORTH_TOKENS = 16;
/** Room of a slot beyond the conversation that makes fewer slots the better choice. */
const GOOD_ROOM = 256;
/** Rooms of slots differ by so many positions, where memory is short. */
const ROOM_STEP = 256;
/** Most of the free budget that slots take: conversations beside them are worth the rest. */
const SLOTS_SHARE = 3 / 4;

/** Slots, and positions of each. */
type BatchShape = Pick<Batching, 'slots' | 'room'>;

/** A request that joins. */
interface Joining {
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

/** A request in the batch. */
class Seat {
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

  tell(): void {
    this.wake?.();
    this.wake = null;
  }
}

export class BatchTurns implements StepsBeside {
  private batching: Batching | null = null;
  /** Requests that step, and slots that are taken, also by one that joins or has left. */
  private readonly seats = new Set<Seat>();
  private readonly taken = new Set<number>();
  private hasChanged = false;
  private isRunning = false;
  /** Tokens of each conversation when it last asked for a seat, or left one. */
  private readonly lengths = new WeakMap<AnswerBeside, number>();
  /** Most positions of all slots together, as far as buffers and memory of this GPU have told. */
  private mostPositions = Number.POSITIVE_INFINITY;
  /** True where no batch can be made, whoever asks. */
  private isRefused = false;
  /** What steps of a batch cannot do on this GPU. */
  private readonly refused = new Set<'logprobs' | 'constraint'>();
  /** True once a fused step gave up: no step of this batch does anything any more. Those of the next are plain. */
  private isStuck = false;
  private isPlainFromNow = false;
  /** Readbacks in flight, the oldest first, each of so many steps. */
  private readonly flights: { arrivals: ReturnType<Batching['steps']>; steps: number }[] = [];
  private readonly runAhead = new RunAhead('auto', BATCH_DEPTH, MOST_TOGETHER);
  private wake: (() => void) | null = null;
  private preparing: { isOver: boolean } | null = null;
  /** The cost of a step by its requests, once a batch has told it. */
  private cost: Batching['cost'] | null = null;

  constructor(
    private readonly session: Session,
    private readonly turns: Turns,
    private readonly now: () => number,
  ) {}

  mayJoin(turns: AnswerBeside, answer: Answer, { position, most, queued }: IdsInFlight): boolean {
    const tokens = position + 1;
    this.lengths.set(turns, tokens);
    if (this.isRefused || this.isStuck || most - queued < WORTH_TOKENS) return false;
    if (!this.isPlain(turns) || !isCaughtUp(answer) || !this.hasSeat(tokens)) return false;
    const shape = this.batching ?? this.plan(tokens);
    return shape !== null && this.isWorth(shape) && this.isPrepared(shape);
  }

  /** True once the steps of such a batch are compiled; until then requests take turns. */
  private isPrepared({ slots, room }: BatchShape): boolean {
    if (!this.preparing) {
      const preparing = { isOver: false };
      const over = (canStep: boolean) => {
        preparing.isOver = true;
        this.isRefused = !canStep;
      };
      this.session.backend.prepareBatch?.(slots, room).then(over, () => over(true)); // who opens the batch hears of it
      this.preparing = preparing;
    }
    return this.preparing.isOver;
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
    this.lengths.set(turns, inFlight.position + 1); // where it has outgrown its slot, the others may be too few
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

  /** True if a batch does all that the answer asks of a step. */
  private isPlain({ asked: { constraint, sampling, runAhead }, turn }: AnswerBeside): boolean {
    if (runAhead.asked !== 'auto' || turn === undefined) return false;
    if (sampling.logprobs !== null && this.refused.has('logprobs')) return false;
    if (!constraint) return true;
    return !this.refused.has('constraint') && automatonBytes(constraint.automaton) <= MOST_AUTOMATON_BYTES;
  }

  /** Running requests that could step together in slots of so many positions. */
  private candidates(room: number): number {
    const running = [...(this.session.batches?.running ?? [])];
    const lengthOf = (turns: AnswerBeside) => this.lengths.get(turns) ?? turns.asked.prompt.length + 1;
    return running.filter((turns) => this.isPlain(turns) && lengthOf(turns) + WORTH_TOKENS <= room).length;
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
    let what: 'logprobs' | 'constraint' = 'logprobs';
    try {
      if (sampling.logprobs !== null) await withMemory(this.session, () => batching.reportLogprobs());
      what = 'constraint';
      if (constraint) await withMemory(this.session, () => batching.constrain(slot, constraint));
      if (timed) await batching.openClock().catch(() => {}); // without memory for it the times are null
      return true;
    } catch {
      this.refused.add(what);
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

  /** The slots of a batch for a conversation of so many tokens, and the room of each. Null: no room for two. */
  private plan(tokens: number): BatchShape | null {
    const { backend, branches } = this.session;
    if (!branches) return null;
    const most = backend.contextLength;
    for (let slots = this.turns.most; slots > 1; slots--) {
      const bound = Math.min(most, Math.floor(this.mostPositions / slots));
      const fits = mostThatFit(bound, (each) => slots * branches.bytesOf(each) <= SLOTS_SHARE * branches.free);
      // Sizes that come again find their shaders compiled.
      const room = fits < most && fits > ROOM_STEP ? fits - (fits % ROOM_STEP) : fits;
      if (room >= Math.min(most, tokens + (slots > 2 ? GOOD_ROOM : WORTH_TOKENS))) return { slots, room };
    }
    return null;
  }

  /** Makes a batch with room for a conversation, or notes why there is none. */
  private async open(ids: Uint32Array<ArrayBuffer>): Promise<void> {
    const { session } = this;
    const { backend, branches } = session;
    const plan = this.plan(ids.length);
    if (!branches || !backend.batch || !plan) return;
    branches.slotBytes = plan.slots * branches.bytesOf(plan.room);
    branches.evictFor(0);
    const least = ids.length + WORTH_TOKENS;
    const asked = { ...plan, ids, least, plain: this.isPlainFromNow };
    try {
      const make = async () => (await backend.batch?.(asked)) ?? null;
      this.batching = await withMemory(session, make);
      const { slots, room, cost } = this.batching ?? { slots: 2, room: least - 1, cost: this.cost };
      if (room < plan.room) this.mostPositions = slots * room;
      this.cost = cost;
    } catch (error) {
      if (error instanceof GpuMemoryError) this.mostPositions = (plan.slots * plan.room) / 2;
      else this.isRefused = true; // steps are wrong on this GPU
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
      for (const seat of this.seats) this.dismiss(seat);
      this.isRunning = false;
      this.closeUnused();
      turn?.leave();
    }
  }

  /** One turn of the loop: queues steps, reads the oldest, or rests where nothing is in flight. */
  private async go(turn: Turn): Promise<void> {
    const { pause = new Pause() } = this.session;
    for (const seat of this.seats) if (seat.joining.stopped() || this.isOutgrown(seat)) this.dismiss(seat);
    const isWorth = this.isWorth(this.batching as Batching);
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
      for (const seat of this.seats) this.dismiss(seat);
      await this.change();
    } else if (![...this.seats].some((seat) => this.wants(seat))) {
      await this.change();
    }
  }

  /**
   * True where requests step faster together than in turns: there are two at least, and a step of the batch takes less
   * time than a step of each, as far as that is known.
   */
  private isWorth({ slots, room }: BatchShape): boolean {
    const together = Math.min(slots, this.candidates(room));
    return together > Math.max(1, this.cost?.(together) ?? 0);
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

  private members: readonly Seat[] = [];

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
    const now = this.now();
    const timed = members.some(({ joining }) => joining.timed);
    const arrivals = batching.steps(steps, timed);
    arrivals.catch(() => {}); // the requests read it
    this.flights.push({ arrivals, steps });
    for (const seat of members) {
      if (before && counters) addCalls(seat, before, counters);
      seat.batchSize = Math.max(seat.batchSize, members.length);
      const own = arrivals.then(({ slots, stepMs }) => {
        if (seat.joining.timed && stepMs !== null) seat.times.push(...Array<number>(steps).fill(stepMs));
        return slots[seat.slot];
      });
      seat.joining.inFlight.add(own, steps, now);
      seat.tell();
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

function addCalls({ calls }: Seat, before: GpuCounters, after: Readonly<GpuCounters>): void {
  for (const name of Object.keys(before) as (keyof GpuCounters)[]) {
    calls[name] = (calls[name] ?? 0) + after[name] - before[name];
  }
}
