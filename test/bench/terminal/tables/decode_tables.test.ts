// The tables of the decode and prefill benches, and the merging of several browsers.

import { expect, test } from 'vitest';
import { mergeBrowsers } from '../../../../bench/terminal/browsers';
import { benchTables } from '../../../../bench/terminal/tables/tables';
import { decodeReport, decodeRow, KERNELS, prefillReport, REFUSED } from '../reports';

test('decode: arrivals and costs of every row, the memory, and the kernels apart', () => {
  const text = benchTables(decodeReport([decodeRow(512, 1, 2), decodeRow(512, 'auto', 0.5)], [KERNELS]));
  const [, roofline, decode, kernels, ...rest] = text.split('\n\n');
  expect(rest).toEqual([]);
  expect(roofline).toMatch(/^roofline: 4000 GB\/s/);
  const lines = decode.split('\n');
  expect(lines[0]).toMatch(/^llama-3\.2-1b, q4 weights, KV f16, activations q8; decode of 512 tokens/);
  expect(lines[1]).toMatch(
    /^context +run-ahead +tok\/s +browsers +best +TBT mean +p50 +p95 +p99 +max +TTFT +attention +step$/,
  );
  expect(lines[2]).toMatch(/^ +512 +1 +500 +- +550 +2\.00 +1\.80 +4\.00 +6\.00 +8\.00 +25\.0 +split_kv_decode +fused$/);
  expect(lines[3]).toMatch(/^ +512 +auto \(12\) +2000 +- +2200 /);
  expect(lines[4]).toMatch(/GPU p50 +p95 +p99 +max +p99\/p50 +CPU ms +MB +GB\/s +of roofline +dispatches/);
  expect(lines[6]).toMatch(/ 0\.250 +0\.500 +0\.300 +1\.00 +1\.20 +0\.150 +700 +1400 +35\.0 % +83 +1 +1\.25 +4$/);
  expect(lines[7]).toBe('step: fused, 38% faster than plain here (measured here)');
  expect(lines[8]).toBe('memory: weights 700 MB, keys and values 33.0 MB, activations 12.0 MB');
  expect(kernels).toMatch(/^llama-3\.2-1b, a step over 768 keys, each kind of dispatch alone \(gpu clock\)\n/);
  expect(kernels).toMatch(/gate_up +25\.0 +16 +400 +1000 +25\.0 % +80\.0 %\nsample +100 +1 +- +- +- +20\.0 %\n/);
  expect(kernels).toContain('together 0.500 ms, which is no time of a pass');
});

test('decode: options of answers stand behind the run-ahead', () => {
  const row = { ...decodeRow(512, 'auto', 1), answer: { logprobs: 5, temperature: 0.8 } };
  const text = benchTables(decodeReport([decodeRow(512, 'auto', 1), row], []));
  expect(text).toMatch(/\n +512 +auto \(12\) +1000 /);
  expect(text).toMatch(/\n +512 +auto \(12\), logprobs 5, temperature 0\.8 +1000 /);
});

test('decode: a row that was refused says why and what it would have taken; without a clock there are no steps', () => {
  const refused = { ...decodeRow(32768, 'auto', 1), best: null, median: null, ttftMs: null, refused: REFUSED };
  const timeless = decodeRow(512, 'auto', 1);
  if (timeless.median) timeless.median.gpuMs = null;
  const [, , decode] = benchTables(decodeReport([timeless, refused])).split('\n\n');
  expect(decode).toMatch(/ +512 +auto \(12\) +- +- +- +- +- +0\.150 /);
  expect(decode.split('\n').at(-1)).toBe(
    'context 32768, run-ahead auto: The weights needs 5 bytes; the GPU refused it. ' +
      '(memory: weights 700 MB, keys and values 33.0 MB, activations 12.0 MB)',
  );
  const [, , nothing] = benchTables(decodeReport([refused])).split('\n\n');
  expect(nothing).not.toContain('tok/s  ');
});

test('prefill: tokens per second, times, the longest submit, and refusals', () => {
  const refused = { tokens: 2048, best: null, median: null, gpuMs: null, longestSubmitMs: null, refused: REFUSED };
  const [, , prefill] = benchTables(prefillReport([{}, { gpuMs: null, longestSubmitMs: null }, refused])).split('\n\n');
  const lines = prefill.split('\n');
  expect(lines[0]).toBe(
    'llama-3.2-1b, q4 weights, KV f16, activations q8; prefill (median of the rounds; milliseconds)',
  );
  expect(lines[2]).toMatch(/^ +512 +20480 +- +25600 +25\.0 +20\.0 +18\.0 +9\.00 +60\.0 +120 % +flash_prefill$/);
  expect(lines[3]).toMatch(/ 20\.0 +- +- +60\.0 /);
  expect(lines[4]).toMatch(/^2048 tokens: The weights needs 5 bytes/);
});

test('prefill: kinds of dispatch are told by the operations of their products', () => {
  const tables = benchTables(prefillReport([{}], [{ ...KERNELS, nTokens: 512, kvLen: 2048 }])).split('\n\n');
  const kernels = tables.at(-1) ?? '';
  expect(kernels).toMatch(
    /^llama-3\.2-1b, 512 tokens of a prompt over 2048 keys, each kind of dispatch alone \(gpu clock\)/,
  );
  expect(kernels).toMatch(
    /kernel +us +calls +TOP\/s +share\ngate_up +25\.0 +16 +13\.0 +80\.0 %\nsample +100 +1 +- +20\.0 %\n/,
  );
});

test('the head says whether the clock was a fine one', () => {
  expect(benchTables({ ...prefillReport([{}]), crossOriginIsolated: true })).toContain('crossOriginIsolated true');
});

test('several browsers: the rows of the one in the middle, with the spread; a refusal in any of them is told', () => {
  const reports = [2, 1, 4].map((ms) => decodeReport([decodeRow(512, 'auto', ms)], [KERNELS]));
  const merged = mergeBrowsers(reports);
  if (merged.suite !== 'decode') throw new Error(`a report of ${merged.suite}`);
  expect(merged.rows).toEqual([{ ...decodeRow(512, 'auto', 2), browsers: [500, 1000, 250] }]);
  expect(benchTables(merged)).toMatch(/\n +512 +auto \(12\) +500 +250 to 1000 +550 +2\.00 /);
  const refused = { ...decodeRow(512, 'auto', 1), best: null, median: null, refused: REFUSED };
  const [first, , last] = reports;
  expect(mergeBrowsers([first, decodeReport([refused]), last])).toMatchObject({ rows: [{ refused: REFUSED }] });
  expect(mergeBrowsers([first])).toBe(first);
});
