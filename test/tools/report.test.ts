// The table that `generate` prints after a run.

import { expect, test } from 'vitest';
import { runReport } from '../../src/engine/page/run_report';
import { table } from '../../tools/lib/generate/report';
import type { Run } from '../../tools/page/generate';
import { heard, metrics } from '../engine/doubles/heard_run';

const run: Run = { ...heard, report: runReport(heard) };

test('the table for people', () => {
  expect(table(run).split('\n')).toEqual([
    '                           mean      p50      p95      p99      max   jitter        n',
    'TBT, ms                    10.5     10.0     11.0     11.0     11.0     1.00        2',
    'n is 2: p95 (needs n 20) and p99 (needs n 100) are simply the longest',
    'TTFT 123 ms; prefill 80.0 tok/s, decode 95.3 tok/s',
    '2 prompt tokens, 3 tokens generated, ended by length',
    'storyteller on webgpu (SwiftShader), KV f16, activations f32',
    'attention: prefill flash_prefill, decode fused_decode (short cache)',
    'step: fused, 38% faster than plain here, gave up once (measured here)',
    'per token: 33 dispatches, 1 submits, 0 syncs, 4 bytes read; run-ahead 2; 21.0 MB of GPU memory',
    'warning context-lowered: Context lowered to 512.',
    'warning other: Another.',
  ]);
});

test('what is unknown is a dash, and the cpu has no GPU line', () => {
  const none = { mean: null, p50: null, p95: null, p99: null, max: null, jitter: null, perToken: [] };
  const onCpu = { ...metrics, ttftMs: null, decodeTokensPerSecond: null, tbtMs: none, perToken: null };
  const done = { ...run.done, metrics: onCpu };
  const text = table({ ...run, done, report: runReport({ ...heard, done }) });
  expect(text).toContain('TTFT - ms; prefill 80.0 tok/s, decode - tok/s');
  expect(text).not.toContain('per token');
  expect(text).not.toContain('simply the longest');
});

test('of enough gaps no percentile is excused', () => {
  for (const [n, excused] of [
    [19, 'p95 (needs n 20) and p99 (needs n 100) are'],
    [20, 'n is 20: p99 (needs n 100) is'],
    [99, 'n is 99: p99 (needs n 100) is'],
    [100, null],
  ] as const) {
    const done = { ...run.done, metrics: { ...metrics, tbtMs: { ...metrics.tbtMs, perToken: Array(n).fill(10) } } };
    const text = table({ ...run, done });
    if (excused) expect(text).toContain(`${excused} simply the longest`);
    else expect(text).not.toContain('longest');
  }
});

test('thinking is counted, and log probabilities are lines before the table', () => {
  const of = (token: string, logprob: number) => ({ id: 1, token, bytes: [], logprob });
  const done = { ...run.done, usage: { ...run.done.usage, reasoningTokens: 2 } };
  const logprobs = [{ chosen: of(' "a"', -0.25), top: [of('b', -0.1), of(' "a"', -0.25)] }, null];
  const lines = table({ ...run, done, report: runReport({ ...heard, done, logprobs }) }).split('\n');
  expect(lines.slice(0, 3)).toEqual([
    'log probabilities of the tokens, and of the likeliest:',
    '" \\"a\\"" -0.250             "b" -0.100  " \\"a\\"" -0.250',
    '-',
  ]);
  expect(lines).toContain('2 prompt tokens, 3 tokens generated (2 of them thinking), ended by length');
});
