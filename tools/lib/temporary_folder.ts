// A folder for the work of a program, such as the profile of a browser with a model of some gigabytes. It goes with the
// work, and with a program that Ctrl-C ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { INTERRUPTED } from './command_line/terminal';

/** Hands `work` a new, empty folder. */
export async function inTemporaryFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), prefix));
  const remove = () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch (error) {
      console.error(`${folder} could not be removed (${error}). Delete it.`);
    }
  };
  const interrupt = () => {
    if (process.listenerCount('SIGINT') > 1) return; // somebody else ends the program in order
    process.off('exit', remove).on('exit', remove); // last: a browser that is killed at the exit writes no more
    process.exit(INTERRUPTED);
  };
  process.on('exit', remove);
  process.on('SIGINT', interrupt);
  try {
    return await work(folder);
  } finally {
    process.off('exit', remove);
    process.off('SIGINT', interrupt);
    remove();
  }
}
