// Values to measure with, for the tuner and the race.

/** Values from -1 to 1, the same at each call (Marsaglia 2003, xorshift). */
export function randomFloats(count: number, seed: number): Float32Array<ArrayBuffer> {
  let state = seed;
  return new Float32Array(count).map(() => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 2 ** 31;
  });
}
