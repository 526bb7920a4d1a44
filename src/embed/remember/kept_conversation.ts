// The conversation that a tag keeps for a site: restored when the window opens, stored as it grows, and gone when the
// visitor deletes it, after 30 days, or when the site asks for that. There is one: a new one takes its place.

import { openTable } from '../../shared/key_value_table';
import type { KeepEvent } from '../../ui/chat/chat_session';
import { ConversationStore } from '../../ui/conversation/conversation_store';
import { type Conversation, newConversation } from '../../ui/conversation/conversation_tree';
import { LibraryKeeper } from '../../ui/library/library_keeper';
import { keptWords } from '../../words/kept_words';
import type { KeptChat, KeptOptions } from './kept';
import { KeptLine, type KeptState } from './kept_line';

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
/** Most letters of the conversation as JSON. */
const MAX_LETTERS = 1_000_000;
/** Most stored conversations that a visit removes. More than one or two come from nobody but a hostile script. */
const REMOVED_AT_ONCE = 20;
const UNDO_MS = 10_000;

export class KeptConversation {
  private readonly keeper: LibraryKeeper;
  private readonly line: KeptLine;
  private readonly over = new AbortController();
  /** The conversation that was deleted last, while that can be undone. */
  private removed: Conversation | null = null;
  private undoTimer: ReturnType<typeof setTimeout> | undefined;
  /** Why the conversation is not kept, or null. */
  private failure: 'gone' | 'refused' | null = null;
  private isTooLong = false;
  /** Id of the conversation shown. */
  private current: string;

  constructor(
    private readonly chat: KeptChat,
    private readonly options: KeptOptions,
    private readonly store = openStore(options.name),
  ) {
    this.keeper = new LibraryKeeper(store);
    this.current = chat.conversation.id;
    this.line = new KeptLine(options.place, () => void (this.removed ? this.undo() : this.startOver()));
    store.onError = (_, code) => this.tellFailure(code === 'conversation-deleted' ? 'gone' : 'refused');
    store.onRecovered = () => this.tellFailure(null);
  }

  /** Shows the stored conversation, unless the visitor has begun another one, and keeps what is shown from now on. */
  async start(): Promise<void> {
    const stored = await this.read().catch(() => null);
    const { chat } = this;
    if (!this.store.isKept) this.failure = 'refused';
    if (stored && !this.over.signal.aborted && chat.conversation.turns.length === 0) this.restore(stored);
    else this.current = chat.conversation.id;
    this.listen();
    this.show();
  }

  /** Deletes the conversation, shown and stored, for good. */
  async forget(): Promise<void> {
    this.dropUndo();
    this.keeper.forget(this.current);
    this.chat.conversation = newConversation(this.chat.system);
    this.current = this.chat.conversation.id;
    await this.store.removeAll();
    this.show();
  }

  /** Stores what is unsaved, and hears no more of the chat. */
  close(): void {
    this.over.abort();
    this.dropUndo();
    this.keeper.flushNow();
    this.store.close();
  }

  /** The newest stored conversation, or null. Removes the others, and one that is too old or too long. */
  private async read(): Promise<Conversation | null> {
    const [newest, ...others] = await this.store.list();
    for (const { id } of others.slice(0, REMOVED_AT_ONCE)) await this.store.remove(id);
    if (!newest) return null;
    const isFresh = newest.updatedAt > Date.now() - KEPT_DAYS * DAY_MS;
    const conversation = isFresh ? await this.store.load(newest.id) : null;
    if (conversation && fits(conversation)) return conversation;
    await this.store.remove(newest.id);
    return null;
  }

  private restore(stored: Conversation): void {
    // The site's own system message is the one that counts where a visitor may not change it.
    const conversation = this.options.keepsSystem ? stored : { ...stored, system: this.chat.system };
    this.store.adopt(conversation);
    this.current = conversation.id;
    this.chat.conversation = conversation;
  }

  private listen(): void {
    const { signal } = this.over;
    const { chat } = this;
    chat.addEventListener('vivace-changed', (event) => this.onChanged(event as KeepEvent), { signal });
    chat.addEventListener(
      'vivace-writing',
      ({ detail }) => {
        if (!this.isTooLong) this.keeper.keepGrown(detail.id, detail.turn);
      },
      { signal },
    );
    addEventListener('pagehide', () => this.keeper.flushNow(), { signal });
    document.addEventListener(
      'visibilitychange',
      () => document.visibilityState === 'hidden' && void this.keeper.flush(),
      { signal },
    );
    signal.addEventListener(
      'abort',
      this.options.onLanguage(() => this.show()),
    );
  }

  private onChanged({ detail: conversation, isQuestion, waitsFor }: KeepEvent): void {
    const last = this.current;
    this.current = conversation.id;
    if (conversation.id !== last) {
      this.failure = this.store.isKept ? null : 'refused'; // what failed was the last one
      void this.delete(last);
    } else if (conversation.turns.length > 0) this.dropUndo();
    this.isTooLong = !fits(conversation);
    if (!this.isTooLong) {
      this.keeper.keep(conversation);
      if (isQuestion) waitsFor.push(this.keeper.flush());
    }
    this.show();
  }

  /** The visitor's press of Delete: as for a new conversation, which takes the place of the old one. */
  private startOver(): void {
    this.chat.newConversation();
  }

  private async delete(id: string): Promise<void> {
    this.dropUndo();
    await this.keeper.flush();
    const refused = this.keeper.newer.get(id) ?? null;
    this.keeper.forget(id);
    const removed = (await this.store.remove(id)) ?? refused;
    if (!removed || this.chat.conversation.turns.length > 0) return;
    this.removed = removed;
    this.undoTimer = setTimeout(() => {
      this.removed = null;
      this.show();
    }, UNDO_MS);
    this.show();
  }

  private async undo(): Promise<void> {
    const { removed } = this;
    this.dropUndo();
    if (!removed) return;
    this.keeper.remember(removed.id);
    await this.store.add(removed);
    if (this.chat.conversation.turns.length === 0) this.restore(removed);
    this.show();
    this.chat.focus();
  }

  private dropUndo(): void {
    clearTimeout(this.undoTimer);
    this.removed = null;
  }

  private tellFailure(failure: typeof this.failure): void {
    this.failure = failure;
    this.show();
  }

  private get state(): KeptState {
    if (this.removed) return 'deleted';
    if (this.failure) return this.failure;
    if (this.chat.conversation.turns.length === 0) return 'nothing';
    return this.isTooLong ? 'tooLong' : 'kept';
  }

  private show(): void {
    this.line.show(this.state, KEPT_DAYS, keptWords(this.options.language()));
  }
}

/** Deletes what a tag of this name keeps. */
export async function deleteKept(name: string): Promise<void> {
  await openStore(name).removeAll();
}

function openStore(name: string): ConversationStore {
  return new ConversationStore(openTable(`vivace-tag-${name}`, 'conversations'), null);
}

function fits(conversation: Conversation): boolean {
  return JSON.stringify(conversation).length <= MAX_LETTERS;
}
