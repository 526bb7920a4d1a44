// The way to what finds authors (provenance.ts), a part that comes with the first message that could forge a token.
// Until it is there, such a message has no ids.

import { arrived, MissingPartError } from '../../shared/part';
import type * as Provenance from './provenance';

let known: typeof Provenance.runTwice | null = null;

/** @throws MissingPartError until `loadProvenance` has resolved */
export const runAuthored: typeof Provenance.runTwice = (...given) => {
  if (known) return known(...given);
  throw new MissingPartError();
};

/** @throws MissingPartError */
export async function loadProvenance(): Promise<void> {
  const { runTwice } = await arrived(import('./provenance'));
  known = runTwice;
}

/**
 * Runs work that encodes conversations, and once more where it needs the part.
 * @throws MissingPartError where the part does not come
 */
export async function withProvenance<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MissingPartError)) throw error;
    await loadProvenance();
    return work();
  }
}
