// From a report in a file to a picture in a file: the command line that all plots share.

import { readFileSync, writeFileSync } from 'node:fs';
import { readFlags, UsageError } from '../../tools/lib/flags.mjs';

/**
 * Exit code 2 for a command line that cannot be understood, 1 for a report that cannot be drawn.
 * @param {string} command @param {(report: any, shape: string) => string} plot the report and one of its shapes to SVG
 */
export function plotFile(command, plot) {
  try {
    const [results, out, ...rest] = process.argv.slice(2);
    if (!results || !out || results.startsWith('--') || out.startsWith('--')) {
      throw new UsageError(`Usage: ${command} RESULTS.json OUT.svg [--shape NAME]`);
    }
    const { shape } = readFlags({ shape: { kind: 'text', help: 'one of the report; default: its first' } }, rest);
    const report = JSON.parse(readFileSync(results, 'utf8'));
    writeFileSync(out, plot(report, String(shape ?? report.rows?.[0]?.shape)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
