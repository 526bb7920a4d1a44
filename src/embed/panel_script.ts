// Loads the script of the TBT panel, a quarter of all code, when a panel is about to be shown. The two scripts share
// nothing but the element <vivace-metrics>, which the panel's script defines.

import { trustedScriptUrl } from '../engine/engine';

let script: HTMLScriptElement | null = null;

/** The tag of the running script. Browsers tell it only during the first run. */
const own = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;

/**
 * Adds the panel's script, which lies beside this script, if it is not there yet.
 * @param onError receives a sentence if the script cannot be loaded
 */
export function addPanelScript(onError: (message: string) => void): void {
  if (customElements.get('vivace-metrics') || !own?.src) return;
  if (!script?.isConnected) {
    script = document.createElement('script');
    script.async = true;
    script.nonce = own.nonce;
    script.crossOrigin = own.crossOrigin;
    script.src = trustedScriptUrl(new URL('embed_panel.js', own.src).href);
    document.head.append(script);
  }
  const added = script;
  const over = new AbortController(); // the script stays in the page and would keep its listeners alive
  const { signal } = over;
  added.addEventListener('load', () => over.abort(), { signal });
  const onFailure = () => {
    over.abort();
    added.remove(); // the next call tries again
    onError(`The panel could not be loaded from ${added.src}. The chat works without it.`);
  };
  added.addEventListener('error', onFailure, { signal });
}
