// Saves the page's conversation: not at every change, but soon, and in a hurry when the page closes. What storage
// refuses stays here and is tried again until it is stored.

import type { Turn } from '../conversation/conversation';
import { mergeConversations } from '../conversation/conversation_merge';
import type { ConversationStore } from '../conversation/conversation_store';
import { type Conversation, ownTitle } from '../conversation/conversation_tree';

const SAVE_AFTER_MS = 150;
/** Milliseconds until a refused copy is tried again, doubled each time. */
const RETRY_MS = 2_000;
const RETRY_MAX_MS = 30_000;

export class LibraryKeeper {
  /** The newest copies not known to be stored, by id. */
  private readonly unsaved = new Map<string, Conversation>();
  /** Copies of conversations that other tabs have deleted. Kept in case a tab undoes that. */
  private readonly orphans = new Map<string, Conversation>();
  /** The last copies of deleted conversations that came after the deletion, or null, by id. */
  private readonly forgotten = new Map<string, Conversation | null>();
  /** Titles that a person gave to unsaved copies. The page's next copies lack them. */
  private readonly titles = new Map<string, string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private retryMs = RETRY_MS;

  constructor(private readonly store: Pick<ConversationStore, 'save' | 'saveLate' | 'keepGrown' | 'flushGrown'>) {}

  keep(conversation: Conversation): void {
    const { id, turns } = conversation;
    if (turns.length === 0) return;
    if (this.forgotten.has(id)) {
      this.forgotten.set(id, conversation);
      return;
    }
    const title = this.titles.get(id);
    this.unsaved.set(id, title === undefined ? conversation : { ...conversation, title });
    this.orphans.delete(id);
    this.saveIn(SAVE_AFTER_MS);
  }

  /** Keeps the text of a turn that streams. Unsaved copies bring their text along. */
  keepGrown(id: string, turn: Turn): void {
    if (!this.unsaved.has(id) && !this.orphans.has(id) && !this.forgotten.has(id)) this.store.keepGrown(id, turn);
  }

  /** Saves all unsaved copies. Resolves when each is stored or refused. Refused copies stay in `newer`. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const saves = [...this.unsaved.values()].map(async (conversation) => {
      const { id } = conversation;
      const outcome = await this.store.save(conversation);
      if (outcome === 'refused') return true;
      // A copy that came in the meantime has a timer of its own.
      if (this.unsaved.get(id) !== conversation) return false;
      this.unsaved.delete(id);
      this.titles.delete(id);
      if (outcome === 'deleted') this.orphans.set(id, conversation);
      return false;
    });
    const isRefused = (await Promise.all(saves)).includes(true);
    if (isRefused) this.saveIn(this.retryMs);
    this.retryMs = isRefused ? Math.min(2 * this.retryMs, RETRY_MAX_MS) : RETRY_MS;
  }

  /** Gives an unsaved copy its title. A stored one has a title of its own, which wins. */
  rename(id: string, title: string): void {
    const copy = this.unsaved.get(id);
    if (!copy) return;
    this.titles.set(id, ownTitle(title));
    this.keep(copy);
  }

  /** Copies newer than the stored ones. A conversation that storage refused exists only here. */
  get newer(): ReadonlyMap<string, Conversation> {
    return this.unsaved;
  }

  /** Saves the copies of conversations that were deleted and exist again. */
  restore(ids: readonly string[]): void {
    for (const id of ids) {
      const copy = this.orphans.get(id);
      if (copy) this.keep(copy);
    }
  }

  /** Hands over the unsaved copies and the text that waits to be written while the page closes. */
  flushNow(): void {
    this.store.flushGrown();
    for (const conversation of this.unsaved.values()) this.store.saveLate(conversation);
  }

  /** Saves no later copies of a deleted conversation, whose last answer may still be streaming. */
  forget(id: string): void {
    this.unsaved.delete(id);
    this.orphans.delete(id);
    this.forgotten.set(id, null);
  }

  remember(id: string): void {
    this.forgotten.delete(id);
  }

  /** Takes back a deletion. Returns the conversation with what came after that: the end of its last answer. */
  recall(removed: Conversation): Conversation {
    const late = this.forgotten.get(removed.id);
    this.remember(removed.id);
    return late ? { ...mergeConversations(removed, late), title: removed.title } : removed;
  }

  private saveIn(ms: number): void {
    this.timer ??= setTimeout(() => void this.flush(), ms);
  }
}
