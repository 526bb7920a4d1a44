// Text that can be shown: what a later token may change, and the beginning of a stop string, wait.

import { unfinishedLength } from './graphemes';

export class ShownText {
  private pending = '';
  /** True once a stop string was found. The text ends before it. */
  stopped = false;

  constructor(private readonly stops: readonly string[]) {}

  /** Adds text and returns the text to show. `last`: nothing follows. */
  add(text: string, last: boolean): string {
    if (this.stopped) return '';
    this.pending += text;
    const found = this.stops.length > 0 ? firstOf(this.stops, this.pending) : -1;
    if (found >= 0) {
      this.stopped = true;
      return this.take(found);
    }
    if (last) return this.take(this.pending.length);
    const held = Math.max(unfinishedLength(this.pending), beginningOf(this.stops, this.pending));
    return this.take(this.pending.length - held);
  }

  private take(length: number): string {
    const text = this.pending.slice(0, length);
    this.pending = this.pending.slice(length);
    return text;
  }
}

/** Index of the earliest of the words, or -1. */
function firstOf(words: readonly string[], text: string): number {
  const places = words.map((word) => text.indexOf(word)).filter((place) => place >= 0);
  return places.length > 0 ? Math.min(...places) : -1;
}

/** Length of the longest end of the text that begins one of the words. */
export function beginningOf(words: readonly string[], text: string): number {
  let longest = 0;
  for (const word of words) {
    for (let length = Math.min(word.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(word.slice(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}
