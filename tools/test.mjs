// `npm test`: type check, lint, build with sizes, unit and kernel tests, then a real browser; ends with `N passed, N
// failed`. `npm test -- attention` runs only the tests whose path has that word.

import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureChromium, ensurePackages, softwareVulkan } from './lib/ensure.mjs';
import { runNode } from './lib/run.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

const CHECKS = [
  { name: 'type check', program: 'node_modules/typescript/bin/tsc', args: ['--noEmit'] },
  { name: 'lint', program: 'node_modules/@biomejs/biome/bin/biome', args: ['check', '--error-on-warnings'] },
  { name: 'unused code', program: 'node_modules/knip/bin/knip.js', args: ['--no-progress'] },
  { name: 'build and sizes', program: 'tools/build.mjs', args: [] },
];

/** @param {string} title */
const announce = (title) => console.log(`\n== ${title}`);

/** @param {string} program @param {string[]} args @returns {Promise<Counts>} a check counts as one test */
async function check(program, args) {
  const ok = (await runNode(program, args)) === 0;
  return { passed: Number(ok), failed: Number(!ok), skipped: 0 };
}

/**
 * One Vitest project. A run that failed without a failed test (a file that does not load, a crash) counts as one
 * failure.
 * @param {string} project @param {string[]} filters @param {NodeJS.ProcessEnv} env @returns {Promise<Counts>}
 */
async function vitest(project, filters, env) {
  const report = path.join(tmpdir(), `vivace-${project}-${process.pid}.json`);
  const args = ['run', '--project', project, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = await runNode('node_modules/vitest/vitest.mjs', [...args, '--passWithNoTests', ...filters], env);
  const result = JSON.parse(await readFile(report, 'utf8').catch(() => '{}'));
  await rm(report, { force: true });
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = result;
  const failed = code !== 0 && numFailedTests === 0 ? 1 : numFailedTests;
  return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests };
}

/** @param {string[]} filters */
async function main(filters) {
  ensurePackages();
  ensureChromium();
  const env = { ...process.env, ...softwareVulkan() }; // after Chromium, which brings the driver
  if (!env.CHROME_PATH) env.VIVACE_SWIFTSHADER ??= '1'; // the same adapter for everyone
  const counts = { passed: 0, failed: 0, skipped: 0 };
  /** @param {Counts} more */
  const add = (more) => {
    counts.passed += more.passed;
    counts.failed += more.failed;
    counts.skipped += more.skipped;
  };
  for (const { name, program, args } of filters.length > 0 ? [] : CHECKS) {
    announce(name);
    add(await check(program, args));
  }
  announce('unit and kernel tests');
  add(await vitest('unit', filters, env));
  announce('browser tests');
  add(await vitest('browser', filters, env));
  if (counts.passed + counts.failed === 0) counts.failed = 1; // a filter that matches nothing is a mistake
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  console.log(`\n${counts.passed} passed, ${counts.failed} failed${skipped}`);
  process.exitCode = counts.failed > 0 ? 1 : 0;
}

await main(process.argv.slice(2));
