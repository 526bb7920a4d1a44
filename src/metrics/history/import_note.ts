// The note about files whose runs could not be imported, or are there already. Pure.

import { panelWords } from '../../words/panel_words';

/** Files named in a note. Further ones are counted. */
const MOST_NAMED = 3;
const MOST_LETTERS = 60;

/** A file of several, and what there is to say about it. */
export interface FileNote {
  name: string;
  why: string;
}

/** @param files all that were chosen: of several, the note names those that it is about */
export function importNote(notes: readonly FileNote[], files: number): string {
  if (files === 1) return notes[0]?.why ?? '';
  const named = notes.slice(0, MOST_NAMED).map(({ name, why }) => `${shorten(name)}: ${why}`);
  const others = notes.length - named.length;
  return [...named, ...(others > 0 ? [panelWords().runs.notImported(others)] : [])].join(' ');
}

const shorten = (name: string) => (name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS)}…` : name);
