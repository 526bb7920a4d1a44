// One request to the worker: the messages that come back through its port, in order, until the request ends.
// The worker's death, its failures and the caller's stop all end the same inbox, so that a message costs no listener.

import { type Remote, transfer } from 'comlink';
import { callError, fromFailure } from '../failure';
import type { PortMessages, WorkerApi, WorkerFailure } from '../protocol';
import type { Connection } from './connection';

/** The last thing in the inbox: an error, or the end without one. */
type Last = { error: unknown } | 'end';

export class Request<Message extends object> {
  private readonly port: MessagePort;
  private readonly inbox: Message[] = [];
  private last: Last | null = null;
  /** Resolves the `take` that waits. */
  private wake: (() => void) | null = null;
  private hasBegun = false;
  private grace: ReturnType<typeof setTimeout> | undefined;
  private ignoreDeath: () => void = () => {};

  /**
   * An abort of `signal` stops the worker and ends the request: after `graceMs` when the worker has begun, so that its
   * last messages arrive, else at once.
   */
  constructor(
    connection: Pick<Connection, 'worker' | 'onEnd'>,
    send: (worker: Remote<WorkerApi>, port: MessagePort) => Promise<void>,
    private readonly signal?: AbortSignal,
    private readonly graceMs = 0,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    if (signal?.aborted) {
      this.last = 'end';
      return;
    }
    port1.onmessage = this.onMessages;
    signal?.addEventListener('abort', this.onAbort);
    this.ignoreDeath = connection.onEnd((error) => this.end({ error }));
    send(connection.worker, transfer(port2, [port2])).catch((error) => this.end({ error: callError(error) }));
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

  /** Ends the request without the messages that have not come. */
  leave(): void {
    this.end('end');
  }

  /** Stops the worker if it still works on the request. */
  close(): void {
    this.ignoreDeath();
    this.signal?.removeEventListener('abort', this.onAbort);
    clearTimeout(this.grace);
    this.port.postMessage('stop');
    this.port.close();
  }

  private readonly onMessages = ({ data }: MessageEvent<PortMessages<Message>>) => {
    this.hasBegun = true;
    for (const message of data) {
      if (isFailure(message)) this.end({ error: fromFailure(message) });
      else if (this.last === null) this.inbox.push(message);
    }
    this.wake?.();
  };

  private readonly onAbort = () => {
    this.port.postMessage('stop');
    if (this.hasBegun && this.graceMs > 0) this.grace = setTimeout(() => this.end('end'), this.graceMs);
    else this.end('end');
  };

  private end(last: Last): void {
    this.last ??= last;
    this.wake?.();
  }
}

function isFailure(message: object): message is WorkerFailure {
  return 'type' in message && message.type === 'error';
}
