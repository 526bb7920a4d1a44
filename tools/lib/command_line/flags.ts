// Flags of a command line: one table gives their parsing, their types and the usage text. Pure: no files, no process.

import { parseArgs } from 'node:util';

export interface Flag {
  /**
   * `texts` may be given several times; `switch` takes no value; `count` is a whole number from 1 on; `pairs` are whole
   * numbers with a number each.
   */
  kind: 'text' | 'texts' | 'switch' | 'number' | 'whole' | 'count' | 'pairs';
  /** The allowed values; for numbers, the words allowed beside them. */
  words?: readonly string[];
  /** The value's name in the usage text. Default: the words. */
  value?: string;
  help: string;
}

export type Flags = Readonly<Record<string, Flag>>;

type Word<F extends Flag, Other> = F extends { words: readonly (infer W)[] } ? W : Other;
type Value<F extends Flag> = {
  text: Word<F, string>;
  texts: Word<F, string>[];
  switch: boolean;
  number: number | Word<F, never>;
  whole: number | Word<F, never>;
  count: number;
  pairs: Record<string, number>;
}[F['kind']];

/** The values by flag name, without the dashes. */
export type Values<F extends Flags> = { [Name in keyof F]?: Value<F[Name]> };

/** A command line that cannot be understood. The message is for the person at the terminal. */
export class UsageError extends Error {}

const HELP = { kind: 'switch', help: 'this text' } as const satisfies Flag;
const COLUMN = 36;

/** One line for each flag. */
export function flagLines(flags: Flags): string[] {
  return Object.entries(flags).map(([name, { kind, words, value, help }]) => {
    const shown = kind === 'switch' ? `--${name}` : `--${name} ${value ?? words?.join('|')}`;
    return shown.length < COLUMN ? `  ${shown.padEnd(COLUMN)}${help}` : `  ${shown}\n  ${' '.repeat(COLUMN)}${help}`;
  });
}

/** The usage text of a command whose flags are `flags` and --help. */
export function usageOf(command: string, flags: Flags): string {
  return [`Usage: ${command} [flags]`, ...flagLines({ ...flags, help: HELP })].join('\n');
}

/**
 * The values of the flags in `args`. A value may look like a flag: `--prompt --help` asks about "--help".
 * @throws UsageError
 */
export function readFlags<const F extends Flags>(flags: F, args: readonly string[]): Values<F> & { help?: boolean } {
  const all: Flags = { ...flags, help: HELP };
  const options = Object.fromEntries(
    Object.entries(all).map(([name, { kind }]) => [name, { type: kind === 'switch' ? 'boolean' : 'string' } as const]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const values: Record<string, unknown> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') throw new UsageError(`Unknown argument ${args[token.index]}.`);
    const { name, value } = token;
    const flag = Object.hasOwn(all, name) && token.rawName.startsWith('--') ? all[name] : undefined;
    if (!flag) throw new UsageError(`Unknown argument ${args[token.index]}.`);
    const read = readValue(name, flag, value);
    values[name] = flag.kind === 'texts' ? [...((values[name] as unknown[]) ?? []), read] : read;
  }
  return values as Values<F>;
}

function readValue(
  name: string,
  { kind, words }: Flag,
  text: string | undefined,
): string | number | boolean | Record<string, number> {
  if (kind === 'switch') {
    if (text !== undefined) throw new UsageError(`--${name} takes no value.`);
    return true;
  }
  if (text === undefined) throw new UsageError(`--${name} needs a value.`);
  if (words?.includes(text)) return text;
  if (kind === 'text' || kind === 'texts') {
    if (words) throw new UsageError(`--${name} ${text}: choose ${words.join(', ')}.`);
    return text;
  }
  return kind === 'pairs' ? readPairs(name, text) : readNumber(`--${name} ${text}`, kind, text);
}

function readPairs(name: string, text: string): Record<string, number> {
  const pairs = text.split(',').map((pair): [string, number] => {
    const [, id, number] = /^(\d+)=(.+)$/.exec(pair.trim()) ?? [];
    if (id === undefined) throw new UsageError(`--${name} ${text}: not pairs such as 5=-1,17=2.5.`);
    return [id, readNumber(`--${name} ${text}`, 'number', number)];
  });
  return Object.fromEntries(pairs);
}

function readNumber(what: string, kind: 'number' | 'whole' | 'count', text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number) || (kind !== 'number' && !Number.isSafeInteger(number))) {
    throw new UsageError(`${what}: not a ${kind === 'number' ? 'number' : 'whole number'}.`);
  }
  if (kind === 'count' && number < 1) throw new UsageError(`${what}: at least 1.`);
  return number;
}
