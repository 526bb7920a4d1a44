// `npm run bench` as scripts use it: its JSON, its table, and its message about an illegal command line.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { BenchReport } from '../../../bench/report';
import { ROOT } from '../../../tools/lib/ensure.mjs';

async function bench(line: string, onProgress: (text: string, pid: number) => void = () => {}) {
  const child = spawn(process.execPath, [path.join(ROOT, 'tools/run.mjs'), 'bench/bench.ts', ...line.split(' ')]);
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

test('kv: two chats in turns, and requests at once', async () => {
  const { stdout, code } = await bench('kv --quick --json --shape tiny --lengths 24 --rounds 1');
  expect(code).toBe(0);
  const report: BenchReport = JSON.parse(stdout);
  if (report.suite !== 'kv') throw new Error(`a report of ${report.suite}`);
  const [{ measured, refused }] = report.rows;
  expect(refused).toBeNull();
  expect(measured?.cachedTokens).toBe(23);
  expect(measured?.atOnce.map(({ requests }) => requests)).toEqual([1, 2, 4, 8]);
  for (const { tokensPerSecond, dispatches, gpuMs } of measured?.atOnce ?? []) {
    expect(tokensPerSecond).toBeGreaterThan(0);
    expect(dispatches).toBeGreaterThan(1);
    expect(gpuMs).toBeGreaterThan(0);
  }
});

test("decode: the engine's loop in a worker with a fine clock; a table of arrivals, costs and bytes", async () => {
  const { stdout, code } = await bench(
    'decode --quick --tokens 5 --context 1 --rounds 2 --run-ahead 2 --attention fused_decode --step plain',
  );
  expect(code).toBe(0);
  expect(stdout).toContain('crossOriginIsolated true');
  expect(stdout).toMatch(/tiny, q4 weights, KV f16, activations \w+; decode of 5 tokens/);
  expect(stdout).toMatch(
    /TBT mean +p50 +p95 +p99 +max +TTFT +attention +step\n +1 +2 +[\d.]+ +-( +[\d.]+){7} +fused_decode +plain\n/,
  );
  expect(stdout).toMatch(
    /of roofline +dispatches +submits +syncs +bytes read\n +1 +2( +[\d.]+){8} +[\d.]+ %( +[\d.]+){4}\n/,
  );
  expect(stdout).toMatch(/\nstep: plain.* \(.+\)\n/);
  const kernels = stdout.split(/kernel +us +calls.*\n/)[1];
  for (const kind of ['embed +[\\d.]+ +1 ', 'qkv +[\\d.]+ +2 ', 'attention +[\\d.]+ +2 ', 'down +[\\d.]+ +2 ', 'head '])
    expect(kernels).toMatch(new RegExp(`^${kind}`, 'm'));
});

test('prefill: time to the first token of prompts that share nothing, beside the passes on the GPU', async () => {
  const { stdout, code } = await bench('prefill --quick --json --lengths 8 --attention fused_decode');
  expect(code).toBe(0);
  const report: BenchReport = JSON.parse(stdout);
  if (report.suite !== 'prefill') throw new Error(`a report of ${report.suite}`);
  expect([report.crossOriginIsolated, report.rows.length]).toEqual([true, 1]);
  const { tokens, rounds, best, median, gpuMs, longestSubmitMs, tflops, fraction, refused } = report.rows[0];
  expect([tokens, rounds.length, refused]).toEqual([8, 1, null]);
  expect([best?.ttftMs, median?.ttftMs]).toEqual([rounds[0], rounds[0]]);
  expect(median?.tokensPerSecond).toBeCloseTo(8000 / rounds[0], 6);
  expect(gpuMs).toBeGreaterThan(0);
  // Two submits: all tokens, and the last one behind the last layer's q, k and v.
  expect(longestSubmitMs).toBeLessThan(gpuMs ?? 0);
  expect(longestSubmitMs).toBeGreaterThanOrEqual((gpuMs ?? 0) / 2);
  const [{ nTokens, kvLen, rows: kinds }] = report.kernels;
  const row = (name: string) => kinds.find(({ kind }) => kind === name);
  expect([nTokens, kvLen, row('qkv')?.calls, row('gate_up')?.calls, row('last_row')?.calls]).toEqual([8, 8, 2, 1, 1]);
  for (const kind of ['gate_up', 'last_token']) expect(row(kind)?.tops).toBeGreaterThan(0);
  expect((fraction ?? 0) * report.roofline.fmaTflops).toBeCloseTo(tflops ?? 0, 9);
});

test('step: fused steps alone and beside a busy page, texts two ways, and how far x is from that of a plain step', async () => {
  const { stdout, code } = await bench('step --quick --json --steps 3 --tokens 3 --context 8');
  const report: BenchReport = JSON.parse(stdout);
  if (report.suite !== 'step') throw new Error(`a report of ${report.suite}`);
  const [{ resident, ms }] = report.probes;
  expect([resident >= 1, ms > 0]).toEqual([true, true]);
  const [{ launch, alone, beside, sameIds, neighbor, fusedPlain, plainExact, distance, refused }] = report.rows;
  expect(code).toBe(refused ? 1 : 0);
  if (refused) return expect(refused.message).toMatch(/did not (all run at once|go on)/); // other work has the cores
  expect(launch?.groups).toBeGreaterThan(1);
  expect([alone?.steps, beside?.steps, typeof sameIds]).toEqual([3, 3, 'boolean']);
  expect(alone?.tokensPerSecond).toBeCloseTo(1000 / (alone?.tbtMs.mean ?? 0), 6);
  expect([neighbor?.lost, neighbor && neighbor.submits >= 2]).toEqual([null, true]);
  expect([fusedPlain?.texts, plainExact?.texts, plainExact?.giveUps]).toEqual([2, 2, 0]);
  expect(distance?.tokens).toBe(24);
  expect(distance?.x).toBeGreaterThan(0); // a fused step ran
  expect(distance?.x).toBeLessThan(0.05);
  expect(distance?.logits).toBeLessThan(0.05);
});

test('sdk: engine, interface and clients read the same answer, and each keeps the main thread busy', async () => {
  const { stdout, code } = await bench('sdk --quick --json --tokens 6');
  expect(code).toBe(0);
  const report: BenchReport = JSON.parse(stdout);
  if (report.suite !== 'sdk') throw new Error(`a report of ${report.suite}`);
  expect([report.model, report.sameText]).toEqual([expect.stringContaining('storyteller'), true]);
  expect(report.rows.map(({ reader }) => reader)).toEqual([
    'engine, events',
    'fetch, plain reader',
    'OpenAI SDK',
    'AI SDK, fullStream',
    'AI SDK, textStream',
  ]);
  for (const { reader, answers } of report.rows) {
    expect(answers).toHaveLength(1);
    const [{ tokens, chunks, ms, taskMs }] = answers;
    expect(tokens).toBe(6);
    if (reader === 'engine, events') expect(chunks).toBeNull();
    else expect([1, 2, 3, 4, 5, 6]).toContain(chunks);
    expect(taskMs).toBeGreaterThan(0);
    expect(taskMs).toBeLessThan(ms + 1000); // not the time since the page began
  }
});

test('a shape that does not fit is refused with the bytes before anything is allocated, and exit 1', async () => {
  const { stdout, code } = await bench('decode --quick --json --shape llama-3.1-8b --context 100000000');
  expect(code).toBe(1);
  const report: BenchReport = JSON.parse(stdout);
  if (report.suite !== 'decode') throw new Error(`a report of ${report.suite}`);
  const [{ refused, gpuBytes, median }] = report.rows;
  const keys = 8 * 128 * 2 * 100_000_256; // of one layer, in f16
  expect([refused?.code, median]).toEqual(['gpu-memory', null]);
  expect(refused?.message).toContain(
    `needs ${keys} bytes; this GPU grants ${report.limits.maxStorageBufferBindingSize}`,
  );
  expect(gpuBytes.kvCache).toBe(2 * 32 * keys);
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
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
    2,
    '',
    expect.stringMatching(/^No suite attenton.*\nUsage: .*\n$/),
  ]);
  const missing = await bench('baseline --quick --json --model ./no/such/file.gguf');
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stdout).error).toMatchObject({
    code: 'model-fetch',
    message: expect.stringContaining('file.gguf'),
  });
});
