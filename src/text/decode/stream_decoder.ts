// Ids as they arrive -> text that may be shown now. What is shown is never taken back: half a character, a character that
// may still grow, and the beginning of a stop string wait. The whole stream equals `tokenizer.decode` of all ids, or, where it
// goes on a text, what decode adds to that text.

import type { Tokenizer } from '../tokenizer';
import { unfinishedLength } from './graphemes';

export interface StreamDecoder {
  /** Text that may be shown now; often empty. */
  push(id: number): string;
  /** What was held back, at the end of the answer. */
  flush(): string;
  /** All text released so far. */
  readonly text: string;
  /** A stop string was found; the text ends before it, and further ids give nothing. */
  readonly stopped: boolean;
}

export interface StreamOptions {
  stop?: readonly string[];
  /** The ids go on a text: their first space is one of the text, and no mark of its beginning. Default false. */
  goesOn?: boolean;
}

export function createStreamDecoder(tokenizer: Tokenizer, options: StreamOptions = {}): StreamDecoder {
  const stops = (options.stop ?? []).filter((stop) => stop !== '');
  let utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  let started = false; // a token with text was seen
  let dropSpace = false; // the first character is a space that decode() leaves out
  let pending = '';
  let released = '';
  let stopped = false;

  function release(length: number): string {
    const text = pending.slice(0, length);
    pending = pending.slice(length);
    released += text;
    return text;
  }

  /** Adds decoded text and answers what may go; `last` says that nothing follows. */
  function advance(text: string, last: boolean): string {
    if (text !== '' && dropSpace) {
      dropSpace = false;
      pending += text.slice(1);
    } else {
      pending += text;
    }
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
      if (!started) {
        started = true;
        // Alone, the first token shows whether this vocabulary drops the first space.
        const isSpace = !options.goesOn && bytes[0] === 0x20;
        dropSpace = isSpace && !tokenizer.decode([id]).startsWith(new TextDecoder().decode(bytes));
      }
      return advance(utf8.decode(bytes, { stream: true }), false);
    },
    flush() {
      if (stopped) return '';
      const rest = utf8.decode();
      utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
      return advance(rest, true);
    },
    get text() {
      return released;
    },
    get stopped() {
      return stopped;
    },
  };
}

/** Where the earliest stop string begins; -1 for none. */
function firstStop(text: string, stops: readonly string[]): number {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return places.length > 0 ? Math.min(...places) : -1;
}

/** Length of the longest end of the text that a stop string begins with. */
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
