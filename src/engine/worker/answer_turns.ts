// The turns of one answer: what it sets aside when another request gets the cache, and brings back when it goes on.
// Its keys and values are the very ones of before, so that its text is the same as alone.

import type { GpuCounters } from '../../gpu/device';
import type { Aside } from './prefix_cache/branches';
import { systemTokens } from './request/prompt';
import { withMemory } from './request/reuse';
import type { Session } from './request/session';
import type { Answer } from './steps/answer';
import type { IdsInFlight } from './steps/ids_in_flight';
import type { TokenClock } from './steps/token_clock';
import type { AnswerBeside, StepsBeside } from './turns/beside';
import type { Turn } from './turns/turns';

export class AnswerTurns implements AnswerBeside {
  /** Milliseconds in which other requests ran. */
  awayMs = 0;
  isBeside = false;
  batchSize = 1;
  /** Leaves a batch that has the keys and values of the answer. Null where the cache has them. */
  leaveBatch: ((answer: Answer, reasoningTokens: number) => Promise<void>) | null = null;
  /** The copy of what the answer has left to later prompts behind its end in a batch. */
  left: Promise<void> | null = null;
  private aside: Aside | null = null;
  /** The GPU's times of steps, from the first on, up to one that no clock has timed. */
  private readonly times: number[] = [];
  /** Steps that brought a token before the newest turn. */
  private earlierSteps = 0;
  /** The calls of other requests since the answer began. */
  private readonly others: Partial<Record<keyof GpuCounters, number>> = {};

  /** @param turn absent where the answer never gives way */
  constructor(
    readonly session: Session,
    readonly clock: TokenClock,
    readonly asked: AnswerBeside['asked'],
    readonly turn?: Turn,
  ) {}

  /** True if others wait for a turn, and the answer can be set aside. What it takes for that comes meanwhile. */
  get isShared(): boolean {
    const { turn, session } = this;
    if (!turn?.isShared) return false;
    const { branches, lateBranches: late } = session;
    if (branches || !late) return true;
    void late.open(session).then(() => session.branches ?? turn.stay('busy'));
    return false;
  }

  /** True if the answer shall give way, once nothing of it is in flight. */
  get isOver(): boolean {
    return this.isShared && (this.turn?.isOver ?? false);
  }

  /** The backend's counters without the calls of other requests. */
  get counters(): Readonly<GpuCounters> | null {
    const { counters } = this.session.backend;
    if (!counters || !this.others.submits) return counters;
    const own = { ...counters };
    for (const name of namesOf(own)) own[name] -= this.others[name] ?? 0;
    return own;
  }

  /** What may step for the answer together with others. */
  get batch(): StepsBeside | null {
    return (this.isShared && this.session.batches?.get()) || null;
  }

  /** Begins the request on the backend: once, and again in each turn. */
  async begin(): Promise<void> {
    const { backend } = this.session;
    const { sampling, timed, constraint } = this.asked;
    this.session.batches?.running.add(this);
    await withMemory(this.session, () => backend.begin(sampling, timed, constraint));
  }

  /** True if a batch may step for the answer once nothing of it is in flight. */
  mayJoin(answer: Answer, inFlight: IdsInFlight): boolean {
    return this.batch?.mayJoin(this, answer, inFlight) ?? false;
  }

  /** Lets others run between two steps. A batch that can step for the answer by then gives way to it at once. */
  async giveWayAfter(answer: Answer, inFlight: IdsInFlight): Promise<void> {
    const { turn, session } = this;
    const { prompt, constraint } = this.asked;
    const { heldIds } = answer;
    const ids = Uint32Array.from([...prompt, ...heldIds]);
    if (turn) turn.joins = () => session.batches?.get()?.mayJoin(this, answer, inFlight) ?? false;
    const wasAway = await this.giveWay(ids.slice(0, -1)).finally(() => {
      if (turn) turn.joins = () => false;
    });
    if (wasAway) session.backend.goOn(ids, constraint?.placeAfter(heldIds));
  }

  /**
   * Lets others run. The cache holds `ids` before and after. Returns false where there is no memory to set it aside:
   * the answer goes on to its end.
   */
  async giveWay(ids: Uint32Array<ArrayBuffer>): Promise<boolean> {
    const { session, turn } = this;
    const { branches, backend } = session;
    const { prompt, chat } = this.asked;
    session.cachedIds = Array.from(ids);
    const aside = (await branches?.setAside(session, this.aside)) ?? null;
    this.aside = aside ?? this.aside;
    if (!branches || !aside || !turn) {
      turn?.stay();
      return false;
    }
    await this.keepTimes();
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

  async keepTimes(): Promise<void> {
    if (this.asked.timed) this.addTimes((await this.session.backend.stepTimes()) ?? []);
  }

  addTimes(times: readonly number[]): void {
    if (this.times.length === this.earlierSteps) for (const ms of times) this.times.push(ms);
    this.earlierSteps = this.clock.gaps.length;
  }

  /** The GPU's times of the steps. Null without a GPU clock. */
  async stepTimes(): Promise<number[] | null> {
    if (!this.isBeside) await this.keepTimes();
    return this.times.length > 0 ? this.times : null;
  }

  /** Drops what was set aside. */
  end(): void {
    this.session.batches?.running.delete(this);
    this.dropAside();
  }

  dropAside(): void {
    if (this.aside) this.session.branches?.drop(this.aside);
    this.aside = null;
  }

  /** Takes note of the calls since then, but its own. */
  count(before: GpuCounters, own: Partial<GpuCounters> = {}): void {
    const { counters } = this.session.backend;
    if (!counters) return;
    for (const name of namesOf(before)) {
      this.others[name] = (this.others[name] ?? 0) + counters[name] - before[name] - (own[name] ?? 0);
    }
  }
}

function namesOf(counters: GpuCounters): (keyof GpuCounters)[] {
  return Object.keys(counters) as (keyof GpuCounters)[];
}
