// Saves the page's conversation: not at every token, but soon, and in a hurry when the page closes.

import type { ConversationStore } from '../conversation/conversation_store';
import type { Conversation } from '../conversation/conversation_tree';

const SAVE_AFTER_MS = 500;

export class LibraryKeeper {
  /** The newest copies not known to be stored, by id. */
  private readonly unsaved = new Map<string, Conversation>();
  private readonly forgotten = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: Pick<ConversationStore, 'save' | 'saveLate'>) {}

  keep(conversation: Conversation): void {
    if (conversation.turns.length === 0 || this.forgotten.has(conversation.id)) return;
    this.unsaved.set(conversation.id, conversation);
    this.timer ??= setTimeout(() => this.flush(), SAVE_AFTER_MS);
  }

  /** Saves all unsaved copies. Resolves when each is stored or refused. Refused copies stay in `newer`. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const saves = [...this.unsaved.values()].map(async (conversation) => {
      const isStored = await this.store.save(conversation);
      // A copy that came in the meantime has a timer of its own. A refused copy is tried again with the next one.
      if (isStored && this.unsaved.get(conversation.id) === conversation) this.unsaved.delete(conversation.id);
    });
    await Promise.all(saves);
  }

  /** Copies newer than the stored ones. A conversation that storage refused exists only here. */
  get newer(): ReadonlyMap<string, Conversation> {
    return this.unsaved;
  }

  /** Hands over the unsaved copies while the page closes. */
  flushNow(): void {
    for (const conversation of this.unsaved.values()) this.store.saveLate(conversation);
  }

  /** Ignores later copies of a deleted conversation, whose last answer may still be streaming. */
  forget(id: string): void {
    this.unsaved.delete(id);
    this.forgotten.add(id);
  }

  remember(id: string): void {
    this.forgotten.delete(id);
  }
}
