// One request to the worker: the messages that come back through its port, in order, until the request ends.
// The worker's death, its failures and the caller's stop all end the same inbox, so that a message costs no listener.

import { checkSignal } from '../../shared/abortable';
import type { EngineHost, HostConnection, Sent, WorkerRequest } from './host/host';

/** The last thing in the inbox: an error, or the end without one. */
type Last = { error: unknown } | 'end';

/** Options for a worker, which refuses the text of a function or of a symbol with the names of all options. */
export function sendable<Options extends object>(options: Options): Options {
  const sent = { ...options } as Record<string, unknown>;
  for (const key in sent) if (['function', 'symbol'].includes(typeof sent[key])) sent[key] = String(sent[key]);
  return sent as Options;
}

export class Request<Message extends object> {
  /** Resolves when the request has a worker, or with false if it ends before. */
  readonly connected: Promise<boolean>;
  private readonly inbox: Message[] = [];
  private last: Last | null = null;
  /** Resolves the `take` that waits. */
  private wake: (() => void) | null = null;
  private hasBegun = false;
  private grace: ReturnType<typeof setTimeout> | undefined;
  private connection: HostConnection | null = null;
  private sent: Sent | null = null;
  private connect: (isThere: boolean) => void = () => {};
  private endWait: () => void = () => {};
  private ignoreDeath: () => void = () => {};

  /**
   * Waits for a worker, also while the engine recovers. An abort of `signal` stops the worker and ends the request:
   * after `graceMs` when the worker has begun, so that its last messages arrive, else at once.
   */
  constructor(
    engine: Pick<EngineHost, 'whenReady'>,
    { kind, body }: WorkerRequest,
    private readonly signal?: AbortSignal,
    private readonly graceMs = 0,
  ) {
    checkSignal(signal);
    this.connected = new Promise((resolve) => {
      this.connect = resolve;
    });
    if (signal?.aborted) {
      this.end('end');
      return;
    }
    signal?.addEventListener('abort', this.onAbort);
    const fail = (error: unknown) => this.end({ error });
    const begin = (connection: HostConnection) => {
      this.connection = connection;
      this.connect(true);
      this.ignoreDeath = connection.onEnd(fail);
      const asked = { kind, body: { ...body, options: sendable(body.options) } } as WorkerRequest;
      if (!this.last) this.sent = connection.send(asked, { hear: this.onMessages, fail });
    };
    this.endWait = engine.whenReady({ begin, fail });
  }

  /** The next message, or undefined at the end. @throws the error, after the messages before it */
  async take(): Promise<Message | undefined> {
    while (this.inbox.length === 0 && this.last === null) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    if (this.inbox.length === 0 && this.last !== 'end') throw this.last?.error;
    return this.inbox.shift();
  }

  /** True if `error` is the loss of the worker or of its GPU. */
  isLoss(error: unknown): boolean {
    return this.connection !== null && error === this.connection.lost;
  }

  /** Ends the request without the messages that have not come. */
  leave(): void {
    this.end('end');
  }

  /** Stops the worker if it still works on the request. */
  close(): void {
    this.endWait();
    this.ignoreDeath();
    this.signal?.removeEventListener('abort', this.onAbort);
    clearTimeout(this.grace);
    this.sent?.close();
  }

  private readonly onMessages = (messages: readonly object[]) => {
    this.hasBegun ||= messages.some((message) => !('type' in message && message.type === 'queued'));
    if (this.last === null) this.inbox.push(...(messages as readonly Message[]));
    this.wake?.();
  };

  private readonly onAbort = () => {
    this.sent?.stop();
    if (this.hasBegun && this.graceMs > 0) this.grace = setTimeout(() => this.end('end'), this.graceMs);
    else this.end('end');
  };

  private end(last: Last): void {
    this.last ??= last;
    this.connect(false);
    this.wake?.();
  }
}
