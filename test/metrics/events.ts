// Events of the engine for tests of the panel.

import type { TokenEvent } from '../../src/engine/protocol';

/** A token event with default values for the fields that the test leaves out. */
export function tokenEvent(event: Partial<TokenEvent> = {}): TokenEvent {
  const stages = { atMs: 0, inFlightMs: 2, workerMs: event.tbtMs === null ? null : 0.1 };
  return { type: 'token', id: 1, text: 'a', tbtMs: null, position: 9, ...stages, ...event };
}
