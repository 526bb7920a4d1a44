// The events of an answer in bursts: what arrived while the reader was busy comes together, and a slow reader gets
// ever larger bursts.

import { nextTask } from '../../../shared/next_task';
import type { EngineEvent } from '../../api_engine';

/**
 * News that are no part of an answer. While the engine is busy or recovers, the reader waits: a stream in the page has
 * no idle timeout. The engine may still refuse the request behind them.
 */
const NEWS = /^(queued|warning|place|interrupted|recovered)$/;

export class Inbox {
  private events: EngineEvent[] = [];
  private hasEnded = false;
  /** The reason why the events end early. */
  private failure: { error: unknown } | null = null;
  private wake: () => void = () => {};
  private readonly stopper = new AbortController();

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
    while (!this.hasEnded && this.events.length === 0)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    if (this.failure && this.events.length === 0) throw this.failure.error;
  }

  /** The next burst, or null at the end. @throws the engine's error, after the events before it, or the abort */
  async take(): Promise<EngineEvent[] | null> {
    await this.accepted();
    if (!this.hasEnded) await nextTask();
    const burst = this.events;
    if (burst.length === 0 && this.failure) throw this.failure.error;
    this.events = [];
    return burst.length > 0 ? burst : null;
  }

  /** Stops the engine. No more events come. */
  stop(failure: { error: unknown } | null = null): void {
    this.events = [];
    this.end(failure);
    this.stopper.abort(failure?.error);
  }

  private async collect(start: (signal: AbortSignal) => AsyncIterable<EngineEvent>): Promise<void> {
    try {
      for await (const event of start(this.stopper.signal)) {
        if (this.hasEnded) return; // returns the engine's iterator
        if (NEWS.test(event.type)) continue;
        this.events.push(event);
        this.wake();
      }
      this.end(null);
    } catch (error) {
      this.end({ error });
    }
  }

  private readonly onAbort = () => this.stop({ error: this.signal?.reason });

  private end(failure: { error: unknown } | null): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.failure = failure;
    this.signal?.removeEventListener('abort', this.onAbort);
    this.wake();
  }
}
