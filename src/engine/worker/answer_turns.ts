// The turns of one answer: what it sets aside when another request gets the cache, and brings back when it goes on.
// Its keys and values are the very ones of before, so that its text is the same as alone.

import type { GpuCounters } from '../../gpu/device';
import type { SamplingParams } from '../../sampling/sampling';
import type { Answer } from './answer';
import type { Seat } from './batch_turns';
import { samplesPlainly } from './batches';
import type { Aside } from './branches';
import type { Constrained } from './constrained';
import type { IdsInFlight } from './ids_in_flight';
import { type Prompt, systemTokens } from './prompt';
import { withMemory } from './reuse';
import type { RunAhead } from './run_ahead';
import type { Session } from './session';
import type { TokenClock } from './token_clock';
import type { Turn } from './turns';

interface Asked extends Pick<Prompt, 'chat'> {
  prompt: Uint32Array<ArrayBuffer>;
  sampling: SamplingParams;
  constraint: Constrained | null;
  /** Whether the GPU's own times of its steps are asked for. */
  timed: boolean;
  runAhead: RunAhead;
}

export class AnswerTurns {
  /** Milliseconds in which other requests ran. */
  awayMs = 0;
  private aside: Aside | null = null;
  /** Its seat in a batch, while its keys and values are there and not in the cache. */
  private seat: Seat | null = null;
  /** True if a batch can step for it. */
  private canJoin: boolean;
  private isCandidate = false;
  /** True once a batch has stepped for it: there is no clock for one request of many. */
  private isUntimed = false;
  /** The GPU's times of the steps of earlier turns. */
  private readonly earlierTimes: number[] = [];
  /** The calls of other requests since the answer began. */
  private readonly others: Partial<Record<keyof GpuCounters, number>> = {};

  /** @param turn absent where the answer never gives way */
  constructor(
    private readonly session: Session,
    private readonly clock: TokenClock,
    private readonly asked: Asked,
    private readonly turn?: Turn,
  ) {
    const { constraint, sampling, runAhead } = asked;
    const { batches, branches } = session;
    const isPlain = !constraint && samplesPlainly(sampling) && runAhead.isAuto;
    this.canJoin = isPlain && Boolean(turn && batches && branches);
  }

  /** True if others wait for a turn. */
  get isShared(): boolean {
    return this.turn?.isShared ?? false;
  }

  /** True if the answer shall give way, once nothing of it is in flight. */
  get isOver(): boolean {
    return this.turn?.isOver ?? false;
  }

  /** The backend's counters without the calls of other requests. */
  get counters(): Readonly<GpuCounters> | null {
    const { counters } = this.session.backend;
    if (!counters || (this.awayMs === 0 && !this.isUntimed)) return counters;
    const own = { ...counters };
    for (const name of namesOf(own)) own[name] -= this.others[name] ?? 0;
    return own;
  }

  /** Begins the request on the backend: once, and again in each turn. */
  async begin(): Promise<void> {
    const { backend } = this.session;
    const { sampling, timed, constraint } = this.asked;
    if (this.canJoin && !this.isCandidate) this.setCandidate(true);
    await withMemory(this.session, () => backend.begin(sampling, timed, constraint));
  }

  /** Lets others run between two steps, of which the next one reads the last of these ids of the answer. */
  async giveWayAfter(answerIds: readonly number[]): Promise<void> {
    const { prompt, constraint } = this.asked;
    const ids = Uint32Array.from([...prompt, ...answerIds]);
    if (await this.giveWay(ids.slice(0, -1))) this.session.backend.goOn(ids, constraint?.placeAfter(answerIds));
  }

  /**
   * Lets others run. The cache holds `ids` before and after. Returns false where there is no memory to set it aside:
   * the answer goes on to its end.
   */
  async giveWay(ids: Uint32Array<ArrayBuffer>): Promise<boolean> {
    const { session, turn } = this;
    const { branches, backend } = session;
    const { prompt, chat, timed } = this.asked;
    session.cachedIds = Array.from(ids);
    const aside = (await branches?.setAside(session, this.aside)) ?? null;
    this.aside = aside ?? this.aside;
    if (!branches || !aside || !turn) {
      turn?.stay();
      return false;
    }
    if (timed) this.earlierTimes.push(...((await backend.stepTimes()) ?? []));
    const before = backend.counters && { ...backend.counters };
    const start = performance.now();
    const wasAway = await turn.giveWay();
    const ownSystemTokens = () => systemTokens(prompt, chat, session);
    if (wasAway) await branches.bringBack(session, aside, ids, ownSystemTokens);
    else branches.goOn(ownSystemTokens);
    await this.begin();
    if (before) this.count(before);
    const ms = performance.now() - start;
    this.clock.othersRan(ms);
    this.awayMs += ms;
    return true;
  }

  private setCandidate(isCandidate: boolean): void {
    const { batches } = this.session;
    if (batches && isCandidate !== this.isCandidate) batches.candidates += isCandidate ? 1 : -1;
    this.isCandidate = isCandidate;
  }

  /** True if a batch is ready to step for the answer, behind which `left` tokens may come, once nothing is in flight. */
  mayJoin(tokens: number, left: number): boolean {
    const { batches } = this.session;
    if (!this.canJoin || !batches || batches.candidates < 2 || !this.isShared) return false;
    return batches.get()?.suits(tokens, left) ?? false;
  }

  /** True while keys and values of the answer are those of a batch. */
  get isBeside(): boolean {
    return this.seat !== null;
  }

  /**
   * Steps together with others until the answer ends or has to go on by itself, as it then can. Returns false where no
   * seat is free.
   */
  async stepBeside(answer: Answer, inFlight: IdsInFlight, stopped: () => boolean): Promise<boolean> {
    const { session, clock, turn, asked } = this;
    const { branches, backend } = session;
    const batch = session.batches?.get();
    const idsSoFar = () => Uint32Array.from([...asked.prompt, ...answer.heldIds]);
    const ids = idsSoFar();
    session.cachedIds = Array.from(ids.subarray(0, -1));
    const seat = await batch?.join({ ids, sampling: asked.sampling, inFlight, clock, stopped });
    if (!batch || !seat || !branches || !turn) {
      this.canJoin = false;
      this.setCandidate(false);
      return false;
    }
    this.seat = seat;
    this.isUntimed = true;
    branches.copied();
    this.dropAside();
    const before = backend.counters && { ...backend.counters };
    turn.rest();
    try {
      while (answer.finishReason === null && (await seat.queued())) {
        answer.take(await inFlight.next());
        if (stopped()) answer.finishReason ??= 'abort';
      }
      if (stopped()) answer.finishReason ??= 'abort';
    } finally {
      batch.leave(seat);
      this.awayMs += seat.awayMs;
      if (before) this.count(before, seat.calls);
    }
    if (answer.finishReason !== null) return true;
    const start = performance.now();
    await turn.comeBack();
    const all = idsSoFar();
    const ownSystemTokens = () => systemTokens(asked.prompt, asked.chat, session);
    await branches.bringBack(session, seat, all.slice(0, -1), ownSystemTokens);
    this.seat = null;
    batch.release(seat);
    await this.begin();
    backend.goOn(all);
    const ms = performance.now() - start;
    clock.othersRan(ms);
    this.awayMs += ms;
    return true;
  }

  /** Leaves a batch with an answer that has ended. `ids` are worth keeping for a later prompt. */
  async endBeside(ids: Uint32Array): Promise<void> {
    const { session, seat } = this;
    const { prompt, chat } = this.asked;
    if (!seat) return;
    this.seat = null;
    try {
      const tokens = Math.min(ids.length, systemTokens(prompt, chat, session));
      if (ids.length > 0) await session.branches?.adopt(seat.kv, ids, tokens);
    } finally {
      session.batches?.get()?.release(seat);
    }
  }

  /** The GPU's times of all steps. Null without a GPU clock, or after steps of a batch. */
  async stepTimes(): Promise<number[] | null> {
    if (this.isUntimed) return null;
    const newest = await this.session.backend.stepTimes();
    return newest && [...this.earlierTimes, ...newest];
  }

  /** Drops what was set aside. */
  end(): void {
    this.dropAside();
    this.setCandidate(false);
  }

  private dropAside(): void {
    if (this.aside) this.session.branches?.drop(this.aside);
    this.aside = null;
  }

  private count(before: GpuCounters, own: Partial<GpuCounters> = {}): void {
    const { counters } = this.session.backend;
    if (!counters) return;
    for (const name of namesOf(before)) {
      const others = counters[name] - before[name] - (own[name] ?? 0);
      this.others[name] = (this.others[name] ?? 0) + others;
    }
  }
}

function namesOf(counters: GpuCounters): (keyof GpuCounters)[] {
  return Object.keys(counters) as (keyof GpuCounters)[];
}
