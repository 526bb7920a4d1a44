// Runs one of the project's programs with its output passed through.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './ensure.mjs';

/**
 * A JavaScript program below node_modules, run by this Node.
 * @param {string} program such as 'vitest/vitest.mjs'
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<number>} its exit code, 1 when a signal ended it
 */
export function runNode(program, args, env = process.env) {
  return new Promise((done, fail) => {
    const file = path.join(ROOT, program);
    const child = spawn(process.execPath, [file, ...args], { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', fail);
    child.once('exit', (code) => done(code ?? 1));
  });
}
