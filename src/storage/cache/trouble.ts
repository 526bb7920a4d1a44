// What a person is told about storage that fails.

import { LateError } from '../../shared/with_timeout';
import { isQuotaError } from './piece_store';

/** `cache-full`, `storage-hangs` or `storage-refused`. */
export function troubleCode(error: unknown): string {
  if (isQuotaError(error)) return 'cache-full';
  return error instanceof LateError ? 'storage-hangs' : 'storage-refused';
}

/** The text of the warning for storage that hangs or refuses. */
export function describeTrouble(error: unknown): string {
  const why = error instanceof Error ? error.message || error.name : String(error);
  const works = 'The model works, and what is not kept is fetched again at the next load.';
  if (error instanceof LateError) {
    return `${why} ${works} Another tab of this site may hold it: close that tab, or restart the browser.`;
  }
  const remedy = 'Private windows, frames of other sites and pages without HTTPS keep nothing.';
  return `This browser's storage refused (${why.replace(/\.$/, '')}). ${works} ${remedy}`;
}
