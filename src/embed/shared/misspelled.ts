// Attributes that are nearly those of a tag or of an element. Others belong to the page and its tools. Pure.

import { changedLetters } from '../../shared/known_names';

/** Complains of each name that is nearly a known one. @param prefix of the names in complaints */
export function findMisspelled(
  names: readonly string[],
  known: readonly string[],
  prefix: string,
  complaints: string[],
): void {
  for (const name of names) {
    const meant = known.find((other) => (other.length > 3 ? isNear(name, other) : sorted(name) === sorted(other)));
    if (meant && !known.includes(name))
      complaints.push(
        `${prefix}${name} is no attribute, but ${prefix}${meant} is (docs/embedding.md); it is left out.`,
      );
  }
}

/** The letters of a name in order: short names have too many neighbors, so only exchanged letters count there. */
const sorted = (name: string): string => [...name].sort().join('');

/** True if all but two neighboring letters are the same: one is missing, too many, wrong or exchanged with the next. */
const isNear = (a: string, b: string): boolean => changedLetters(a, b) < 3;
