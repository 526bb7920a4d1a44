// The panel and its chart are a script of their own, a quarter of all code: it comes when somebody is about to see it. It defines
// <vivace-metrics>, and that element is all that the two scripts share.

import { trustedScriptUrl } from '../engine/engine';

let script: HTMLScriptElement | null = null;

/** Of the script that runs now; known only while it runs first. */
const own = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;

/**
 * Adds the panel's script, which lies beside this one, unless it is there.
 * @param onError hears a sentence when it cannot be had
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
  const over = new AbortController(); // the script stays in the page, and would keep whoever listens to it
  const { signal } = over;
  added.addEventListener('load', () => over.abort(), { signal });
  const onFailure = () => {
    over.abort();
    added.remove(); // so that the next who asks tries again
    onError(`The panel could not be loaded from ${added.src}. The chat works without it.`);
  };
  added.addEventListener('error', onFailure, { signal });
}
