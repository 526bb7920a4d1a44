// Arriving ids to text that can be shown at once. Shown text is never taken back: half a character, a character that
// may still grow, and the beginning of a stop string wait. The whole stream equals `tokenizer.decode` of all ids or,
// when continuing a text, the part that decode would append to it.

import type { Tokenizer } from '../tokenizer';
import { unfinishedLength } from './graphemes';

export interface StreamDecoder {
  /** The text that can be shown now; often empty. */
  push(id: number): string;
  /** The text held back, at the end of the answer. */
  flush(): string;
  /** All text released so far. */
  readonly text: string;
  /** True once a stop string was found. The text ends before it, and further ids produce nothing. */
  readonly stopped: boolean;
}

export interface StreamOptions {
  stop?: readonly string[];
  /** The ids continue a text, so that their first space is part of the text. Default: false. */
  goesOn?: boolean;
}

export function createStreamDecoder(tokenizer: Tokenizer, options: StreamOptions = {}): StreamDecoder {
  const stops = (options.stop ?? []).filter((stop) => stop !== '');
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  let dropSpace: boolean | null = null; // decided by the first token with text
  let pending = '';
  let released = '';
  let stopped = false;

  function release(length: number): string {
    const text = pending.slice(0, length);
    pending = pending.slice(length);
    released += text;
    return text;
  }

  /** Adds decoded text and returns the text to release. `last`: nothing follows. */
  function advance(text: string, last: boolean): string {
    pending += dropSpace ? text.slice(1) : text;
    if (text !== '') dropSpace = false;
    const found = firstStop(pending, stops);
    if (found >= 0) {
      const before = release(found);
      pending = '';
      stopped = true;
      return before;
    }
    if (last) return release(pending.length);
    return release(pending.length - Math.max(unfinishedLength(pending), stopBeginning(pending, stops)));
  }

  return {
    push(id) {
      if (stopped) return '';
      const bytes = tokenizer.tokenBytes(id);
      if (bytes.length === 0) return '';
      dropSpace ??= !options.goesOn && leavesSpaceOut(tokenizer, id, bytes);
      return advance(utf8.decode(bytes, { stream: true }), false);
    },
    flush() {
      if (stopped) return '';
      return advance(utf8.decode(), true);
    },
    get text() {
      return released;
    },
    get stopped() {
      return stopped;
    },
  };
}

/** True if a text that begins with this token's space is decoded without the space. */
function leavesSpaceOut(tokenizer: Tokenizer, id: number, bytes: Uint8Array): boolean {
  return bytes[0] === 0x20 && !tokenizer.decode([id]).startsWith(new TextDecoder().decode(bytes));
}

/** Index of the earliest stop string, or -1. */
function firstStop(text: string, stops: readonly string[]): number {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return places.length > 0 ? Math.min(...places) : -1;
}

/** Length of the longest end of the text that begins a stop string. */
function stopBeginning(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(stop.slice(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}
