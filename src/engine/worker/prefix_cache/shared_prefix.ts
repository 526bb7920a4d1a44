// What two conversations have in common, and how much of it is worth something.

/** Fewer tokens than these are prefilled again sooner than they are copied. */
export const LEAST_TOKENS = 16;
/** Shorter prompts are not stored: they are computed again. */
export const LEAST_STORED = 256;

/** The number of leading ids that two branches have in common. */
export function sharedPrefix(a: ArrayLike<number>, b: ArrayLike<number>, most = Number.POSITIVE_INFINITY): number {
  const end = Math.min(a.length, b.length, most);
  let n = 0;
  while (n < end && a[n] === b[n]) n++;
  return n;
}
