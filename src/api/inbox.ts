// The events of an answer in bursts: what arrived while the reader was busy comes together, and a slow reader gets
// ever larger bursts.

import type { EngineEvent } from './api_engine';

export class Inbox {
  private events: EngineEvent[] = [];
  private hasEnded = false;
  /** The reason why no more events come. An abort drops those that wait, any other error comes after them. */
  private failure: { error: unknown } | null = null;
  private isAborted = false;
  /** Resolves what waits for an event, and what waits for the end of a burst. */
  private wake: (() => void) | null = null;
  private endBurst: (() => void) | null = null;
  private readonly stopper = new AbortController();
  private readonly channel = new MessageChannel();

  /** @param start asks an engine; its signal stops the answer */
  constructor(
    start: (signal: AbortSignal) => AsyncIterable<EngineEvent>,
    private readonly signal: AbortSignal | undefined,
  ) {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', this.onAbort);
    void this.collect(start);
  }

  /** Resolves once the engine has accepted the request. @throws the engine's error if it has not, or the abort */
  async accepted(): Promise<void> {
    while (!this.events.some(({ type }) => type !== 'warning') && !this.hasEnded) await this.news();
    this.throwFailure();
  }

  /** The next burst, or null at the end. @throws the engine's error, after the events before it, or the abort */
  async take(): Promise<EngineEvent[] | null> {
    while (this.events.length === 0 && !this.hasEnded) await this.news();
    if (!this.hasEnded) await this.nextTask();
    this.throwFailure();
    const burst = this.events;
    this.events = [];
    return burst.length > 0 ? burst : null;
  }

  /** Stops the engine. */
  stop(): void {
    this.stopper.abort();
    this.end(null);
  }

  private async collect(start: (signal: AbortSignal) => AsyncIterable<EngineEvent>): Promise<void> {
    try {
      for await (const event of start(this.stopper.signal)) {
        if (this.hasEnded) return; // returns the engine's iterator
        this.events.push(event);
        this.wake?.();
      }
      this.end(null);
    } catch (error) {
      this.end({ error });
    }
  }

  private readonly onAbort = () => {
    if (this.hasEnded) return;
    this.isAborted = true;
    this.end({ error: this.signal?.reason });
    this.stopper.abort(this.signal?.reason);
  };

  private throwFailure(): void {
    if (this.failure && (this.isAborted || this.events.length === 0)) throw this.failure.error;
  }

  private end(failure: { error: unknown } | null): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.failure = failure;
    this.signal?.removeEventListener('abort', this.onAbort);
    this.channel.port1.close();
    this.wake?.();
    this.endBurst?.();
  }

  private news(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /** Resolves after what has arrived already. Timers would wait a second in a hidden page. */
  private nextTask(): Promise<void> {
    return new Promise((resolve) => {
      this.endBurst = resolve;
      this.channel.port1.onmessage = () => resolve();
      this.channel.port2.postMessage(null);
    });
  }
}
