// An answer as a stream of Server-Sent Events. One burst is one read of the stream.

import type { EngineEvent } from '../../api_engine';
import type { Inbox } from './inbox';

/** Writes an answer as the text of its events. An empty text sends nothing. */
export interface StreamWriter {
  write(events: readonly EngineEvent[]): string;
  /** @throws if the answer is not complete */
  end(): string;
  /** The last event of an answer that failed: by now the status cannot tell. */
  fail(error: unknown): string;
}

/** The response that reads an accepted answer. It stops the engine when its reader leaves. */
export function eventStream(inbox: Inbox, writer: StreamWriter, signal: AbortSignal | undefined): Response {
  const encoder = new TextEncoder();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    let text = '';
    let isLast = false;
    try {
      signal?.throwIfAborted(); // the inbox of an answer that is done hears no abort
      while (!text && !isLast) {
        const events = await inbox.take();
        isLast = !events;
        text = events ? writer.write(events) : writer.end();
      }
    } catch (error) {
      if (signal?.aborted) throw error;
      inbox.stop();
      isLast = true;
      text = writer.fail(error);
    }
    if (text) controller.enqueue(encoder.encode(text));
    if (isLast) controller.close();
  };
  const stream = new ReadableStream({ pull, cancel: () => inbox.stop() }, { highWaterMark: 0 });
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(stream, { headers });
}

export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
