// The texts of the card of a named measurement in German.

import type { BenchWords } from '../en/bench';

export const bench: BenchWords = {
  title: (name) => `Messung „${name}“`,
  close: 'Schließen',
  what: ({ promptTokens, tokens, times }) =>
    `${times} Läufe mit ${tokens} Tokens nach einer Eingabe von ${promptTokens}, jeder mit leerem Cache.`,
  run: 'Starten',
  again: 'Noch einmal',
  asks: (onGpu) => `Nutzt eine Weile ${onGpu ? 'die GPU' : 'den Prozessor'}. Es wird nichts gesendet.`,
  loading: 'Warten auf das Modell …',
  range: 'Median und der Bereich aller Läufe.',
  tooLong: (needs, has) =>
    `Diese Messung braucht einen Kontext von ${needs} Tokens; das Modell wurde mit ${has} geladen.`,
  copyLink: 'Link kopieren',
  copyText: 'Als Text kopieren',
  save: 'JSON herunterladen',
  copied: 'Kopiert.',
  notCopied: 'Der Browser hat das Kopieren nicht erlaubt.',
  done: 'Die Messung ist fertig.',
  unknown: 'Eine Messung mit diesem Namen gibt es nicht. Diese gibt es:',
};
