// Addresses of scripts for pages that want trusted types (require-trusted-types-for 'script'). Imports nothing of ours but errors.

import { WorkerError } from '../../errors';

interface Policy {
  createScriptURL(url: string): string;
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy;
}

/** A second bundle on the same page may have taken the first name, and a page may forbid to take one twice. */
const NAMES = ['vivace', 'vivace-2'];

/** Shared by all engines of a bundle. */
let policy: Policy | null = null;

function makePolicy(factory: PolicyFactory): Policy {
  for (const name of NAMES) {
    try {
      return factory.createPolicy(name, { createScriptURL: (url) => url });
    } catch {
      // taken, or not on the page's list
    }
  }
  throw new WorkerError(`The page's Content-Security-Policy must allow "trusted-types ${NAMES.join(' ')}".`);
}

/**
 * What a page that wants trusted types takes as the address of a script of ours; elsewhere the address itself.
 * @throws WorkerError when the page's policy allows no trusted-types policy of ours
 */
export function trustedScriptUrl(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };
  if (!trustedTypes) return url;
  policy ??= makePolicy(trustedTypes);
  return policy.createScriptURL(url);
}
