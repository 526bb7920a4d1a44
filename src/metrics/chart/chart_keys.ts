// Keys that go along a row of things, such as the tokens of a chart or its tabs. Pure.

/**
 * The index that a key leads to from `at`, or null for other keys.
 * @param wraps the ends connect, as in a row of tabs
 */
export function indexAfterKey(
  { key }: Pick<KeyboardEvent, 'key'>,
  at: number | null,
  count: number,
  wraps: boolean,
): number | null {
  if (count === 0) return null;
  const last = count - 1;
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return null;
  if (at === null) return step > 0 ? 0 : last;
  return wraps ? (at + step + count) % count : Math.min(last, Math.max(0, at + step));
}
