// `node tools/plot_attention.mjs RESULTS.json OUT.svg [--shape NAME]`: a picture of what `bench -- attention --json` measured.

import { readFileSync, writeFileSync } from 'node:fs';
import { plotAttention } from './lib/bench_plot.mjs';
import { readFlags, UsageError } from './lib/flags.mjs';

const USAGE = 'Usage: node tools/plot_attention.mjs RESULTS.json OUT.svg [--shape NAME]';

function main() {
  const [results, out, ...rest] = process.argv.slice(2);
  if (!results || !out || results.startsWith('--') || out.startsWith('--')) throw new UsageError(USAGE);
  const { shape } = readFlags({ shape: { kind: 'text', help: 'one of the report; default: its first' } }, rest);
  const report = JSON.parse(readFileSync(results, 'utf8'));
  writeFileSync(out, plotAttention(report, String(shape ?? report.rows?.[0]?.shape)));
}

try {
  main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
