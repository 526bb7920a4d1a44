// Sets of bytes, as 256 flags.

import type { ByteRange } from '../grammar';

export type ByteSet = Uint8Array;

export const noBytes = (): ByteSet => new Uint8Array(256);

/** Adds all bytes of `added`. True where one of them is new. */
export function addAll(set: ByteSet, added: ByteSet): boolean {
  let isNew = false;
  for (let b = 0; b < 256; b++) {
    if (added[b] === 0 || set[b] !== 0) continue;
    set[b] = 1;
    isNew = true;
  }
  return isNew;
}

/** Adds all bytes of the ranges. True where one of them is new. */
export function addRanges(set: ByteSet, ranges: readonly ByteRange[]): boolean {
  let isNew = false;
  for (const [first, last] of ranges) {
    for (let b = first; b <= last; b++) {
      isNew ||= set[b] === 0;
      set[b] = 1;
    }
  }
  return isNew;
}

export function meet(a: ByteSet, b: ByteSet): boolean {
  for (let byte = 0; byte < 256; byte++) if (a[byte] !== 0 && b[byte] !== 0) return true;
  return false;
}
