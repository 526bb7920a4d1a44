// Loads the script of the TBT panel, a quarter of all code, when a panel is about to be shown. The two scripts share
// nothing but the element <vivace-metrics>, which the panel's script defines.

import { words } from '../../words/words';
import { addScriptBeside } from './own_script';

let script: HTMLScriptElement | null = null;
let listeners: ((message: string) => void)[] = [];

/**
 * Adds the panel's script, which lies beside this script, if it is not there yet.
 * @param onError receives a sentence if the script cannot be loaded
 */
export function addPanelScript(onError: (message: string) => void): void {
  if (customElements.get('vivace-metrics')) return;
  listeners.push(onError);
  if (script?.isConnected) return;
  const end = (failure: string | null) => {
    const all = listeners;
    listeners = [];
    if (failure !== null) for (const listener of all) listener(failure);
  };
  try {
    script = addScriptBeside('embed_panel.js', (failed) => end(failed && words().embed.noPanel(failed)));
  } catch (error) {
    end((error as Error).message); // the page's policy refuses our scripts
  }
}
