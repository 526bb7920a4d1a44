// The texts of the chat in German.

import type { ChatWords } from './chat_en';

export const chat: ChatWords = {
  embed: {
    close: 'Schließen',
    panel: 'Zeiten',
    panelComes: 'Das Panel wird geladen.',
    noPanel: (address) => `Das Panel konnte nicht von ${address} geladen werden. Der Chat funktioniert auch ohne.`,
    waiting: 'Das Modell antwortet gerade in einem anderen Chat dieser Seite. Danach kommt diese Antwort.',
  },
  editor: {
    label: 'Nachricht bearbeiten',
    cancel: 'Abbrechen',
    cancelTitle: 'Abbrechen (Escape)',
    send: 'Speichern und senden',
    sendTitle: 'Speichern und senden (Enter)',
  },
  turn: {
    goOn: 'Fortsetzen',
    limit: 'Limit ändern',
    again: 'Neu generieren',
  },
  pager: {
    question: 'Versionen dieser Nachricht',
    answer: 'Versionen dieser Antwort',
    before: 'Vorherige Version',
    after: 'Nächste Version',
    version: (n, all) => `Version ${n} von ${all}`,
  },
};
