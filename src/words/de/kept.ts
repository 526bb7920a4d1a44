// What the script tag says of the conversation that it keeps, in German.

import type { KeptWords } from '../en/kept';

export const kept: KeptWords = {
  kept: (days) => `In diesem Browser für ${days} Tage gespeichert.`,
  delete: 'Löschen',
  deleted: 'Unterhaltung gelöscht.',
  undo: 'Rückgängig',
  tooLong: 'Diese Unterhaltung ist zu lang zum Speichern. Beginnen Sie eine neue.',
  refused: 'Dieser Browser kann Unterhaltungen gerade weder speichern noch löschen.',
};
