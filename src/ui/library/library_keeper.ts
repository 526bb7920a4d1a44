// Saves the conversation that the page shows, not at every token, and not too late: what is unsaved when the page closes is written in haste.

import type { ConversationStore } from '../conversation/conversation_store';
import type { Conversation } from '../conversation/conversation_tree';

const SAVE_AFTER_MS = 500;

export class LibraryKeeper {
  /** The newest copies that are not known to be stored. */
  private readonly unsaved = new Map<string, Conversation>();
  private readonly forgotten = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: Pick<ConversationStore, 'save' | 'saveLate'>) {}

  keep(conversation: Conversation): void {
    if (conversation.turns.length === 0 || this.forgotten.has(conversation.id)) return;
    this.unsaved.set(conversation.id, conversation);
    this.timer ??= setTimeout(() => this.flush(), SAVE_AFTER_MS);
  }

  /** Resolves when everything kept so far is stored, or was refused: that stays here, and is in `newer`. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const saves = [...this.unsaved.values()].map(async (conversation) => {
      const isStored = await this.store.save(conversation);
      // What came in the meantime is saved by its own timer; what was refused is tried again with what comes next.
      if (isStored && this.unsaved.get(conversation.id) === conversation) this.unsaved.delete(conversation.id);
    });
    await Promise.all(saves);
  }

  /** Copies that are newer than what is stored: all that there is of a conversation that storage refused. */
  get newer(): ReadonlyMap<string, Conversation> {
    return this.unsaved;
  }

  /** For a page that is being closed. */
  flushNow(): void {
    for (const conversation of this.unsaved.values()) this.store.saveLate(conversation);
  }

  /** A deleted conversation does not come back because its last answer still ends somewhere. */
  forget(id: string): void {
    this.unsaved.delete(id);
    this.forgotten.add(id);
  }

  remember(id: string): void {
    this.forgotten.delete(id);
  }
}
