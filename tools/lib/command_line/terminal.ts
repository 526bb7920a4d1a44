// What the command-line programs share: --help, exit codes, Ctrl-C, and errors as a sentence or as JSON.

import { type Flags, readFlags, UsageError, usageOf, type Values } from './flags';

/** The exit code after Ctrl-C. */
export const INTERRUPTED = 130;

/**
 * Runs `main` with the flags of the command line. `--help` prints the usage; a command line that cannot be understood
 * prints the complaint and the usage, with exit code 2.
 */
export async function runTool<const F extends Flags>(
  command: string,
  flags: F,
  main: (values: Values<F>) => void | Promise<void>,
): Promise<void> {
  const usage = usageOf(command, flags);
  await orUsage(usage, async () => {
    const values = readFlags(flags, process.argv.slice(2));
    if (values.help) console.log(usage);
    else await main(values);
  });
}

/**
 * Runs `main`. A UsageError becomes its message and `usage` on stderr, and exit code 2. An error of the system or of a
 * page, which the person can mend, becomes its message and ends the program with 1. So does a reader that leaves.
 */
export async function orUsage(usage: string, main: () => void | Promise<void>): Promise<void> {
  process.stdout.on('error', () => process.exit(1)); // the reader of a pipe left
  try {
    await main();
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n${usage}`);
      process.exitCode = 2;
    } else if (isOfPerson(error)) {
      console.error(error.message);
      process.exit(1); // what is still open would keep the program alive
    } else throw error;
  }
}

/** True for an error with a code of the system or of a page. Codes with ERR_ are of mistakes in a program. */
function isOfPerson(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(?!ERR_)./.test(String(error.code));
}

/**
 * Runs a command whose answer can be piped. An error becomes its code and message on stdout as JSON, or one line on
 * stderr, and exit code 1.
 */
export async function orFailure(json: boolean, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal';
    if (json) console.log(JSON.stringify({ error: { code, message } }));
    else console.error(harmless(message, process.stderr));
    process.exitCode ||= 1; // stays 130 after Ctrl-C
  }
}

/** Makes the first Ctrl-C end the work in order, and a second one end the program. */
export function stopOnInterrupt(stop: () => void): void {
  process.once('SIGINT', () => {
    process.exitCode = INTERRUPTED;
    stop();
    process.once('SIGINT', () => process.exit(INTERRUPTED));
  });
}

/** Control characters but line breaks and tabs. */
const CONTROLS = /[^\P{Cc}\n\t]/gu;

/** Text of a model or of its file for a stream. A terminal would obey control characters: it gets U+FFFD instead. */
export function harmless(text: string, { isTTY }: { isTTY?: boolean }): string {
  return isTTY ? text.replace(CONTROLS, '\ufffd') : text;
}

/** Shows a line that rewrites itself, on a terminal only. An empty line removes it. */
export function rewriteLine(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
}
