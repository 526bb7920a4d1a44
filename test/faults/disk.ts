// A disk for tables of conversations that stops, refuses or hangs at a chosen operation, and pages over it: a chat
// session with an engine that streams, its keeper and its store, wired as on the page. For fake timers.

import type { Engine } from '../../src/engine/engine';
import type { KeyValueTable } from '../../src/shared/key_value_table';
import { withTimeout } from '../../src/shared/with_timeout';
import { type ChatHost, ChatSession, GrownEvent, KeepEvent } from '../../src/ui/chat/chat_session';
import type { Turn } from '../../src/ui/conversation/conversation';
import { ConversationStore } from '../../src/ui/conversation/conversation_store';
import type { Conversation } from '../../src/ui/conversation/conversation_tree';
import { LibraryKeeper } from '../../src/ui/library/library_keeper';
import { standardSampling } from '../../src/ui/settings/settings_fields';

/** Milliseconds of one operation. One at a time, as in IndexedDB. */
const OPERATION_MS = 4;
/** Milliseconds between two tokens. */
const GAP_MS = 30;

export type Fault = 'full' | 'throws' | 'refuses' | 'hangs';

export class Disk {
  operations = 0;
  /** Resolves with the k-th operation: nothing happens on the disk from then on. */
  stopsAt = Number.POSITIVE_INFINITY;
  /** True if the operation at which the disk stops still happens. */
  isLastDone = false;
  /** What operations run into while it is set. */
  fault: Fault | null = null;
  private readonly values = new Map<string, unknown>();
  private tail: Promise<unknown> = Promise.resolve();
  private resume: (() => void)[] = [];

  get isStopped(): boolean {
    return this.operations >= this.stopsAt;
  }

  get keys(): string[] {
    return [...this.values.keys()];
  }

  value(key: string): unknown {
    return structuredClone(this.values.get(key));
  }

  /** Ends a fault: operations that hung are done. */
  mend(): void {
    this.fault = null;
    for (const go of this.resume.splice(0)) go();
  }

  /** A table as `openTable` returns it. */
  table(): KeyValueTable {
    return {
      get: (key) => this.operate(false, () => this.value(key)),
      update: (keys, change) => this.operate(true, () => this.update(keys, change)),
      putNow: (key, value) => {
        const copy = structuredClone(value);
        return this.operate(true, () => void this.values.set(key, copy));
      },
      putLast: (key, value) => {
        const copy = structuredClone(value);
        void this.operate(true, () => void this.values.set(key, copy)).catch(() => {});
      },
      keys: (prefix) => this.operate(false, () => this.keys.filter((key) => key.startsWith(prefix))),
    };
  }

  private update(keys: readonly string[], change: (key: string, old: unknown) => unknown): void {
    const changed = keys.map((key) => [key, structuredClone(change(key, this.value(key)))] as const);
    for (const [key, value] of changed) {
      if (value === null) this.values.delete(key);
      else if (value !== undefined) this.values.set(key, value);
    }
  }

  private async operate<T>(isWrite: boolean, work: () => T): Promise<T> {
    if (this.fault === 'throws') throw new DOMException('Gone', 'InvalidStateError');
    const done = this.tail.then(async () => {
      await new Promise((resolve) => setTimeout(resolve, OPERATION_MS));
      if (this.isStopped) await new Promise(() => {});
      this.operations++;
      if (this.isStopped && !this.isLastDone) await new Promise(() => {});
      if (this.fault === 'hangs') await new Promise<void>((resolve) => this.resume.push(resolve));
      if (this.fault === 'refuses') throw new DOMException('No', 'UnknownError');
      if (this.fault === 'full' && isWrite) throw new DOMException('', 'QuotaExceededError');
      const result = work();
      if (this.isStopped) await new Promise(() => {});
      return result;
    });
    this.tail = done.catch(() => {});
    return withTimeout(() => done);
  }
}

/** A text that a reader has seen. */
export interface Shown {
  conversation: string;
  turn: string;
  question: string;
  answer: string;
  at: number;
}

/** A page with a chat. `answers` gives the number of tokens of an answer. */
export function openPage(disk: Disk, shown: Shown[] = [], tokens = 12) {
  const table = disk.table();
  const store = new ConversationStore(table, null);
  const keeper = new LibraryKeeper(store);
  const heard: string[] = [];
  store.onError = (sentence) => heard.push(sentence);
  store.onRecovered = () => heard.push('recovered');
  const note = (turn: Turn) => {
    const { id, question, answer } = turn;
    shown.push({ conversation: session.conversation.id, turn: id, question, answer, at: performance.now() });
  };
  const host: ChatHost = {
    engine: engineOf(tokens),
    isConnected: true,
    tuning: null,
    sampling: standardSampling(),
    thinking: 'on',
    dispatchEvent(event) {
      if (event instanceof GrownEvent) keeper.keepGrown(event.detail.id, event.detail.turn);
      if (!(event instanceof KeepEvent)) return true;
      keeper.keep(event.detail);
      if (event.isQuestion) event.waitsFor.push(keeper.flush());
      return true;
    },
    addController() {},
    requestUpdate() {},
    refreshTurn: note,
  };
  const session: ChatSession = new ChatSession(host);
  return {
    store,
    keeper,
    session,
    heard,
    /** Shows a conversation as the list opens it. */
    async open(id: string): Promise<void> {
      const conversation = await store.load(id);
      if (!conversation) return;
      store.adopt(conversation);
      session.open(conversation);
    },
    /** Ends the page: what it has handed to the disk is still written. */
    end(): void {
      const never = () => new Promise<never>(() => {});
      Object.assign(table, { get: never, update: never, putNow: never, putLast: never, keys: never });
    },
    async delete(id: string): Promise<Conversation | null> {
      await keeper.flush();
      keeper.forget(id);
      return store.remove(id);
    },
  };
}

/** An engine whose answers name their question and count. */
function engineOf(tokens: number): Engine {
  const engine = {
    info: { contextLength: 100_000, hasChatTemplate: true, thinking: 'none', model: { name: 'disk' } },
    async *chat(messages: { content: string }[], { signal }: { signal: AbortSignal }) {
      const question = messages.at(-1)?.content;
      for (let i = 0; i < tokens; i++) {
        await new Promise((resolve) => setTimeout(resolve, GAP_MS));
        if (signal.aborted) return;
        yield { type: 'token', id: i, text: `${question}${i} `, tbtMs: GAP_MS };
      }
      const metrics = { decodeTokensPerSecond: 1, ttftMs: 1, tbtMs: { p50: 1 } };
      const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: tokens, reasoningTokens: 0 };
      yield { type: 'done', text: '', finishReason: 'eos', metrics, usage };
    },
  };
  return engine as unknown as Engine;
}
