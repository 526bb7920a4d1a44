// The branches of one model: the conversation in the cache, and copies of others beside it. Carries out what
// branch_plan decides, and says what a prompt found again, or why it did not.

import { mostThatFit } from '../../../shared/most_that_fit';
import type { Tokenizer } from '../../../text/tokenizer';
import type { ParkedKv, Parking } from '../../backend/backend';
import { type Cached, type Known, type Loss, NOTHING_KNOWN, reportOf, type Taken, withLoss } from './branch_facts';
import { type Branch, planBranches } from './branch_plan';
import { keptIds } from './kept_ids';
import { LEAST_TOKENS, sharedPrefix } from './shared_prefix';

interface ParkedBranch extends Branch {
  kv: ParkedKv;
  ids: Uint32Array;
  usedAt: number;
}

/** A copy of the conversation of a request that another has taken the cache from, until it ends. */
export interface Aside {
  kv: ParkedKv;
  /** Positions that are copied, and those that there is room for. */
  tokens: number;
  room: number;
}

/** Memory for a copy of the conversation in the cache, of so many tokens. It has nothing in it yet. */
interface Ready {
  tokens: number;
  /** Null until `made`, and where memory is refused. */
  kv: ParkedKv | null;
  made: Promise<void>;
}

/** Most room for tokens that come later, so that a copy lasts for many turns, and its share of what is free. */
const MORE_ROOM = 256;
const MORE_SHARE = 1 / 4;

export class Branches {
  private parked: ParkedBranch[] = [];
  /** The branches of running requests. They are never given up, and count in the budget. */
  private readonly asides = new Set<Aside>();
  private ready: Ready | null = null;
  /** Bytes of the slots of a batch. They count in the budget, too. */
  slotBytes = 0;
  lost: Known['lost'];
  private systemTokens: Known['systemTokens'];
  private most: Known['most'];
  private uses = 0;

  constructor(
    private readonly parking: Parking,
    private readonly budgetBytes: number,
    { lost, systemTokens, most }: Known = NOTHING_KNOWN,
  ) {
    this.lost = lost;
    this.systemTokens = systemTokens;
    this.most = most;
  }

  /** Conversations beside the cache, and their bytes. */
  get held(): { branches: number; bytes: number } {
    return { branches: this.parked.length + this.asides.size, bytes: this.parkedBytes + this.asideBytes };
  }

  readonly bytesOf = (tokens: number) => this.parking.bytesOf(tokens);

  private get parkedBytes(): number {
    return this.parked.reduce((sum, { ids }) => sum + this.bytesOf(ids.length), 0);
  }

  private get asideBytes(): number {
    return [...this.asides].reduce((sum, { room }) => sum + this.bytesOf(room), this.slotBytes);
  }

  /**
   * Brings the longest prefix of a prompt into the cache, and parks what the prompt will overwrite. `wanted` is empty
   * where other work overwrites the cache. No step may be in flight.
   */
  async take(session: Cached, wanted: Uint32Array, systemTokens = () => 0): Promise<Taken> {
    const live = { ids: session.cachedIds, keep: this.most, least: this.parking.least };
    const plan = planBranches(live, this.parked, wanted, {
      bytes: this.free,
      bytesOf: this.bytesOf,
    });
    const isParked = plan.park > 0 && (await this.park(live.ids, plan.park));
    if (isParked) {
      for (const branch of plan.drop) this.lose(branch, 'evicted');
      for (const branch of plan.shrink) await this.shrink(branch);
    }
    const overwritten = Math.min(live.keep, live.ids.length);
    if (overwritten - Math.max(plan.park, sharedPrefix(live.ids, wanted)) >= LEAST_TOKENS) {
      this.remember(live.ids, 'evicted');
    }
    if (plan.from) {
      const ids = wanted.slice(0, plan.cached);
      plan.from.kv.restore(ids);
      session.cachedIds = Array.from(ids);
      plan.from.usedAt = ++this.uses;
    }
    for (const branch of plan.release) if (isParked || branch.ids.length <= plan.cached) this.remove(branch);
    this.systemTokens = systemTokens;
    this.most = Number.POSITIVE_INFINITY;
    return { cached: plan.cached, report: reportOf(this, plan.cached, plan.from !== null, wanted) };
  }

  /** The ids of a prompt, with earlier answers as they were generated: as in the branch that then shares the most. */
  spell(session: Cached, ids: Uint32Array<ArrayBuffer>, tokenizer: Tokenizer): Uint32Array<ArrayBuffer> {
    let best = { ids, shared: sharedPrefix(session.cachedIds, ids) };
    for (const branch of [session.cachedIds, ...this.parked.map((parked) => parked.ids)]) {
      const kept = keptIds(ids, branch, tokenizer);
      const shared = sharedPrefix(kept, branch);
      if (shared > best.shared) best = { ids: kept, shared };
    }
    return best.ids;
  }

  /**
   * Makes memory for a copy of the conversation in the cache, where others are parked: when one of them comes back, its
   * first token waits for the copy alone. Resolves when the memory is there.
   */
  async makeReady({ cachedIds }: Cached): Promise<void> {
    const tokens = Math.min(this.most, cachedIds.length);
    if (this.ready?.tokens !== tokens) {
      this.dropReady();
      const hasRoom = this.parkedBytes + this.bytesOf(tokens) <= this.free;
      if (this.parked.length === 0 || tokens < LEAST_TOKENS || !hasRoom) return;
      const arrived = (kv: ParkedKv | null) => {
        if (this.ready === ready) ready.kv = kv;
        else kv?.destroy();
      };
      const made = this.parking.park(0, tokens).then(arrived, () => {});
      const ready: Ready = { tokens, kv: null, made };
      this.ready = ready;
    }
    await this.ready.made;
  }

  /** No later prompt begins with more of the cache: the rest is thinking that the template drops. */
  keep(tokens: number): void {
    this.most = tokens;
  }

  /** Parks the conversation in the cache, which other work is about to overwrite. */
  async leave(session: Cached): Promise<void> {
    await this.take(session, new Uint32Array());
    session.cachedIds = [];
  }

  /**
   * Copies the conversation in the cache, all of it, for a request that goes on later. `former` is its copy of an
   * earlier turn, which gets what has come since. Null where budget or memory has no room for it. Nothing may be in
   * flight that writes to the cache.
   */
  async setAside({ cachedIds: { length } }: Cached, former: Aside | null): Promise<Aside | null> {
    const aside = former && former.room >= length ? extended(former, length) : await this.newAside(length, former);
    if (aside) this.most = 0; // what the cache holds has a copy already
    return aside;
  }

  private async newAside(tokens: number, former: Aside | null): Promise<Aside | null> {
    if (former) this.drop(former);
    this.dropReady();
    const { free } = this;
    if (this.bytesOf(tokens) > free) return null;
    const more = mostThatFit(MORE_ROOM / MORE_SHARE, (more) => this.bytesOf(tokens + more) <= free);
    const room = tokens + Math.floor(MORE_SHARE * more);
    this.evictFor(this.bytesOf(room));
    const kv =
      (await this.parking.park(tokens, room)) ?? (this.giveUp() ? await this.parking.park(tokens, room) : null);
    if (!kv) return null;
    const aside = { kv, tokens, room };
    this.asides.add(aside);
    return aside;
  }

  /** Brings a conversation back into the cache. What another request has left there is parked as ever. */
  async bringBack(
    session: Cached,
    { kv }: Pick<Aside, 'kv'>,
    ids: Uint32Array<ArrayBuffer>,
    systemTokens: () => number,
  ) {
    await this.leave(session);
    kv.restore(ids);
    session.cachedIds = Array.from(ids);
    this.goOn(systemTokens);
  }

  /** The conversation in the cache goes on: only its copy of before exists. */
  goOn(systemTokens: () => number): void {
    this.systemTokens = systemTokens;
    this.most = Number.POSITIVE_INFINITY;
  }

  /** Bytes of the budget that no running request has. */
  get free(): number {
    return this.budgetBytes - this.asideBytes;
  }

  /** Gives up the oldest branches until there are so many bytes for others. */
  evictFor(bytes: number): void {
    this.dropReady();
    const oldest = [...this.parked].sort((a, b) => a.usedAt - b.usedAt);
    for (const branch of oldest) if (this.parkedBytes + bytes > this.free) this.lose(branch, 'evicted');
  }

  /** Adds a branch, of which a prompt finds `least` tokens or more. */
  add(kv: ParkedKv, ids: Uint32Array, systemTokens: number, { least }: { least: number }): void {
    this.parked.push({ kv, ids, systemTokens, least, usedAt: ++this.uses });
  }

  /** Drops the copy of a request that has ended. */
  drop(aside: Aside): void {
    if (this.asides.delete(aside)) aside.kv.destroy();
  }

  /** Gives up all branches, which may be wrong. */
  clear(session: Cached): void {
    this.remember(session.cachedIds, 'cleared');
    this.giveUp('cleared');
  }

  /** Gives up all branches, because memory is needed. Returns false where there is nothing to give up. */
  giveUp(why: Loss = 'refused'): boolean {
    const { length } = this.parked;
    const isAny = length > 0 || this.ready !== null;
    this.dropReady();
    for (const branch of this.parked) this.lose(branch, why);
    return isAny;
  }

  /** Returns false where memory is refused: no other branch is given up for one that there is no memory for. */
  private async park(liveIds: readonly number[], tokens: number): Promise<boolean> {
    const ids = Uint32Array.from(liveIds.slice(0, tokens));
    const kv = (await this.takeReady(tokens)) ?? (await this.parking.park(tokens));
    if (!kv) {
      this.remember(ids, 'refused');
      return false;
    }
    this.add(kv, ids, Math.min(tokens, this.systemTokens()), this.parking);
    return true;
  }

  /** The copy of so many tokens of the cache, in memory that is ready. */
  private async takeReady(tokens: number): Promise<ParkedKv | null> {
    if (this.ready?.tokens !== tokens) this.dropReady();
    const { ready } = this;
    await ready?.made;
    if (!ready || this.ready !== ready) return null;
    if (!ready.kv?.extend(0, tokens)) {
      this.dropReady();
      return null;
    }
    this.ready = null;
    return ready.kv;
  }

  private dropReady(): void {
    this.ready?.kv?.destroy();
    this.ready = null;
  }

  /** Cuts a branch to its system prompt. */
  private async shrink(branch: ParkedBranch): Promise<void> {
    const kv = await branch.kv.shrink(branch.systemTokens);
    if (!kv) return this.lose(branch, 'refused');
    this.remember(branch.ids, 'evicted');
    branch.kv.destroy();
    branch.kv = kv;
    branch.ids = branch.ids.slice(0, branch.systemTokens);
  }

  private lose(branch: ParkedBranch, why: Loss): void {
    this.remember(branch.ids, why);
    this.remove(branch);
  }

  private remove(branch: ParkedBranch): void {
    this.parked = this.parked.filter((other) => other !== branch);
    branch.kv.destroy();
  }

  private remember(ids: ArrayLike<number>, why: Loss): void {
    this.lost = withLoss(this.lost, ids, why);
  }
}

function extended(aside: Aside, tokens: number): Aside | null {
  if (!aside.kv.extend(aside.tokens, tokens)) return null;
  aside.tokens = tokens;
  return aside;
}
