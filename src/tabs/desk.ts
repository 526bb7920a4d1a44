// The requests of other tabs, in the tab that leads: each is sent to the model, and what comes is posted in numbered
// posts. A tab that is gone, listens no more or has forgotten its request frees it.

import type { EngineHost, HostConnection, Sent } from '../engine/page/host/host';
import type { TuneMessage } from '../engine/protocol';
import type { TabPlace } from './place';
import type { ErrorParts, FromLeader, TabRequest, ToLeader } from './wire';

/** Posts that a tab may not have heard. A frozen one hears none. */
const MOST_UNHEARD = 4096;
/** Requests of all other tabs at a time. The engine queues more than it can run. */
const MOST_REQUESTS = 256;

interface Asked {
  readonly from: string;
  sent: Sent | null;
  posts: number;
  heard: number;
  /** Ids of prompt and answer so far, for the memory that a recovery must leave. */
  length: number;
}

export class Desk {
  private readonly asked = new Map<string, Asked>();
  /** The tabs with requests, and the ends of their watches. */
  private readonly watched = new Map<string, () => void>();

  constructor(
    private readonly place: Pick<TabPlace, 'watch'>,
    private readonly parts: ErrorParts,
    private readonly term: string,
    private readonly host: EngineHost,
    private readonly connection: HostConnection,
    private readonly post: (message: FromLeader) => void,
  ) {}

  hear(message: Exclude<ToLeader, { type: 'hello' }>): void {
    const { type, from } = message;
    if (type === 'ask') this.ask(from, message.id, message.request);
    else if (type === 'ping') this.pong(from, message.ids);
    else {
      const asked = this.asked.get(message.id);
      if (asked?.from !== from) return;
      if (type === 'heard') asked.heard = Math.max(asked.heard, Math.min(message.posts, asked.posts));
      else if (message.isOver) this.free(message.id);
      else asked.sent?.stop();
    }
  }

  end(): void {
    for (const id of [...this.asked.keys()]) this.free(id);
    for (const stop of this.watched.values()) stop();
    this.watched.clear();
  }

  private ask(from: string, id: string, request: TabRequest): void {
    if (this.asked.has(id) || this.asked.size >= MOST_REQUESTS) return; // a tab that hears nothing asks again
    const asked: Asked = { from, sent: null, posts: 0, heard: 0, length: 0 };
    this.asked.set(id, asked);
    this.host.running.add(asked);
    if (!this.watched.has(from))
      this.watched.set(
        from,
        this.place.watch(from, () => this.leave(from)),
      );
    const hear = (messages: readonly object[]) => this.tell(id, asked, messages);
    const fail = (error: unknown) => this.tell(id, asked, [], error);
    if (request.kind === 'tokenize') {
      this.host.tokenize(request.body.input, request.body.options).then((result) => hear([result]), fail);
    } else asked.sent = this.connection.send(request, { hear, fail });
  }

  private tell(id: string, asked: Asked, messages: readonly object[], error?: unknown): void {
    if (this.asked.get(id) !== asked) return;
    for (const message of messages) this.note(asked, message as { type?: string });
    const failure = error === undefined ? null : this.parts.toFailure(error, true);
    const { from: to, posts: n } = asked;
    asked.posts++;
    this.post({ type: 'post', to, term: this.term, id, n, messages, failure });
    if (asked.posts - asked.heard > MOST_UNHEARD) this.free(id);
  }

  private note(asked: Asked, message: { type?: string; promptIds?: readonly number[] }): void {
    if (message.type === 'start') asked.length = message.promptIds?.length ?? 0;
    else if (message.type === 'token') asked.length++;
    else if (message.type === 'done') this.host.running.delete(asked);
    else if (message.type === 'tuned') {
      const { attention, step } = message as TuneMessage & { type: 'tuned' };
      Object.assign(this.host.info, { attention, step });
    }
  }

  /** Frees what the tab does not name, and says what it should have heard of the rest. */
  private pong(to: string, ids: readonly string[]): void {
    const named = new Set(ids);
    for (const [id, { from }] of [...this.asked]) if (from === to && !named.has(id)) this.free(id);
    const postsOf = (id: string) => {
      const asked = this.asked.get(id);
      return asked?.from === to ? asked.posts : null;
    };
    this.post({ type: 'pong', to, term: this.term, posts: [...named].map((id) => ({ id, posts: postsOf(id) })) });
  }

  private leave(from: string): void {
    this.watched.delete(from);
    for (const [id, asked] of [...this.asked]) if (asked.from === from) this.free(id);
  }

  private free(id: string): void {
    const asked = this.asked.get(id);
    if (!asked) return;
    this.asked.delete(id);
    this.host.running.delete(asked);
    asked.sent?.close();
  }
}
