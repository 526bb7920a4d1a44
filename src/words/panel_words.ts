// The texts of the panel in the language of the interface.

import { translation } from './language';
import { type PanelWords, panel } from './panel_en';

export function panelWords(): PanelWords {
  return translation()?.panel ?? panel;
}
