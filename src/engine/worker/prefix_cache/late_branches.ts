// The time before a model has branches. The first conversation needs none: what parks it is a part that comes behind
// its first answer, or with a second request. Until then, its facts are noted here.

import { arrived } from '../../../shared/part';
import type { Parking } from '../../backend/backend';
import { type Cached, type Known, NOTHING_KNOWN, type Taken } from './branch_facts';
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
    return { cached, report: cached > 0 ? 'live' : 'new' };
  }

  keep(tokens: number): void {
    this.most = tokens;
  }

  clear({ cachedIds }: Cached): void {
    this.lost.push({ ids: cachedIds, why: 'cleared' });
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

async function branchesPart() {
  const { Branches } = await arrived(import('./branches'));
  return { Branches };
}

/** The branches of a session whose cache holds a conversation. Absent where it has none, or where they did not come. */
export async function branchesOf(session: Shared): Promise<Branches | undefined> {
  if (!session.branches && session.cachedIds.length > 0) await session.lateBranches?.open(session);
  return session.branches;
}

/** Parks the conversation in the cache, which other work is about to overwrite. */
export async function leaveConversation(session: Shared): Promise<void> {
  await (await branchesOf(session))?.leave(session);
  session.cachedIds = [];
}
