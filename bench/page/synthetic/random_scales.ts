// Planes of random scales for synthetic weights whose values are 0 on average, so that sums do not drift.

import { halfToNumber, toHalf } from '../../../src/cpu/half';
import { randomSource } from '../../../test/random';
import type { Quant } from '../../report';

/** 32-bit words, of which `period` make a whole: planes begin at a multiple of it. */
export interface ScaleWords {
  words: Uint32Array<ArrayBuffer>;
  period: number;
}

/**
 * About `length` words of scales around `scale`: f16, or the small integers of a K-quant and the f16 that multiply
 * them.
 */
export function randomScales(quant: Quant, scale: number, length: number): ScaleWords {
  const next = randomSource(16);
  const half = (factor = 1) => toHalf(factor * scale * (0.5 + next()));
  const fill = (period: number, write: (words: Uint32Array) => void): ScaleWords => {
    const words = new Uint32Array(length - (length % period));
    for (let at = 0; at < words.length; at += period) write(words.subarray(at, at + period));
    return { words, period };
  };
  switch (quant) {
    case 'q4_k':
    case 'q5_k':
      return fill(4, (words) => kHeader(words, half(), quant === 'q4_k' ? 7.5 : 15.5, next));
    case 'q6_k': // signed bytes from -16 to 15, and d
      return fill(5, (words) => {
        const bytes = Int8Array.from({ length: 16 }, () => Math.floor(32 * next()) - 16);
        words.set([...new Uint32Array(bytes.buffer), half()]);
      });
    default:
      return fill(1, (words) => words.set([half() | (half() << 16)]));
  }
}

/**
 * Scales of 6 bits, and minima equal to them (ggml-quants.c, get_scale_min_k4): dmin is as many d as the mean of the
 * integers.
 */
function kHeader(words: Uint32Array, d: number, mean: number, next: () => number): void {
  const s = Array.from({ length: 8 }, () => Math.floor(64 * next()));
  const first = s.slice(0, 4).map((low, j) => low | ((s[j + 4] >> 4) << 6));
  const last = s.slice(4).map((high) => (high & 15) | ((high & 15) << 4));
  const bytes = Uint8Array.of(...first, ...first, ...last);
  words.set([d | (toHalf(mean * halfToNumber(d)) << 16), ...new Uint32Array(bytes.buffer)]);
}
