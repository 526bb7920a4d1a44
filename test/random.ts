/** Seeded random numbers in [0, 1) by mulberry32, so that a failing case can be repeated. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `length` numbers, uniform in [-scale, scale). */
export function randomArray(length: number, seed: number, scale = 1): Float32Array<ArrayBuffer> {
  const next = randomSource(seed);
  return Float32Array.from({ length }, () => (2 * next() - 1) * scale);
}
