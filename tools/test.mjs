// `npm test`: type check, lint, spelling, build with sizes, unit and kernel tests, then a real browser; ends with the
// name of every failure and `N passed, N failed`. `npm test -- attention` runs only the tests whose path has that word.

import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureChromium, ensurePackages, softwareVulkan } from './lib/ensure.mjs';
import { runNode } from './lib/run.mjs';

/** @typedef {{ passed: number, skipped: number, failures: string[] }} Outcome failures: a few lines for each */
/** @typedef {{ status: string, fullName: string, failureMessages?: string[] }} TestReport */
/** @typedef {{ name: string, status: string, message?: string, assertionResults: TestReport[] }} FileReport */

const CHECKS = [
  { name: 'type check', program: 'node_modules/typescript/bin/tsc', args: ['--noEmit'] },
  {
    name: 'lint',
    program: 'node_modules/@biomejs/biome/bin/biome',
    args: ['check', '--error-on-warnings', '--diagnostic-level=warn'],
  },
  { name: 'unused code', program: 'node_modules/knip/bin/knip.js', args: ['--no-progress'] },
  { name: 'spelling', program: 'node_modules/cspell/bin.mjs', args: ['--no-progress', '--quiet'] },
  { name: 'build and sizes', program: 'tools/build.mjs', args: [] },
];

/** @param {string} title */
const announce = (title) => console.log(`\n== ${title}`);

/** Lines of a message that the list of failures repeats. */
const MESSAGE_LINES = 6;

/**
 * A check is one test.
 * @param {string} name @param {string} program @param {string[]} args @returns {Promise<Outcome>}
 */
async function check(name, program, args) {
  const ok = (await runNode(program, args)) === 0;
  return { passed: Number(ok), skipped: 0, failures: ok ? [] : [`${name}: see its output above`] };
}

/** @param {string} title @param {string} [message] */
function describeFailure(title, message = '') {
  const lines = message.split('\n').filter((line) => !line.includes('node_modules'));
  return [title, ...lines.slice(0, MESSAGE_LINES)].join('\n    ');
}

/**
 * The failures of one file: its failed tests, or the file itself where it does not load.
 * @param {FileReport} file
 */
function failuresOf({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  const place = path.relative(process.cwd(), name);
  if (failed.length === 0 && status === 'failed') return [describeFailure(place, message)];
  return failed.map((test) => describeFailure(`${place} > ${test.fullName}`, test.failureMessages?.[0]));
}

/**
 * One Vitest project. A run that failed without a failed test or file (a crash) counts as one failure.
 * @param {string} project @param {string[]} filters @param {NodeJS.ProcessEnv} env @returns {Promise<Outcome>}
 */
async function vitest(project, filters, env) {
  const report = path.join(tmpdir(), `vivace-${project}-${process.pid}.json`);
  const args = ['run', '--project', project, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = await runNode('node_modules/vitest/vitest.mjs', [...args, '--passWithNoTests', ...filters], env);
  const result = JSON.parse(await readFile(report, 'utf8').catch(() => '{}'));
  await rm(report, { force: true });
  const { numPassedTests = 0, numPendingTests = 0, numTodoTests = 0, testResults = [] } = result;
  /** @type {string[]} */
  const failures = testResults.flatMap(failuresOf);
  if (code !== 0 && failures.length === 0) failures.push(`${project}: Vitest ended with exit code ${code}`);
  return { passed: numPassedTests, skipped: numPendingTests + numTodoTests, failures };
}

/** @param {string[]} filters */
async function main(filters) {
  ensurePackages();
  ensureChromium();
  const env = { ...process.env, ...softwareVulkan() }; // after Chromium, which brings the driver
  if (!env.CHROME_PATH) env.VIVACE_SWIFTSHADER ??= '1'; // the same adapter for everyone
  /** @type {Outcome[]} */
  const outcomes = [];
  for (const { name, program, args } of filters.length > 0 ? [] : CHECKS) {
    announce(name);
    outcomes.push(await check(name, program, args));
  }
  announce('unit and kernel tests');
  outcomes.push(await vitest('unit', filters, env));
  announce('browser tests');
  outcomes.push(await vitest('browser', filters, env));
  const passed = outcomes.reduce((n, outcome) => n + outcome.passed, 0);
  const skipped = outcomes.reduce((n, outcome) => n + outcome.skipped, 0);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  if (passed + failures.length === 0) failures.push(`no test has ${filters.join(' or ')} in its path`);
  if (failures.length > 0) announce(`failures\n${failures.join('\n')}`);
  console.log(`\n${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

await main(process.argv.slice(2));
