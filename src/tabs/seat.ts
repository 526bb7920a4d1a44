// The requests of this tab to the tab that leads, and what came of each. A gap in what comes ends the request as a
// loss, so that it goes on from what was heard.

import type { Receiver, Sent } from '../engine/page/host/host';
import type { TokenizedInput } from '../engine/protocol';
import type { TabConnection } from './tab_connection';
import { type ErrorParts, type FromLeader, TAB_GONE, type TabRequest, type ToLeader } from './wire';

type TokenizeBody = Extract<TabRequest, { kind: 'tokenize' }>['body'];

/** Posts between two signs that they were heard. */
const SIGN_EVERY = 256;

interface Open {
  readonly receiver: Receiver;
  readonly connection: TabConnection;
  heard: number;
}

export class Seat {
  /** The term that is asked. Empty: no tab is known to lead. */
  term = '';
  /** The model of the term answers. */
  isReady = false;
  private readonly open = new Map<string, Open>();

  constructor(
    private readonly id: string,
    private readonly newId: () => string,
    private readonly parts: ErrorParts,
    private readonly post: (message: ToLeader) => void,
  ) {}

  get isWaiting(): boolean {
    return this.open.size > 0;
  }

  send(request: TabRequest, receiver: Receiver, connection: TabConnection): Sent {
    const { id: from, term } = this;
    const id = this.newId();
    this.open.set(id, { receiver, connection, heard: 0 });
    const stop = (isOver: boolean) => this.post({ type: 'stop', from, term, id, isOver });
    try {
      this.post({ type: 'ask', from, term, id, request });
    } catch (error) {
      this.open.delete(id);
      receiver.fail(this.parts.callError(error));
    }
    const close = () => {
      if (this.open.delete(id)) stop(true);
    };
    return { stop: () => this.open.has(id) && stop(false), close };
  }

  /** The ids of an input. @throws the error of the connection where it ends before */
  tokenize(body: TokenizeBody, connection: TabConnection): Promise<TokenizedInput> {
    let close = () => {};
    const counted = new Promise<TokenizedInput>((resolve, reject) => {
      const ignore = connection.onEnd(reject);
      const hear = ([result]: readonly object[]) => resolve(result as TokenizedInput);
      const sent = this.send({ kind: 'tokenize', body }, { hear, fail: reject }, connection);
      close = () => {
        ignore();
        sent.close();
      };
    });
    return counted.finally(close); // a refusal, too: the leading tab answers so many at a time
  }

  /** Leaves the term. Its requests are lost already. */
  leave(): void {
    this.term = '';
    this.isReady = false;
    this.open.clear();
  }

  ping(): void {
    const { id: from, term } = this;
    this.post(this.isReady ? { type: 'ping', from, term, ids: [...this.open.keys()] } : { type: 'hello', from });
  }

  hear(message: Exclude<FromLeader, { type: 'state' }>): void {
    if (message.type === 'pong') this.compare(message.posts);
    else this.hearPost(message);
  }

  private hearPost({ id, n, messages, failure }: Extract<FromLeader, { type: 'post' }>): void {
    const { term, id: from } = this;
    const open = this.open.get(id);
    if (!open) {
      // The stop of a request that goes on was lost.
      if (n % SIGN_EVERY === SIGN_EVERY - 1) this.post({ type: 'stop', from, term, id, isOver: true });
      return;
    }
    if (n > open.heard) this.miss(id, open);
    if (n !== open.heard) return;
    open.heard++;
    if (open.heard % SIGN_EVERY === 0) this.post({ type: 'heard', from, term, id, posts: open.heard });
    if (messages.length > 0) open.receiver.hear(messages);
    if (failure) open.receiver.fail(this.parts.fromFailure(failure));
  }

  /** A pong comes after all posts that it counts. It knows nothing of what was asked after its ping. */
  private compare(posts: Extract<FromLeader, { type: 'pong' }>['posts']): void {
    for (const { id, posts: sent } of posts) {
      const open = this.open.get(id);
      if (open && open.heard !== sent) this.miss(id, open);
    }
  }

  private miss(id: string, { connection }: Open): void {
    const { id: from, term } = this;
    this.open.delete(id);
    this.post({ type: 'stop', from, term, id, isOver: true });
    connection.lose(new this.parts.VivaceError(TAB_GONE, 'A message of the tab that runs the model was lost.'));
  }
}
