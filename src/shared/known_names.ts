// Names that a call knows: the one that somebody may have meant, and a refusal of all others.

import { InvalidRequestError } from '../errors';

/** Names are cut to this many characters in messages. */
const MAX_QUOTED = 80;

/** The nearest of the known names, or undefined where none is near. Case, dashes and underscores do not count. */
function nearest(name: string, known: readonly string[]): string | undefined {
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

/** @throws InvalidRequestError for a key that is none of the names. It says the nearest, and all. */
export function refuseUnknown(given: object, names: readonly string[]): void {
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || names.includes(key)) continue;
    const meant = nearest(key, names);
    const but = meant ? `, but ${meant} is` : '';
    const name = key.slice(0, MAX_QUOTED);
    throw new InvalidRequestError(`${name} is no option${but}. Choose among ${names.join(', ')}.`, name);
  }
}
