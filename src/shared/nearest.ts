// The name that somebody may have meant. Pure.

/** The nearest of the known names, or undefined where none is near. Case, dashes and underscores do not count. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const changed = (other: string) => changedLetters(bare(name), bare(other));
  const [found] = known
    .filter((other) => changed(other) < Math.min(3, other.length))
    .sort((a, b) => changed(a) - changed(b));
  return found;
}

const bare = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');

/** The letters between the beginning and the end that two names share, in the longer one. */
export function changedLetters(a: string, b: string): number {
  let [start, end] = [0, 0];
  while (a[start] && a[start] === b[start]) start++;
  while (end < b.length - start && a.at(~end) === b.at(~end)) end++;
  return Math.max(a.length, b.length) - start - end;
}
