// Script addresses for pages with trusted types (require-trusted-types-for 'script'). Imports errors alone.

import { WorkerError } from '../../../errors';

interface Policy {
  createScriptURL(url: string): string;
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy;
}

/** Two names, because another bundle on the page may hold the first, and a page may forbid a name's second use. */
const NAMES = ['vivace', 'vivace-2'];

/** The one policy of all engines of a bundle. */
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
 * The address of a Vivace script, as a trusted script URL where the page has trusted types.
 * @throws WorkerError if the page's policy allows none of the trusted-types policies that Vivace creates
 */
export function trustedScriptUrl(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };
  if (!trustedTypes) return url;
  policy ??= makePolicy(trustedTypes);
  return policy.createScriptURL(url);
}
