// Runs the project's programs: a TypeScript file in this process, or a JavaScript program in one of its own.
// It imports only what Node brings, because it runs before any package is there.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { ensurePackages, ROOT } from './ensure.mjs';

/**
 * Installs what is missing, then runs a TypeScript file until its top level is done. Vite compiles each file as it is
 * imported; source maps give errors the lines of the source.
 * @param {string} file relative to the project's root
 */
export async function runTypeScript(file) {
  ensurePackages();
  process.setSourceMapsEnabled(true);
  const { runnerImport } = await import('vite');
  await runnerImport(path.resolve(ROOT, file), { configFile: false, root: ROOT, logLevel: 'error' });
}

/**
 * Runs a JavaScript program with this Node, its output passed through.
 * @param {string} program relative to the project's root, such as 'node_modules/vitest/vitest.mjs'
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
