// The conversations that this browser keeps. Several tabs may write at once: each save merges the tab's copy with the
// stored one. What a page wrote in its last moments lies beside the conversation until a later page or save merges it.

import { type KeyValueTable, memoryTable, openTable } from '../../shared/key_value_table';
import { uniqueId } from '../../shared/unique_id';
import type { Turn } from './conversation';
import { readIndex, type Summary, summarize } from './conversation_index';
import { type Base, baseOf, mergeCopies, mergeGrown, mergeTab, readBase, storedBase } from './conversation_merge';
import { ConversationFileError, parseConversation, parseGrownTurn } from './conversation_parse';
import { type Conversation, ownTitle } from './conversation_tree';

const NAME = 'vivace-conversations';
const INDEX = 'index';
const KEPT = 'conversation/';
/**
 * Prefix of what closed or crashed pages left and nobody has merged yet: `late/<conversation>/<page>` with a copy, and
 * `late/<conversation>/turn/<turn>` with the text of a turn that streamed.
 */
const LATE = 'late/';
const TURN = '/turn/';
/** Conversations per step of an import. The page paints between two steps. */
const BATCH = 100;
/** Most writes of a streaming turn under way. Each holds a copy of the text. */
const GROWING_MAX = 8;
/** Milliseconds until refused storage is tried again, doubled each time. */
const REOPEN_MS = 10_000;
const REOPEN_MAX_MS = 300_000;

/** `deleted`: another tab has deleted the conversation, and the copy has no new question. */
export type SaveOutcome = 'stored' | 'deleted' | 'refused';

type StoreTrouble = 'conversation-deleted' | 'conversation-too-large' | 'conversations-full' | 'conversations-refused';

interface Complaint {
  code: StoreTrouble;
  message: string;
}

/** Numbers of conversations: with anything new, and those that were here already. */
export interface Added {
  added: number;
  known: number;
}

export class ConversationStore {
  /**
   * Called with an English sentence, including a next step, and its code, when a conversation could not be kept. Says
   * each thing once.
   */
  onError: (sentence: string, code: StoreTrouble) => void = () => {};
  /** Called when a conversation is kept again after an error. */
  onRecovered: () => void = () => {};
  /** Storage, or memory while the browser refuses storage. */
  private table: KeyValueTable;
  private kept = true;
  private readonly ready: Promise<void>;
  private readonly listeners = new Set<() => void>();
  /** Distinguishes what this page leaves from what other pages leave. */
  private readonly page = uniqueId();
  /** The stored state of this page's copies, by conversation. */
  private readonly bases = new Map<string, Base>();
  /** The last complaint about each conversation. */
  private readonly complaints = new Map<string, string>();
  /** Keys of the texts that this page has written of streaming turns, by conversation. */
  private readonly grown = new Map<string, Set<string>>();
  /** The number of writes of a streaming turn under way, and the turn to be written after them. */
  private growing = 0;
  private nextGrown: { id: string; turn: Turn } | null = null;
  /** The newest streaming turn, while it is not known to be written. */
  private unwritten: { id: string; turn: Turn } | null = null;
  /** Ids of stored values that are no conversations, so that they are not read at each listing. */
  private readonly unreadable = new Set<string>();
  private hasMergedTurns = false;
  private reopening: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly storage: KeyValueTable = openTable(NAME, 'conversations'),
    private readonly channel: BroadcastChannel | null = openChannel(),
  ) {
    this.table = storage;
    this.ready = storage.keys(INDEX).then(
      () => {},
      () => {
        this.table = memoryTable();
        this.kept = false;
        this.reopenLater(REOPEN_MS);
      },
    );
    if (channel) channel.onmessage = () => this.tell();
  }

  /** False while the browser refuses storage: conversations last as long as the page. Known after `list`. */
  get isKept(): boolean {
    return this.kept;
  }

  /** Calls `listener` after each change, made here or in another tab. Returns a function that stops the calls. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    clearTimeout(this.reopening);
    this.listeners.clear();
    this.channel?.close();
  }

  /** All conversations, newest first. Merges what closed pages left, and repairs an index that is broken. */
  async list(): Promise<Summary[]> {
    await this.ready;
    const keys = await this.mergeLate(await this.table.keys(''));
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
      await this.table.update([INDEX], (_, value) => {
        const newest = readIndex(value); // another tab may have written in the meantime
        for (const id of gone) newest.delete(id);
        for (const id of missing) if (index.has(id) && !newest.has(id)) newest.set(id, index.get(id)!);
        return [...newest.values()];
      });
    }
    return [...index.values()].sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** The stored conversation with what closed pages left of it, or null if it is missing or invalid. */
  async load(id: string): Promise<Conversation | null> {
    await this.ready;
    const late: unknown[] = [];
    for (const key of await this.table.keys(LATE + id)) late.push(await this.table.get(key));
    const conversation = withLate(readConversation(await this.table.get(KEPT + id)), late);
    return conversation?.id === id ? conversation : null;
  }

  /** Takes note of the copy that the page now shows: a later `save` without one of its turns removes that turn. */
  adopt(conversation: Conversation): void {
    this.bases.set(conversation.id, baseOf(conversation));
  }

  /**
   * Merges the page's copy into the stored one. Reports failures through `onError`. Empty conversations are not stored.
   */
  async save(conversation: Conversation): Promise<SaveOutcome> {
    const { id } = conversation;
    if (conversation.turns.length === 0) return 'stored';
    await this.ready;
    let isGone = false;
    const isDone = await this.guard(id, async () => {
      const copy = parseConversation(conversation);
      const base = baseOf(conversation);
      const left = this.grown.get(id) ?? new Set();
      this.grown.delete(id);
      const merge = (stored: Conversation | null) => mergeTab(stored, copy, this.bases.get(id) ?? null);
      try {
        await this.change(id, [`${LATE}${id}/${this.page}`, ...left], (stored) => {
          const merged = merge(stored);
          isGone = merged === null;
          return merged;
        });
      } catch (error) {
        for (const key of left) this.noteGrown(id, key);
        throw error;
      }
      if (!isGone) this.bases.set(id, base);
      return isGone ? DELETED : null;
    });
    return isDone ? (isGone ? 'deleted' : 'stored') : 'refused';
  }

  /**
   * Keeps the text of a turn that streams, whatever crashes next. The cost does not grow with the conversation. On
   * storage that hangs, the newest text waits.
   */
  keepGrown(id: string, turn: Turn): void {
    this.unwritten = { id, turn };
    if (this.growing === GROWING_MAX) {
      this.nextGrown = { id, turn };
      return;
    }
    this.growing++;
    void this.writeGrown(id, turn).finally(() => {
      this.growing--;
      const next = this.nextGrown;
      this.nextGrown = null;
      if (next && next.turn.state === 'streaming') this.keepGrown(next.id, next.turn);
      if (this.growing === 0) this.unwritten = null;
    });
  }

  /** Writes the newest text at once, because the page closes: its writes under way may be lost. */
  flushGrown(): void {
    const { unwritten } = this;
    this.nextGrown = null;
    this.unwritten = null;
    if (unwritten) this.table.putLast(...this.grownEntry(unwritten.id, unwritten.turn));
  }

  /** Merges a copy from elsewhere, such as an undone deletion. */
  async add(conversation: Conversation): Promise<boolean> {
    if (conversation.turns.length === 0) return true;
    await this.ready;
    return this.guard(
      conversation.id,
      async () => {
        const copy = parseConversation(conversation);
        await this.change(copy.id, [], (stored) => mergeCopies(stored, copy));
      },
      true,
    );
  }

  /** Merges many copies, each id once, in few steps. Reports the first failure through `onError`. */
  async addAll(conversations: readonly Conversation[], onProgress: (done: number) => void = () => {}): Promise<Added> {
    await this.ready;
    let [added, known] = [0, 0];
    let failure: unknown = null;
    for (let from = 0; from < conversations.length && !isFull(failure); from += BATCH) {
      onProgress(from);
      const batch = conversations.slice(from, from + BATCH).filter(({ turns }) => turns.length > 0);
      const copies = new Map(batch.map((copy) => [KEPT + copy.id, copy]));
      const merged: Summary[] = [];
      let unchanged = 0;
      try {
        await this.table.update([...copies.keys(), INDEX], (key, value) => {
          if (key === INDEX) return indexWith(value, merged);
          try {
            const copy = parseConversation(copies.get(key));
            const stored = readConversation(value);
            const result = parseConversation(mergeCopies(stored, copy));
            if (stored && JSON.stringify(stored) === JSON.stringify(result)) unchanged++;
            merged.push(summarize(result));
            return result;
          } catch (error) {
            failure ??= error;
            return undefined;
          }
        });
        added += merged.length - unchanged;
        known += unchanged;
        for (const { id } of merged) this.unreadable.delete(id);
      } catch (error) {
        failure ??= error;
      }
    }
    if (added + known > 0) this.announce();
    if (failure !== null) {
      const { message, code } = sayWhy(failure);
      this.onError(message, code);
    }
    return { added, known };
  }

  /** The part of a save that a closing page can still do. The next listing, in any page, merges the copy. */
  saveLate(conversation: Conversation): void {
    const { id, turns } = conversation;
    if (turns.length === 0) return;
    const base = this.bases.get(id);
    this.table.putLast(`${LATE}${id}/${this.page}`, { ...conversation, base: base ? storedBase(base) : null });
  }

  async rename(id: string, title: string): Promise<void> {
    await this.ready;
    const edit = (stored: Conversation | null) => stored && { ...stored, title: ownTitle(title) };
    await this.guard(id, () => this.change(id, [], edit), true);
  }

  /**
   * Removes a conversation and returns it, for an undo. Null if it was already gone, or if the removal failed (see
   * `onError`).
   */
  async remove(id: string): Promise<Conversation | null> {
    await this.ready;
    let conversation: Conversation | null = null;
    const isGone = await this.guard(
      id,
      async () => {
        conversation = await this.load(id);
        const keys = [...(await this.table.keys(LATE + id)), KEPT + id];
        await this.table.update([...keys, INDEX], (key, value) => {
          return key === INDEX ? [...readIndex(value).values()].filter((summary) => summary.id !== id) : null;
        });
        this.bases.delete(id);
        this.announce();
      },
      true,
    );
    return isGone ? conversation : null;
  }

  /** Removes all conversations and returns them, for an undo. Those that storage refuses to remove stay. */
  async removeAll(): Promise<Conversation[]> {
    await this.ready;
    const removed: Conversation[] = [];
    await this.guard(
      INDEX,
      async () => {
        const ids = (await this.list()).map(({ id }) => id);
        for (let from = 0; from < ids.length; from += BATCH) {
          const batch = ids.slice(from, from + BATCH);
          const loaded = await Promise.all(batch.map((id) => this.load(id)));
          const late = await Promise.all(batch.map((id) => this.table.keys(LATE + id)));
          const keys = [...late.flat(), ...batch.map((id) => KEPT + id)];
          await this.table.update([...keys, INDEX], (key, value) => {
            return key === INDEX ? [...readIndex(value).values()].filter(({ id }) => !batch.includes(id)) : null;
          });
          removed.push(...loaded.filter((conversation) => conversation !== null));
          for (const id of batch) this.bases.delete(id);
        }
      },
      true,
    );
    this.announce();
    return removed;
  }

  /**
   * Replaces a conversation by the result of `edit`, or leaves it where that is null. Merges what is `left` of it under
   * those keys before, and deletes them. All in one step, with the index.
   */
  private async change(
    id: string,
    left: readonly string[],
    edit: (stored: Conversation | null) => Conversation | null,
  ): Promise<void> {
    const late: unknown[] = [];
    let summary: Summary | null = null;
    await this.table.update([...left, KEPT + id, INDEX], (key, value) => {
      if (key === INDEX) return summary ? indexWith(value, [summary]) : undefined;
      if (key !== KEPT + id) {
        late.push(value);
        return null;
      }
      const edited = edit(withLate(readConversation(value), late));
      if (!edited) return undefined;
      const sound = parseConversation(edited);
      summary = summarize(sound);
      return sound;
    });
    if (!summary) return;
    this.unreadable.delete(id);
    this.announce();
  }

  private noteGrown(id: string, key: string): void {
    this.grown.set(id, (this.grown.get(id) ?? new Set<string>()).add(key));
  }

  private async writeGrown(id: string, turn: Turn): Promise<void> {
    await this.ready;
    const [key, value] = this.grownEntry(id, turn);
    await this.table.putNow(key, value).catch((error: unknown) => this.complain(id, sayWhy(error)));
  }

  /** Key and value of a streaming turn: without the question, which is stored already and may be long. */
  private grownEntry(id: string, turn: Turn): [key: string, value: Turn] {
    const key = LATE + id + TURN + turn.id;
    this.noteGrown(id, key);
    return [key, { ...turn, question: '' }];
  }

  /**
   * Merges the copies that closed pages left, and the first time the texts that crashed pages left. Later texts belong
   * to pages that still write. Returns the keys that exist afterwards.
   */
  private async mergeLate(keys: string[]): Promise<string[]> {
    const late = keys.filter((key) => key.startsWith(LATE) && !(this.hasMergedTurns && key.includes(TURN)));
    this.hasMergedTurns = true;
    if (late.length === 0) return keys;
    const idOf = (key: string) => key.slice(LATE.length).split('/')[0];
    for (const id of new Set(late.map(idOf))) {
      const left = late.filter((key) => idOf(key) === id);
      await this.guard(id, () => this.change(id, left, (stored) => stored));
    }
    return this.table.keys('');
  }

  private reopenLater(ms: number): void {
    this.reopening = setTimeout(() => {
      void this.reopen().catch(() => this.reopenLater(Math.min(2 * ms, REOPEN_MAX_MS)));
    }, ms);
  }

  /** Moves the conversations of this page from memory to storage that works again. */
  private async reopen(): Promise<void> {
    const memory = this.table;
    await this.storage.keys(INDEX);
    const copies = await Promise.all((await memory.keys(KEPT)).map((key) => memory.get(key)));
    const bases = [...this.bases];
    this.table = this.storage;
    this.bases.clear(); // what it says is of the memory
    try {
      for (const copy of copies.map(readConversation)) {
        if (copy) await this.change(copy.id, [], (stored) => mergeCopies(stored, copy));
      }
    } catch (error) {
      this.table = memory;
      for (const [id, base] of bases) this.bases.set(id, base);
      throw error;
    }
    this.kept = true;
    this.onRecovered();
    this.tell();
  }

  /**
   * Does work on a conversation, and reports its failure or the sentence that it returns. False after a failure.
   * @param isAsked by the reader, who then hears of each failure
   */
  private async guard(id: string, work: () => Promise<unknown>, isAsked = false): Promise<boolean> {
    try {
      const sentence = await work();
      if (sentence === DELETED) this.complain(id, DELETED);
      else if (this.complaints.delete(id)) this.onRecovered();
      return true;
    } catch (error) {
      if (isAsked) this.complaints.delete(id);
      this.complain(id, sayWhy(error));
      return false;
    }
  }

  private complain(id: string, { message, code }: Complaint): void {
    if (this.complaints.get(id) === message) return;
    this.complaints.set(id, message);
    this.onError(message, code);
  }

  private announce(): void {
    try {
      this.channel?.postMessage('changed');
    } catch {
      // Other tabs read the list again when they are opened.
    }
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

const DELETED: Complaint = {
  code: 'conversation-deleted',
  message:
    'Another tab deleted this conversation. It stays deleted, unless you undo that there or ask a new question here.',
};

/** The conversation with what closed or crashed pages left of it: copies first, then texts of turns. */
function withLate(stored: Conversation | null, late: readonly unknown[]): Conversation | null {
  let conversation = stored;
  for (const value of late) {
    const copy = readConversation(value);
    if (copy) conversation = mergeTab(conversation, copy, readBase((value as { base?: unknown }).base));
  }
  for (const value of late) {
    const turn = readGrownTurn(value);
    if (turn && conversation) conversation = mergeGrown(conversation, turn);
  }
  return conversation;
}

function indexWith(value: unknown, summaries: readonly Summary[]): Summary[] {
  const index = readIndex(value);
  for (const summary of summaries) index.set(summary.id, summary);
  return [...index.values()];
}

function isFull(error: unknown): boolean {
  return (error as Error | null)?.name === 'QuotaExceededError';
}

function sayWhy(error: unknown): Complaint {
  if (error instanceof ConversationFileError) {
    const message = `This conversation can no longer be kept here. ${error.message} Start a new conversation.`;
    return { code: 'conversation-too-large', message };
  }
  if (isFull(error)) {
    const message =
      'The browser has no room left for conversations. Export some and delete them here; the newest text is kept while the page is open.';
    return { code: 'conversations-full', message };
  }
  const message =
    'The browser does not keep the newest text. Vivace tries again every few seconds; export the conversation before you close the page.';
  return { code: 'conversations-refused', message };
}

const readConversation = orNull(parseConversation);
const readGrownTurn = orNull(parseGrownTurn);

/** The parsed value, or null for an invalid one. */
function orNull<T>(parse: (value: unknown) => T): (value: unknown) => T | null {
  return (value) => {
    try {
      return parse(value);
    } catch (error) {
      if (error instanceof ConversationFileError) return null;
      throw error;
    }
  };
}

/** The channel between tabs, or null where there is none or the browser refuses one. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel(NAME);
  } catch {
    return null;
  }
}
