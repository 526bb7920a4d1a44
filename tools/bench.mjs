// `npm run --silent bench -- SUITE [flags]`: measures in headless Chromium, progress to stderr, tables or JSON to stdout.
// Exit code 0 for a report, 1 for a typed error or a report in which every model was refused, 2 for a command line that cannot be understood, 130 after Ctrl-C.

import { benchUsage, parseBench } from '../bench/terminal/flags.mjs';
import { ensurePackages } from './lib/ensure.mjs';
import { UsageError } from './lib/flags.mjs';

const INTERRUPTED = 130;

function readCommandLine() {
  try {
    return parseBench(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message} (--help lists suites and flags)`);
    process.exit(2);
  }
}

/** One line that rewrites itself on a terminal, and a line each elsewhere. @param {import('../bench/terminal/run.mjs').BenchProgress} said */
function showProgress({ text, done, total }) {
  const line = total === undefined ? text : `[${done} of ${total}] ${text}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
  else console.error(line);
}

function endProgress() {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

/** @param {unknown} error @param {boolean} json */
function reportFailure(error, json) {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal';
  if (json) console.log(JSON.stringify({ error: { code, message } }));
  else console.error(`${code}: ${message}`);
  process.exitCode ||= 1; // 130 where the person ended it
}

/** The first Ctrl-C ends the suite after the row it is at, a second one ends the program. @param {() => void} stop */
function stopOnInterrupt(stop) {
  process.once('SIGINT', () => {
    process.exitCode = INTERRUPTED;
    stop();
    process.once('SIGINT', () => process.exit(INTERRUPTED));
  });
}

async function main() {
  const command = readCommandLine();
  if ('help' in command) return console.log(benchUsage());
  ensurePackages();
  const { ensureBuilt } = await import('./lib/build.mjs');
  const { benchInBrowsers } = await import('../bench/terminal/run.mjs');
  const { benchTables, everyModelRefused } = await import('../bench/terminal/tables.mjs');
  process.stdout.on('error', () => process.exit(1)); // the reader of a pipe left
  try {
    await ensureBuilt();
    const { browsers, request, model } = command;
    const report = await benchInBrowsers(browsers, request, model, showProgress, stopOnInterrupt);
    endProgress();
    console.log(command.json ? JSON.stringify(report) : benchTables(report));
    if (everyModelRefused(report)) process.exitCode ||= 1;
  } catch (error) {
    endProgress();
    reportFailure(error, command.json);
  }
}

await main();
