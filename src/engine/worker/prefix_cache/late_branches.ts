// The time before a model has branches. The first conversation needs none: what parks it is a part that the load asks
// for at its end, and that no first answer waits for. Until it is there, the facts of that conversation are noted here.

import { arrived } from '../../../shared/part';
import { withTimeout } from '../../../shared/with_timeout';
import type { Parking } from '../../backend/backend';
import { type Cached, type Known, NOTHING_KNOWN, reportOf, type Taken, withLoss } from './branch_facts';
import type { Branches } from './branches';
import { sharedPrefix } from './shared_prefix';

/** A session, as far as its branches are concerned. */
interface Shared extends Cached {
  branches?: Branches;
  lateBranches?: LateBranches;
}

export class LateBranches implements Known {
  systemTokens = NOTHING_KNOWN.systemTokens;
  most = NOTHING_KNOWN.most;
  lost: Known['lost'] = [];
  private opening: Promise<void> | null = null;

  constructor(
    private readonly parking: Parking,
    private readonly budgetBytes: number,
  ) {}

  /** As of branches, where there are none beside the cache. */
  take(session: Cached, wanted: Uint32Array, systemTokens: Known['systemTokens']): Taken {
    const shared = sharedPrefix(session.cachedIds, wanted, wanted.length - 1);
    const cached = shared < this.parking.least ? 0 : shared;
    this.systemTokens = systemTokens;
    this.most = NOTHING_KNOWN.most;
    return { cached, report: reportOf(this, cached, false, wanted) };
  }

  keep(tokens: number): void {
    this.most = tokens;
  }

  clear({ cachedIds }: Cached): void {
    this.lost = withLoss(this.lost, cachedIds, 'cleared');
  }

  /** Settles when the session has its branches, and also when they did not come: the next call tries again. */
  open(session: Shared): Promise<void> {
    this.opening ??= this.bring(session).catch(() => {
      this.opening = null;
    });
    return this.opening;
  }

  private async bring(session: Shared): Promise<void> {
    const [{ Branches }] = await Promise.all([branchesPart(), this.parking.prepare?.()]);
    session.branches = new Branches(this.parking, this.budgetBytes, this);
  }
}

// In a function of its own: builds of one file turn this form into an import at once.
async function branchesPart() {
  const { Branches } = await arrived(import('./branches'));
  return { Branches };
}

/** Milliseconds that a request waits for a part on its way: without it no conversation is parked. */
const MOST_WAIT_MS = 2000;

/**
 * The branches of a session whose cache holds a conversation. Absent where it has none, or where they do not come soon.
 */
export async function branchesOf(session: Shared): Promise<Branches | undefined> {
  const { branches, cachedIds, lateBranches: late } = session;
  if (!branches && cachedIds.length > 0)
    await withTimeout(async () => late?.open(session), MOST_WAIT_MS).catch(() => {});
  return session.branches;
}

/** Parks the conversation in the cache, which other work is about to overwrite. */
export async function leaveConversation(session: Shared): Promise<void> {
  await (await branchesOf(session))?.leave(session);
  session.cachedIds = [];
}
