// The body of a response as Server-Sent Events with the times at which their bytes came. Every size is bounded, and so
// is each wait.

import { createParser } from 'eventsource-parser';
import type { Clock } from '../clock';
import { malformed } from '../server/bounded_json';
import { readWithin } from '../server/bytes';

/** The data of an event, and when its last bytes came, in milliseconds of the clock. */
export interface ServerEvent {
  data: string;
  /** `error` for an error; most servers name no events. */
  name: string;
  atMs: number;
}

interface StreamBounds {
  /** Most characters of a line and of an event. */
  eventLetters: number;
  /** Most events of a stream, and most bytes. */
  events: number;
  bytes: number;
  /** Longest time without bytes. */
  silenceMs: number;
}

export const STREAM_BOUNDS: StreamBounds = {
  eventLetters: 2 ** 20,
  events: 2 ** 20,
  bytes: 2 ** 28,
  silenceMs: 60_000,
};

/** Letters for the parser at once: its search for two kinds of line ends is quadratic in a text of short lines. */
const SLICE = 4096;

/**
 * The events of a body in the order of their arrival; those of one read share a time. Ends with the body: a caller
 * knows whether that was the end. Ends with `signal`, too. Cancels the body when the caller leaves.
 * @throws RemoteError for a silence, a broken connection, or more than the bounds
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  clock: Clock,
  bounds: StreamBounds = STREAM_BOUNDS,
  signal?: AbortSignal,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder(); // keeps half a character for the next read
  const inbox = new EventInbox(bounds);
  let bytes = 0;
  try {
    for (;;) {
      const value = await readWithin(reader, bounds.silenceMs, clock, signal);
      if (!value) return;
      const atMs = clock.now();
      bytes += value.length;
      if (bytes > bounds.bytes) throw malformed(`sent more than ${bounds.bytes} bytes for one answer`);
      yield* inbox.take(decoder.decode(value, { stream: true }), atMs);
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** Text to events. */
class EventInbox {
  private events: ServerEvent[] = [];
  private count = 0;
  private atMs = 0;
  private isTooLong = false;
  private readonly parser;

  constructor(private readonly bounds: StreamBounds) {
    this.parser = createParser({
      maxBufferSize: bounds.eventLetters,
      onEvent: ({ data, event = '' }) => this.events.push({ data, name: event, atMs: this.atMs }),
      onError: ({ type, field, value = '' }) => {
        this.isTooLong ||= type === 'max-buffer-size-exceeded';
        // The standard ignores unknown fields, but errors of older versions of llama.cpp's server are one.
        if (type === 'unknown-field' && field === 'error')
          this.events.push({ data: value, name: 'error', atMs: this.atMs });
      },
    });
  }

  *take(text: string, atMs: number): Generator<ServerEvent, void, undefined> {
    const { eventLetters, events: most } = this.bounds;
    this.atMs = atMs;
    for (let i = 0; i < text.length; i += SLICE) {
      this.parser.feed(text.slice(i, i + SLICE));
      const events = this.events;
      this.events = [];
      this.count += events.length;
      if (this.isTooLong || events.some(({ data }) => data.length > eventLetters))
        throw malformed(`sent an event of more than ${eventLetters} letters`);
      if (this.count > most) throw malformed(`sent more than ${most} events for one answer`);
      yield* events;
    }
  }
}
