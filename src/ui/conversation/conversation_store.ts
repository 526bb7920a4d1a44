// The conversations that this browser keeps. Several tabs may write at once: each save merges the tab's copy with the
// stored one.

import type { Turn } from './conversation';
import { readIndex, type Summary, summarize } from './conversation_index';
import { ConversationFileError, parseConversation } from './conversation_parse';
import { type Conversation, mergeConversations } from './conversation_tree';
import { type KeyValueTable, memoryTable, openTable } from './key_value_table';

const NAME = 'vivace-conversations';
const INDEX = 'index';
const KEPT = 'conversation/';
/** Prefix of copies that closing pages wrote and no page has merged yet. */
const LATE = 'late/';
/** Conversations per step of an import. The page paints between two steps. */
const BATCH = 100;

export class ConversationStore {
  /** Called with a sentence, including a next step, when a conversation could not be kept. */
  onError: (sentence: string) => void = () => {};
  private kept = true;
  private readonly ready: Promise<void>;
  private readonly listeners = new Set<() => void>();
  /**
   * By conversation, the ids of the turns in this page's last copy. A turn that a new copy lacks was removed if it is
   * among them; otherwise another tab has added it.
   */
  private readonly seen = new Map<string, ReadonlySet<string>>();
  /** Ids of stored values that are no conversations, so that they are not read at each listing. */
  private readonly unreadable = new Set<string>();

  constructor(
    private table: KeyValueTable = openTable(NAME, 'conversations'),
    private readonly channel: BroadcastChannel | null = openChannel(),
  ) {
    this.ready = table.keys().then(
      () => {},
      () => {
        this.table = memoryTable();
        this.kept = false;
      },
    );
    if (channel) channel.onmessage = () => this.tell();
  }

  /** False where the browser refuses storage and conversations last only as long as the page. Known after `list`. */
  get isKept(): boolean {
    return this.kept;
  }

  /** Calls `listener` after each change, made here or in another tab. Returns a function that stops the calls. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.listeners.clear();
    this.channel?.close();
  }

  /** All conversations, newest first. Rebuilds an index that is missing, broken or out of date. */
  async list(): Promise<Summary[]> {
    await this.ready;
    const keys = await this.mergeLate(await this.table.keys());
    const ids = new Set(keys.filter((key) => key.startsWith(KEPT)).map((key) => key.slice(KEPT.length)));
    const index = readIndex(await this.table.get(INDEX));
    const missing = [...ids].filter((id) => !index.has(id) && !this.unreadable.has(id));
    const gone = [...index.keys()].filter((id) => !ids.has(id));
    for (const id of missing) {
      const conversation = await this.load(id);
      if (conversation) index.set(id, summarize(conversation));
      else this.unreadable.add(id);
    }
    for (const id of gone) index.delete(id);
    if (missing.length + gone.length > 0) {
      await this.table.update(INDEX, (value) => {
        const newest = readIndex(value); // another tab may have written in the meantime
        for (const id of gone) newest.delete(id);
        for (const id of missing) if (index.has(id) && !newest.has(id)) newest.set(id, index.get(id)!);
        return [...newest.values()];
      });
    }
    return [...index.values()].sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** The stored conversation, or null if it is missing or invalid. */
  async load(id: string): Promise<Conversation | null> {
    await this.ready;
    const conversation = readConversation(await this.table.get(KEPT + id));
    return conversation?.id === id ? conversation : null;
  }

  /** Takes note of the copy that the page now shows: a later `save` without one of its turns removes that turn. */
  adopt({ id, turns }: Conversation): void {
    this.seen.set(id, new Set(turns.map((turn) => turn.id)));
  }

  /**
   * Merges the page's copy into the stored one. Reports failures through `onError`. Empty conversations are not stored.
   */
  async save(conversation: Conversation): Promise<boolean> {
    const seen = this.seen.get(conversation.id) ?? new Set();
    this.adopt(conversation);
    return this.put(conversation, (old, copy) => {
      const present = new Set(copy.turns.map(({ id }) => id));
      const merged = mergeConversations(old, copy);
      const turns = withoutRemoved(merged.turns, (id) => seen.has(id) && !present.has(id));
      return { ...merged, title: old.title, turns }; // only `rename` changes titles; the copy may have an old one
    });
  }

  /** Merges a copy from elsewhere, such as an undone deletion. */
  add(conversation: Conversation): Promise<boolean> {
    return this.put(conversation, mergeCopies);
  }

  /**
   * Merges many copies, each id once, in few steps. Returns the number of kept copies, and reports the first failure
   * through `onError`.
   */
  async addAll(conversations: readonly Conversation[], onProgress: (done: number) => void = () => {}): Promise<number> {
    await this.ready;
    const summaries: Summary[] = [];
    let failure: unknown = null;
    for (let from = 0; from < conversations.length && !isFull(failure); from += BATCH) {
      onProgress(from);
      const batch = conversations.slice(from, from + BATCH).filter(({ turns }) => turns.length > 0);
      const copies = new Map(batch.map((copy) => [KEPT + copy.id, copy]));
      const merged: Summary[] = [];
      try {
        await this.table.updateMany([...copies.keys()], (key, value) => {
          try {
            const copy = parseConversation(copies.get(key));
            const old = readConversation(value);
            const result = old ? parseConversation(mergeCopies(old, copy)) : copy;
            merged.push(summarize(result));
            return result;
          } catch (error) {
            failure ??= error;
            return undefined;
          }
        });
        summaries.push(...merged);
      } catch (error) {
        failure ??= error;
      }
    }
    for (const { id } of summaries) this.unreadable.delete(id);
    if (summaries.length > 0) await this.guard(() => this.writeSummaries(summaries));
    if (failure !== null) this.onError(sayWhy(failure));
    return summaries.length;
  }

  /** The part of a save that a closing page can still do. The next listing, in any page, merges the copy. */
  saveLate(conversation: Conversation): void {
    if (conversation.turns.length > 0) this.table.putNow(LATE + conversation.id, conversation);
  }

  async rename(id: string, title: string): Promise<void> {
    await this.ready;
    await this.guard(async () => {
      let summary: Summary | null = null;
      await this.table.update(KEPT + id, (old) => {
        const renamed = { ...parseConversation(old), title: title.trim().slice(0, 200) };
        summary = summarize(renamed);
        return renamed;
      });
      await this.writeSummaries([summary!]);
    });
  }

  /**
   * Removes a conversation and returns it, for an undo. Null if it was already gone, or if the removal failed (see
   * `onError`).
   */
  async remove(id: string): Promise<Conversation | null> {
    await this.ready;
    const conversation = await this.load(id);
    const isGone = await this.guard(async () => {
      await this.table.delete(KEPT + id);
      await this.table.delete(LATE + id);
      await this.table.update(INDEX, (old) => [...readIndex(old).values()].filter((summary) => summary.id !== id));
      this.seen.delete(id);
      this.announce();
    });
    return isGone ? conversation : null;
  }

  private async put(
    conversation: Conversation,
    merge: (old: Conversation, copy: Conversation) => Conversation,
  ): Promise<boolean> {
    await this.ready;
    if (conversation.turns.length === 0) return true;
    return this.guard(async () => {
      const copy = parseConversation(conversation);
      let summary: Summary | null = null;
      await this.table.update(KEPT + conversation.id, (value) => {
        const old = readConversation(value);
        const merged = old ? parseConversation(merge(old, copy)) : copy;
        summary = summarize(merged);
        return merged;
      });
      this.unreadable.delete(conversation.id);
      await this.writeSummaries([summary!]);
    });
  }

  private async writeSummaries(summaries: readonly Summary[]): Promise<void> {
    await this.table.update(INDEX, (old) => {
      const index = readIndex(old);
      for (const summary of summaries) index.set(summary.id, summary);
      return [...index.values()];
    });
    this.announce();
  }

  /** Merges the copies that closing pages left. Returns the keys that exist afterwards. */
  private async mergeLate(keys: string[]): Promise<string[]> {
    const late = keys.filter((key) => key.startsWith(LATE));
    for (const key of late) {
      const conversation = readConversation(await this.table.get(key));
      const merge = (old: Conversation, copy: Conversation) => ({ ...mergeConversations(old, copy), title: old.title });
      if (conversation && !(await this.put(conversation, merge))) continue;
      await this.table.delete(key);
    }
    return late.length > 0 ? this.table.keys() : keys;
  }

  private async guard(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.onError(sayWhy(error));
      return false;
    }
  }

  private announce(): void {
    this.channel?.postMessage('changed');
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

function mergeCopies(old: Conversation, copy: Conversation): Conversation {
  const merged = mergeConversations(old, copy);
  return { ...merged, title: merged.title || old.title || copy.title };
}

function isFull(error: unknown): boolean {
  return (error as Error | null)?.name === 'QuotaExceededError';
}

function sayWhy(error: unknown): string {
  if (error instanceof ConversationFileError) {
    return `This conversation can no longer be kept here. ${error.message} Start a new conversation.`;
  }
  if (isFull(error)) {
    return 'The browser has no room left for conversations. Export some and delete them here; the newest text is kept while the page is open.';
  }
  return 'The browser did not keep the conversation. Export it, then reload the page.';
}

function readConversation(value: unknown): Conversation | null {
  try {
    return parseConversation(value);
  } catch (error) {
    if (error instanceof ConversationFileError) return null;
    throw error;
  }
}

/** Drops removed turns, except those that turns of another tab follow. */
function withoutRemoved(turns: readonly Turn[], isRemoved: (id: string) => boolean): Turn[] {
  const parents = new Set<string | null>();
  const left = turns.toReversed().filter((turn) => {
    if (isRemoved(turn.id) && !parents.has(turn.id)) return false;
    parents.add(turn.parent);
    return true;
  });
  return left.reverse();
}

function openChannel(): BroadcastChannel | null {
  return typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(NAME);
}
