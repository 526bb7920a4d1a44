// The way of one request to the model, wherever that is, until the model is lost.

import type { VivaceError } from '../engine/engine';
import type { HostConnection, Receiver, Sent, WorkerRequest } from '../engine/page/host/host';

type Listener = (error: Error) => void;

export class TabConnection implements HostConnection {
  lost: VivaceError | null = null;
  private ended: Error | null = null;
  private readonly listeners = new Set<Listener>();

  /** @param onLeft runs when nobody listens any more */
  constructor(
    readonly send: (request: WorkerRequest, receiver: Receiver) => Sent,
    private readonly onLeft: () => void,
  ) {}

  onEnd(listener: Listener): () => void {
    if (this.ended) {
      listener(this.ended);
      return () => {};
    }
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.onLeft();
    };
  }

  /** The model is lost: the request may go on elsewhere. */
  lose(error: VivaceError): void {
    if (this.ended) return;
    this.lost = error;
    this.end(error);
  }

  end(error: Error): void {
    if (this.ended) return;
    this.ended = error;
    for (const listener of [...this.listeners]) listener(error);
  }
}
