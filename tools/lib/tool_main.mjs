// What the small tools have in common: packages first, and exit code 2 for a command line that cannot be understood.

import { ensurePackages } from './ensure.mjs';
import { flagLines, readFlags, UsageError } from './flags.mjs';

/**
 * Runs `main` with the flags of the command line, `--help` among them. What needs the npm packages is to be imported within it.
 * @param {string} command @param {Record<string, import('./flags.mjs').Flag>} flags @param {(flags: import('./flags.mjs').Values) => Promise<void>} main
 */
export async function toolMain(command, flags, main) {
  /** @type {Record<string, import('./flags.mjs').Flag>} */
  const all = { ...flags, help: { kind: 'switch', help: 'this text' } };
  try {
    const values = readFlags(all, process.argv.slice(2));
    if (values.help) return console.log([`Usage: ${command} [flags]`, ...flagLines(all)].join('\n'));
    ensurePackages();
    await main(values);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exitCode = 2;
  }
}
