// The texts of the page alone in German.

import { catalogue } from './catalogue_de';
import type { PageWords } from './page_en';

export const page: PageWords = {
  catalogue,
  theme: {
    auto: 'Design: wie das System',
    light: 'Design: hell',
    dark: 'Design: dunkel',
  },
  offline: {
    newVersion: 'Eine neue Version ist bereit. Laden Sie die Seite neu, um sie zu verwenden.',
  },
  library: {
    label: 'Unterhaltungen',
    fresh: 'Neue Unterhaltung',
    none: 'Noch keine Unterhaltungen. Sie werden nur in diesem Browser gespeichert.',
    today: 'Heute',
    yesterday: 'Gestern',
    earlier: 'Früher',
    rename: 'Umbenennen',
    export: 'Als JSON exportieren',
    delete: 'Löschen',
    renameOf: (title) => `„${title}“ umbenennen`,
    exportOf: (title) => `„${title}“ als JSON exportieren`,
    deleteOf: (title) => `„${title}“ löschen`,
    title: 'Titel der Unterhaltung',
    deleted: (title) => `„${title}“ gelöscht.`,
    undo: 'Rückgängig',
    dismiss: 'Schließen',
    exportAll: 'Alle exportieren',
    import: 'Importieren',
    importTitle: 'Eine .json-Datei, die Vivace exportiert hat. Sie können sie auch irgendwo auf der Seite ablegen.',
    importLabel: 'Unterhaltungen importieren',
    notKept: 'Dieser Browser speichert hier nichts. Unterhaltungen bleiben, bis Sie die Seite schließen.',
    keptAgain: 'Unterhaltungen werden wieder gespeichert.',
    deletedElsewhere: 'Diese Unterhaltung wurde in einem anderen Tab gelöscht.',
    unreadable: 'Ihre Unterhaltungen konnten nicht gelesen werden. Laden Sie die Seite neu.',
    importing: (done, all) => `${done} von ${all} Unterhaltungen importiert …`,
    imported: (n) => (n === 1 ? '1 Unterhaltung importiert.' : `${n} Unterhaltungen importiert.`),
    refused: (n, why) => `${n} ${n === 1 ? 'wurde' : 'wurden'} abgelehnt. ${why}`,
    nothingImported: 'Keine Unterhaltungen importiert.',
    unreadableFile: (name) => `${name} konnte nicht gelesen werden.`,
  },
  attach: {
    button: 'Textdateien anhängen',
    remove: (name) => `${name} entfernen`,
    isEmpty: (name) => `„${name}“ ist leer.`,
    isNoText: (name) =>
      `„${name}“ ist keine Textdatei. Nur reiner Text lässt sich anhängen, etwa Markdown, Code, CSV oder JSON.`,
    tooMany: (n) => `Eine Nachricht nimmt höchstens ${n} Dateien auf.`,
    tooLarge: (name, size, most) => `„${name}“ hat ${size}; eine Datei darf höchstens ${most} haben.`,
    allTooLarge: (name, most) =>
      `„${name}“ wurde weggelassen: Die Dateien einer Nachricht dürfen zusammen ${most} haben.`,
    unreadable: (name) => `„${name}“ konnte nicht gelesen werden.`,
    more: (letters) => `${letters.toLocaleString('de')} weitere Zeichen`,
    noRoom: 'Diese Unterhaltung hat keinen Platz für weitere Dateien. Beginne eine neue und hänge sie dort an.',
  },
};
