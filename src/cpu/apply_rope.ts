// Rotary position embedding of one token, by the angles of rope.ts.

import type { Rotary } from './rope';

/**
 * Turns every pair (a, b) of every head, in place: (a, b) -> (a cos - b sin, b cos + a sin).
 *
 * x: (n_heads, head_dim) of one token; cosSin: (head_dim / 2, 2), that token's row of `ropeTable`. Pairs lie within the
 * first `rotaryDim` elements of a head; the others stay.
 */
export function applyRope(
  x: Float32Array,
  cosSin: Float32Array,
  headDim: number,
  rotary: Rotary,
  rotaryDim = headDim,
): void {
  const half = rotaryDim / 2;
  for (let head = 0; head < x.length; head += headDim) {
    for (let j = 0; j < half; j++) {
      const ia = rotary === 'half' ? head + j : head + 2 * j;
      const ib = rotary === 'half' ? ia + half : ia + 1;
      const a = x[ia];
      const b = x[ib];
      const cos = cosSin[2 * j];
      const sin = cosSin[2 * j + 1];
      x[ia] = a * cos - b * sin;
      x[ib] = b * cos + a * sin;
    }
  }
}
