// The texts of the settings' fields in the reader's language. Values keep their names, which addresses and attributes
// have, too.

import { words } from '../../words/words';
import type { DialogSettings, SamplingSettings } from './settings_fields';

type Key = keyof SamplingSettings | keyof DialogSettings;

export function labelOf(key: Key): string {
  return words().settings[key][0];
}

export function helpOf(key: Key): string {
  return words().settings[key][1];
}

/** The meaning of an empty field. */
export function emptyOf(key: string): string {
  const { noLimit, random, auto } = words().settings;
  return (
    new Map([
      ['maxTokens', noLimit],
      ['seed', random],
      ['contextLength', auto],
    ]).get(key) ?? ''
  );
}

/** The meaning of a choice, or '' if its name says it. */
export function choiceOf(key: Key, choice: string): string {
  const choices: Readonly<Record<string, Readonly<Record<string, string>>>> = words().settings.choices;
  return choices[key]?.[choice] ?? '';
}
