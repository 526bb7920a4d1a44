// The tag of the running script, and other scripts from the place where it came from.

import { trustedScriptUrl } from '../../engine/engine';

/** Browsers tell it only during the first run. */
const own = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;

/**
 * Adds the script of this name beside the running one to the page. Null where the running script has no address.
 * @param onEnd is called once: with null, or with the address of a script that could not be loaded
 */
export function addScriptBeside(name: string, onEnd: (failed: string | null) => void): HTMLScriptElement | null {
  if (!own?.src) return null;
  const script = document.createElement('script');
  script.async = true;
  script.nonce = own.nonce;
  script.crossOrigin = own.crossOrigin;
  script.src = trustedScriptUrl(new URL(name, own.src).href);
  const over = new AbortController(); // the script stays in the page and would keep its listeners alive
  const end = (failed: string | null) => {
    over.abort();
    if (failed !== null) script.remove(); // the next call tries again
    onEnd(failed);
  };
  script.addEventListener('load', () => end(null), { signal: over.signal });
  script.addEventListener('error', () => end(script.src), { signal: over.signal });
  document.head.append(script);
  return script;
}

/** True if the page's policy knows the running script by a nonce. */
export const hasNonce = () => Boolean(own?.nonce);
