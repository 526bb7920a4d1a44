// Named measurements: the table, the prompt, and the result as an object and as text.

import { expect, test } from 'vitest';
import { benchReport, benchText, browserName } from '../../../src/metrics/bench/bench_report';
import { findMeasurement, MEASUREMENTS, promptOf } from '../../../src/metrics/bench/named_measurements';
import { originHere } from '../../../src/metrics/run/run_origin';
import { bench as de } from '../../../src/words/de/bench';
import { bench as en } from '../../../src/words/en/bench';
import { panel } from '../../../src/words/en/panel';
import { bench as ja } from '../../../src/words/ja/bench';

const INFO = {
  model: { name: 'Storyteller', format: 'Q8_0' },
  backend: 'webgpu',
  adapter: 'Example GPU',
  kvCache: 'f16',
  activations: 'q8',
  attention: { prefill: 'flash_prefill', decode: 'fused_decode', reason: '' },
} as unknown as Parameters<typeof benchReport>[0]['info'];

test('names differ, and are found in any case; others are not', () => {
  expect(new Set(MEASUREMENTS.map(({ name }) => name)).size).toBe(MEASUREMENTS.length);
  expect(findMeasurement(' Decode-128 ')).toMatchObject({ promptTokens: 16, tokens: 128, times: 5 });
  for (const name of ['', 'decode', '__proto__', 'x'.repeat(10_000)]) expect(findMeasurement(name)).toBeNull();
});

test('a prompt has its length, however short the text', () => {
  expect(promptOf([1, 2, 3], 5)).toEqual([1, 2, 3, 1, 2]);
  expect(promptOf([1, 2, 3], 2)).toEqual([1, 2]);
});

test('the result says what was measured on what, with medians and ranges', () => {
  const measurement = MEASUREMENTS[1]!;
  const samples = [100, 104, 102].map((decode) => ({ decode, prefill: null, ttft: 12, p50: 9.8, p99: null }));
  const origin = originHere({
    startedAt: 0,
    browser: 'Mozilla/5.0 Chrome/141.0.0.0 Safari/537.36',
    system: 'Linux',
    vivace: '1.2.3',
  });
  const link = 'https://example.com/?bench=decode-128';
  const report = benchReport({ measurement, info: INFO, origin, link, samples });
  expect(report).toMatchObject({
    format: 'vivace-bench',
    version: 1,
    name: 'decode-128',
    date: '1970-01-01T00:00:00.000Z',
  });
  expect(report.figures).toEqual({
    decode: { n: 3, median: 102, min: 100, max: 104 },
    ttft: { n: 3, median: 12, min: 12, max: 12 },
    p50: { n: 3, median: 9.8, min: 9.8, max: 9.8 },
  });
  const lines = benchText(report, panel.repeat.figures).split('\n');
  expect(lines).toEqual([
    'Vivace decode-128: 16 + 128 tokens, 5 runs, median (range)',
    'Decode: 102 tok/s (100 – 104 tok/s)',
    'First token: 12.0 ms (12.0 – 12.0 ms)',
    'p50: 9.80 ms (9.80 – 9.80 ms)',
    'Storyteller (Q8_0)',
    expect.stringMatching(/^Example GPU, webgpu; .*fused_decode/),
    'Chrome 141, Linux; Vivace 1.2.3',
    link,
  ]);
});

test('a browser is named by what it is, not by what it also claims to be', () => {
  const safari = 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15';
  expect(browserName(safari)).toBe('Safari 26');
  expect(browserName('Mozilla/5.0 (X11; rv:143.0) Gecko/20100101 Firefox/143.0')).toBe('Firefox 143');
  expect(browserName('Mozilla/5.0 Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0')).toBe('Edge 141');
  expect(browserName('x')).toBe('another browser');
});

test('every language has every text', () => {
  const numbers = { promptTokens: 16, tokens: 128, times: 5 };
  for (const texts of [en, de, ja]) {
    expect(Object.keys(texts)).toEqual(Object.keys(en));
    expect(texts.what(numbers)).toMatch(/16.*128|128.*16/);
    expect(texts.tooLong(900, 512)).toMatch(/900.*512/);
  }
});
