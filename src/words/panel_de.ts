// The texts of the panel in German.

import type { PanelWords } from './panel_en';

export const panel: PanelWords = {
  toolbar: {
    title: 'Zeit zwischen Tokens',
    invitation: 'Senden Sie eine Nachricht, um die Zeit zwischen Tokens live zu sehen.',
    titleHelp: 'TBT: Millisekunden zwischen zwei Tokens bei ihrer Ankunft, Schübe nicht geglättet.',
    running: 'Läuft',
    log: 'Log',
    logHelp: 'Logarithmische Skala der Millisekunden',
    pin: 'Anheften',
    pinHelp: 'Diesen Lauf im Diagramm behalten und spätere Läufe damit vergleichen',
    saveJson: 'Diesen Lauf als JSON speichern',
    saveCsv: 'Diesen Lauf als CSV speichern',
    pinWhenOver: 'Ein Lauf kann angeheftet werden, sobald er beendet ist',
    isPinned: 'Dieser Lauf ist angeheftet',
    pinsAreFull: (n) => `${n} Läufe sind angeheftet: lösen Sie zuerst einen`,
  },
};
