// `npm run bench` as scripts use it: its JSON, its table, and what it answers to a command line that it cannot understand.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../tools/lib/ensure.mjs';
import type { BenchReport } from '../bench/report';

async function bench(line: string, onProgress: (text: string, pid: number) => void = () => {}) {
  const child = spawn(process.execPath, [path.join(ROOT, 'tools/bench.mjs'), ...line.split(' ')]);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    onProgress(stderr, child.pid ?? 0);
  });
  const [code] = await once(child, 'close');
  return { stdout, stderr, code };
}

const SMALL = 'attention --quick --json --attention eager --attention fused_decode --attention auto';

test('attention: every sibling asked for has a row for each pass, measured beside the roofline of the same run', async () => {
  const { stdout, stderr, code } = await bench(`${SMALL} --lengths 32`);
  expect([code, stderr]).toEqual([0, expect.stringContaining('[6 of 6]')]);
  const report: BenchReport = JSON.parse(stdout);
  if (report.suite !== 'attention') throw new Error(`a report of ${report.suite}`);
  expect(report.browser).toMatch(/^Chromium \d+/);
  expect(report.adapter).not.toBe('');
  expect(new Date(report.date).getTime()).toBeGreaterThan(0);
  expect(report.interrupted).toBe(false);
  expect(report.rows.map(({ pass, name, auto }) => [pass, auto ? 'auto' : name])).toEqual(
    ['prefill', 'decode'].flatMap((pass) => ['eager', 'fused_decode', 'auto'].map((name) => [pass, name])),
  );
  for (const { pass, measured, refused } of report.rows) {
    expect(refused).toBeNull();
    const roof = pass === 'prefill' ? report.roofline.fmaTflops : report.roofline.readGBps;
    const rate = pass === 'prefill' ? measured?.tflops : measured?.gbps;
    expect(measured?.ms).toBeGreaterThan(0);
    expect(measured?.fraction).toBeCloseTo((rate ?? 0) / roof, 6);
  }
});

test('roofline: a table on stdout, progress on stderr', async () => {
  const { stdout, stderr, code } = await bench('roofline --quick');
  expect(code).toBe(0);
  expect(stdout).toMatch(/roofline: [\d.]+ GB\/s read/);
  expect(stdout).toMatch(/TFLOP\/s +workgroup +turns/);
  expect(stderr).toContain('roofline: memory');
});

test('Ctrl-C ends a suite after the row it is at: exit 130, and what was measured is there', async () => {
  let interrupted = false;
  const { stdout, code } = await bench(`${SMALL} --lengths 16,32,48,64,80,96`, (text, pid) => {
    if (interrupted || !text.includes('[1 of')) return;
    interrupted = true;
    process.kill(pid, 'SIGINT');
  });
  expect(code).toBe(130);
  const report: BenchReport = JSON.parse(stdout);
  if (report.suite !== 'attention') throw new Error(`a report of ${report.suite}`);
  expect(report.interrupted).toBe(true);
  expect(report.rows.length).toBeGreaterThan(0);
  expect(report.rows.length).toBeLessThan(36);
});

test('what cannot be understood is one sentence and exit 2; a model that is not there is a typed error and exit 1', async () => {
  const wrong = await bench('attenton');
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([2, '', expect.stringMatching(/^No suite attenton.*\n$/)]);
  const missing = await bench('baseline --quick --json --model no/such/file.gguf');
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stdout).error).toMatchObject({
    code: 'model-fetch',
    message: expect.stringContaining('file.gguf'),
  });
});
