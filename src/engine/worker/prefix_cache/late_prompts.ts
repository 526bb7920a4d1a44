// Prompts that outlive the engine, as its requests see them. What reads and writes them is a part: it comes at once
// where an earlier visit left prompts, and else when the first one is written.

import { arrived } from '../../../shared/part';
import { hasPrompts } from '../../../storage/prompts/has_prompts';
import type { LoadedModel } from '../../load/load';
import { IdleCheck } from '../turns/idle_check';
import { LEAST_STORED } from './shared_prefix';
import type { StoredPrompts } from './stored_prompts';

export type Prompts = Pick<StoredPrompts, 'restore' | 'note' | 'write' | 'distrust'>;

/** The pause in requests before anything is written. */
const WRITE_MS = 500;

type Note = Parameters<StoredPrompts['note']>;

export class LatePrompts implements Prompts {
  private opened: Promise<Prompts | null> | null = null;
  /** The news that the part has not heard yet. */
  private noted: Note | null = null;

  /** @param open brings the part. Null where it did not come: the next call tries again. */
  constructor(
    private readonly hasSome: Promise<boolean>,
    private readonly open: () => Promise<Prompts | null>,
  ) {
    void hasSome.then((some) => (some ? this.part() : null));
  }

  async restore(...wanted: Parameters<StoredPrompts['restore']>): Promise<number> {
    const part = this.opened || (await this.hasSome) ? await this.part() : null;
    return part ? part.restore(...wanted) : wanted[2];
  }

  note(...[ids, systemTokens, msPerToken]: Note): void {
    this.noted = [ids, systemTokens, msPerToken ?? this.noted?.[2] ?? null];
  }

  async write(...args: Parameters<StoredPrompts['write']>): Promise<void> {
    if (!this.opened && (this.noted?.[0].length ?? 0) < LEAST_STORED) return;
    const part = await this.part();
    if (!part) return;
    if (this.noted) part.note(...this.noted);
    this.noted = null;
    await part.write(...args);
  }

  async distrust(): Promise<void> {
    this.noted = null;
    await (await this.opened)?.distrust();
  }

  private async part(): Promise<Prompts | null> {
    this.opened ??= this.open().catch(() => null);
    const part = await this.opened;
    if (!part) this.opened = null;
    return part;
  }
}

/** Absent where the model or its options keep none. */
export function latePrompts(made: LoadedModel): LatePrompts | undefined {
  const { kvBytes, parking } = made.session.backend;
  if (!made.stored || !kvBytes || !parking) return undefined;
  return new LatePrompts(hasPrompts(), async () => {
    const { storedPrompts } = await arrived(import('./stored_prompts'));
    return storedPrompts(made);
  });
}

/** Deletes the prompts of the model at an address. Never throws. */
export async function forgetPrompts(location: string): Promise<void> {
  if (!(await hasPrompts())) return;
  const forget = async () => {
    const { deleteOf } = await arrived(import('./stored_prompts'));
    await deleteOf(location);
  };
  await forget().catch(() => {});
}

/** Calls `write` a while after the last request. */
export function idleWriter(write: () => void): IdleCheck {
  return new IdleCheck(write, WRITE_MS, 0);
}
