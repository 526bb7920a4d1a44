// Decides, before a prompt runs, where its beginning comes from: from the live cache or from a parked branch. And what
// happens to the branch that loses the live cache: whether it is parked, and what is given up for it. Pure.

import { mostThatFit } from '../../../shared/most_that_fit';
import { LEAST_TOKENS, sharedPrefix } from './shared_prefix';

/** Most parked branches: short ones would take too many buffers, and too long to compare. */
export const MOST_BRANCHES = 32;

/** Keys and values of a conversation beside the cache. */
export interface Branch {
  readonly ids: Uint32Array;
  /** Leading tokens that are the template's and the system prompt, which other conversations may share. */
  readonly systemTokens: number;
  /** Larger for a later use. */
  readonly usedAt: number;
  /** The fewest leading tokens that it can give, none aside. */
  readonly least: number;
}

/** Bytes for branches, and those that a branch of so many tokens takes. */
export interface Budget {
  readonly bytes: number;
  bytesOf(tokens: number): number;
}

/** The branch in the cache. Of its ids the first `keep` may begin a later prompt, but no fewer than `least`. */
interface LiveBranch {
  readonly ids: ArrayLike<number>;
  readonly keep: number;
  readonly least: number;
}

export interface Plan<B extends Branch> {
  /** Leading ids of the prompt that need no pass. */
  cached: number;
  /** The branch that they are copied from. Null: the cache holds them. */
  from: B | null;
  /** First: tokens of the cache to park. Once they are: branches to give up, or to cut to their system prompt. */
  park: number;
  drop: B[];
  shrink: B[];
  /** Branches to give up after the copy: the cache holds all of them, or there is no room for them any more. */
  release: B[];
}

/** The leading ids of a prompt that a branch can give. */
function given(branch: Pick<LiveBranch, 'ids' | 'least'>, wanted: ArrayLike<number>, most: number): number {
  const shared = sharedPrefix(branch.ids, wanted, most);
  return shared < branch.least ? 0 : shared;
}

/**
 * The plan for a prompt of ids `wanted`. Between two plans the parked branches take at most `budget`; while a
 * plan is carried out, the branch that is parked comes on top. The prompt's last token always runs: its logits give
 * the first token.
 */
export function planBranches<B extends Branch>(
  live: LiveBranch,
  parked: readonly B[],
  wanted: ArrayLike<number>,
  budget: Budget,
): Plan<B> {
  const most = wanted.length - 1;
  const inLive = given(live, wanted, most);
  const { best, shared } = longest(parked, wanted, most);
  const from = best && shared - inLive >= LEAST_TOKENS ? best : null;
  const plan: Plan<B> = { cached: from ? shared : inLive, from, drop: [], shrink: [], park: 0, release: [] };

  const isHeld = ({ ids }: Branch) => sharedPrefix(ids, wanted) === ids.length && ids.length <= plan.cached;
  plan.release = parked.filter(isHeld);
  const kept = parked.filter((branch) => !isHeld(branch));

  const { bytes, bytesOf } = budget;
  const room = mostThatFit(Math.min(live.keep, live.ids.length), (tokens) => bytesOf(tokens) <= bytes);
  const ids = Array.prototype.slice.call(live.ids, 0, room) as number[];
  const held = Math.max(sharedPrefix(ids, wanted), ...kept.map((branch) => sharedPrefix(ids, branch.ids)));
  if (ids.length - held < LEAST_TOKENS || ids.length < live.least) return plan;
  plan.park = ids.length;
  plan.drop = kept.filter((branch) => branch !== from && sharedPrefix(branch.ids, ids) === branch.ids.length);
  const rest = kept.filter((branch) => !plan.drop.includes(branch));
  makeRoom(plan, rest, [wanted, ids], { bytes: bytes - bytesOf(ids.length), bytesOf });
  return plan;
}

function longest<B extends Branch>(parked: readonly B[], wanted: ArrayLike<number>, most: number) {
  let best: B | null = null;
  let shared = 0;
  for (const branch of parked) {
    const n = given(branch, wanted, most);
    if (n < shared || (n === shared && branch.usedAt < (best?.usedAt ?? 0))) continue;
    best = branch;
    shared = n;
  }
  return { best, shared };
}

/**
 * Gives up the least recently used branches until the rest fit `budget`. `others` will be in the cache or parked.
 */
function makeRoom<B extends Branch>(
  plan: Plan<B>,
  parked: readonly B[],
  others: readonly ArrayLike<number>[],
  { bytes, bytesOf }: Budget,
): void {
  const left = new Map(parked.map((branch) => [branch, branch.ids]));
  const isFull = () => [...left.values()].reduce((sum, { length }) => sum + bytesOf(length), 0) > bytes;
  while (left.size > 0 && (isFull() || left.size >= MOST_BRANCHES)) {
    const victim = firstToGo(left, others);
    const { ids, systemTokens } = victim;
    const isCut = plan.shrink.includes(victim);
    if (victim === plan.from) plan.release.push(victim);
    else if (!isCut && isFull() && isOnlySystemPrompt(victim, left, others)) {
      plan.shrink.push(victim);
      left.set(victim, ids.subarray(0, systemTokens));
      continue;
    } else plan.drop.push(victim);
    plan.shrink = plan.shrink.filter((branch) => branch !== victim);
    left.delete(victim);
  }
}

/** Near copies of other branches go first, system prompts last, and the least recently used among equals. */
function firstToGo<B extends Branch>(left: ReadonlyMap<B, Uint32Array>, others: readonly ArrayLike<number>[]): B {
  const order = [...left].map(([branch, ids]) => {
    const isCopy = 4 * heldBeside(branch, left, others) >= 3 * ids.length;
    return { branch, rank: ids.length <= branch.systemTokens ? 2 : isCopy ? 0 : 1 };
  });
  order.sort((a, b) => a.rank - b.rank || a.branch.usedAt - b.branch.usedAt);
  return order[0].branch;
}

/** True if a branch can be cut to a system prompt that no other branch has. */
function isOnlySystemPrompt<B extends Branch>(
  branch: B,
  left: ReadonlyMap<B, Uint32Array>,
  others: readonly ArrayLike<number>[],
): boolean {
  const { ids, systemTokens, least } = branch;
  if (systemTokens < least || systemTokens < LEAST_TOKENS || systemTokens >= ids.length) return false;
  return heldBeside(branch, left, others) < systemTokens;
}

/** Leading tokens of a branch that are in another one, too. */
function heldBeside<B extends Branch>(
  branch: B,
  left: ReadonlyMap<B, Uint32Array>,
  others: readonly ArrayLike<number>[],
): number {
  const ids = left.get(branch) ?? branch.ids;
  const beside = [...left].filter(([other]) => other !== branch).map(([, held]) => held);
  return Math.max(...[...others, ...beside].map((held) => sharedPrefix(held, ids)));
}
