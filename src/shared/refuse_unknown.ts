// Refuses options that a call does not know.

import { InvalidRequestError } from '../errors';
import { nearest } from './nearest';

/** Names are cut to this many characters in messages. */
const MAX_QUOTED = 80;

/** @throws InvalidRequestError for a key that is none of the names. It says the nearest, and all. */
export function refuseUnknown(given: object, names: readonly string[]): void {
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || names.includes(key)) continue;
    const meant = nearest(key, names);
    const but = meant === undefined ? '' : `, but ${meant} is`;
    const name = key.slice(0, MAX_QUOTED);
    throw new InvalidRequestError(`${name} is no option${but}. Choose among ${names.join(', ')}.`, name);
  }
}
