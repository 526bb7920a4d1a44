// `npm run plot -- RESULTS.json OUT.svg [--shape NAME]`: a picture of a report of `bench -- attention --json` or `bench
// -- decode --sweep --json`. Exit code 2 for a command line that cannot be understood, 1 for a report that cannot be
// drawn.

import { readFileSync, writeFileSync } from 'node:fs';
import { readFlags, UsageError } from '../tools/lib/command_line/flags';
import { orFailure, orUsage } from '../tools/lib/command_line/terminal';
import type { BenchReport } from './report';
import { plotAttention } from './terminal/plots/attention_plot';
import { plotDecode } from './terminal/plots/decode_plot';

const FLAGS = { shape: { kind: 'text', help: 'one of the report (default: its first)' } } as const;
const USAGE = 'Usage: npm run plot -- RESULTS.json OUT.svg [--shape NAME]';

function plot(report: BenchReport, shape: string | undefined): string {
  if (report.suite === 'attention') return plotAttention(report, shape ?? report.rows[0]?.shape ?? '');
  if (report.suite === 'decode') return plotDecode(report, shape ?? report.rows[0]?.shape ?? '');
  throw new Error(`This is a report of ${report.suite}; attention or decode is needed.`);
}

await orUsage(USAGE, async () => {
  const [results, out, ...rest] = process.argv.slice(2);
  if (!results || !out || results.startsWith('--') || out.startsWith('--'))
    throw new UsageError('Two files are needed.');
  const { shape } = readFlags(FLAGS, rest);
  await orFailure(false, async () => writeFileSync(out, plot(JSON.parse(readFileSync(results, 'utf8')), shape)));
});
