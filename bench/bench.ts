// `npm run --silent bench -- SUITE [flags]`: measures in headless Chromium, progress to stderr, tables or JSON to
// stdout. Exit code 0 for a report, 1 for a typed error or a report in which every model was refused, 2 for a command
// line that cannot be understood, 130 after Ctrl-C.

import { ensureBuilt, ensureClients } from '../tools/lib/bundle/dist';
import { orFailure, orUsage, rewriteLine, stopOnInterrupt } from '../tools/lib/command_line/terminal';
import type { BenchProgress } from './report';
import { benchUsage, type CommandLine, parseBench } from './terminal/flags';
import { benchInBrowsers } from './terminal/run';
import { benchTables, everyModelRefused } from './terminal/tables/tables';

/** One line that rewrites itself on a terminal, and a line each elsewhere. */
function showProgress({ text, done, total }: BenchProgress): void {
  const line = total === undefined ? text : `[${done} of ${total}] ${text}`;
  if (process.stderr.isTTY) rewriteLine(line);
  else console.error(line);
}

async function measure({ browsers, request, model, json }: CommandLine): Promise<void> {
  try {
    await (request.suite === 'sdk' ? ensureClients() : ensureBuilt());
    const report = await benchInBrowsers(browsers, request, model, showProgress, stopOnInterrupt);
    rewriteLine('');
    console.log(json ? JSON.stringify(report) : benchTables(report));
    if (everyModelRefused(report)) process.exitCode ||= 1;
  } finally {
    rewriteLine('');
  }
}

await orUsage('Usage: npm run --silent bench -- SUITE [flags]; --help lists them', async () => {
  const command = parseBench(process.argv.slice(2));
  if (command === 'help') console.log(benchUsage());
  else await orFailure(command.json, () => measure(command));
});
