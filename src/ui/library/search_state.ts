// What a search over all conversations tells while it runs.

import type { Found } from './find_words';

/** Results at which a search ends. Nobody reads so many. */
export const MAX_RESULTS = 100;

export interface ScanState {
  found: readonly Found[];
  /** Conversations that have been searched, of `total`. */
  done: number;
  total: number;
}
