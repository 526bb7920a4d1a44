// The events of an answer, put together.

import type { EngineEvent } from '../../src/engine/protocol';

export async function collect(events: AsyncIterable<EngineEvent>) {
  const all: EngineEvent[] = [];
  for await (const event of events) all.push(event);
  const ofType = <T extends EngineEvent['type']>(type: T) =>
    all.filter((event): event is Extract<EngineEvent, { type: T }> => event.type === type);
  const tokens = ofType('token');
  const done = ofType('done').at(-1);
  return {
    all,
    tokens,
    done,
    text: [...tokens, ...ofType('done')].map((event) => event.text).join(''),
    reasoning: ofType('reasoning')
      .map((event) => event.text)
      .join(''),
    calls: ofType('tool-call'),
    callErrors: ofType('tool-call-error'),
    prefill: ofType('prefill').map(({ done, total }) => [done, total]),
    warnings: ofType('warning').map(({ message }) => message),
    starts: ofType('start'),
    finishReason: done?.finishReason,
    usage: done?.usage,
    metrics: done?.metrics,
  };
}

export const HELLO = [{ role: 'user', content: 'Hello' }] as const;
