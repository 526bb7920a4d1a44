// The texts of the panel in the language of the interface.

import { type PanelWords, panel } from './en/panel';
import { translation } from './language';

export function panelWords(): PanelWords {
  return translation()?.panel ?? panel;
}
