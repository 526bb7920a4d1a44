// Flags from the table of options (src/engine/options.ts), and the options that their values are. Pure.

import type { Option, Options } from '../../../src/engine/options';
import type { Flag, Flags } from './flags';

/** The flag of an option: its name, or its key in dashes. */
function flagName(key: string, { name }: Option): string {
  return name ?? key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const KINDS = {
  number: 'number',
  integer: 'whole',
  switch: 'switch',
  text: 'text',
  texts: 'texts',
  biases: 'pairs',
  constraint: 'text', // no flag: of the API alone
} as const;
const VALUES = {
  number: 'N',
  integer: 'N',
  switch: '',
  text: 'TEXT',
  texts: 'TEXT',
  biases: 'ID=N,...',
  constraint: '',
} as const;

function toFlag(option: Option): Flag {
  const hasWord = option.default !== undefined && typeof option.default !== 'object';
  const standard = hasWord ? ` (default ${option.default})` : '';
  const help = option.help + standard;
  if (option.kind === 'choice') return { kind: 'text', words: Object.keys(option.choices), help };
  const words = 'form' in option && option.or !== undefined ? [option.or] : [];
  return {
    kind: KINDS[option.kind],
    words: words.length > 0 ? words : undefined,
    value: [...words, VALUES[option.kind]].join('|'),
    help,
  };
}

/** The flags of all options but those of the API alone. */
export function flagsOf(table: Options): Flags {
  const given = Object.entries(table).filter(([, option]) => !option.isApiOnly);
  return Object.fromEntries(given.map(([key, option]) => [flagName(key, option), toFlag(option)]));
}

/** The options of the table that the flags give. The others stay the engine's choice. */
export function optionsOf(table: Options, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.entries(table).map(([key, option]) => [key, values[flagName(key, option)]]);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}
