// The tables of the bench for people, one kind a suite.

import { describe, expect, test } from 'vitest';
import type { BaselineRow, BenchReport, RaceRow, StepRow } from '../../../../bench/report';
import { figure, grid } from '../../../../bench/terminal/tables/grid';
import { benchTables, everyModelRefused } from '../../../../bench/terminal/tables/tables';
import { tuneTables } from '../../../../bench/terminal/tables/tune_tables';
import type { AttentionResult } from '../../../../src/tune/results';
import { AROUND, attentionReport, ROOFLINE } from '../reports';

test('figures keep three digits, whatever their size', () => {
  expect([1234.5, 123.45, 12.345, 1.2345, 0.012345, 0].map(figure)).toEqual([
    '1235',
    '123',
    '12.3',
    '1.23',
    '0.0123',
    '0',
  ]);
});

test('columns are as wide as their widest cell, and numbers stand to the right', () => {
  expect(
    grid(
      ['name', 'ms', 'why'],
      [
        ['a', '1.5', ''],
        ['longer', '10', 'a reason'],
      ],
    ),
  ).toBe(['name     ms  why', 'a       1.5', 'longer   10  a reason'].join('\n'));
});

test('attention: one table per shape, pass and length; rows that cannot run say why', () => {
  const text = benchTables(attentionReport([128, 512]));
  expect(text).toContain('A GPU & more, Chromium 1.2.3, 2026-01-02T03:04:05.678Z');
  expect(text).toContain('roofline: 4000 GB/s read (over 2000 MB), 50.0 TFLOP/s f32 (gpu clock); KV f16');
  const tables = text.split('\n\n').slice(2);
  expect(tables.map((table) => table.split('\n')[0])).toEqual([
    'llama-3.2-1b, prefill of 128 tokens',
    'llama-3.2-1b, prefill of 512 tokens',
    'llama-3.2-1b, decode, 128 keys of cache',
    'llama-3.2-1b, decode, 512 keys of cache',
  ]);
  const lines = tables[2].split('\n');
  expect(lines[1]).toMatch(/^attention +ms +GB\/s +of roofline +scratch +dispatches +clock +parameters$/);
  expect(lines[2]).toMatch(/^eager +0\.0400 +400 +10\.0 % +1\.50 MB +5 +gpu +BLOCK_M 64, BLOCK_N 32$/);
  expect(lines[5]).toMatch(/^auto \(split_kv_decode\) +0\.0100 /);
  expect(lines[6]).toMatch(/^cpu +- .*It is too slow\.$/);
  expect(tables[0]).toContain('TFLOP/s');
});

test('step: runs alone and beside a busy page, texts with their first differences, and the distance', () => {
  const gaps = { mean: 0.4, p50: 0.39, p95: 0.5, p99: 1.2, max: 3 };
  const alone = { steps: 1000, stayedFused: true, tokensPerSecond: 2500, tbtMs: gaps, giveUps: 0 };
  const row: StepRow = {
    model: 'llama-3.2-1b',
    launch: { groups: 128, threads: 512 },
    alone,
    beside: { ...alone, stayedFused: false, tokensPerSecond: 812, giveUps: 3 },
    sameIds: true,
    neighbor: { submits: 250, submitMs: 4.1, ranMs: 1230, lost: null },
    fusedPlain: { texts: 3, agreed: 1, firsts: [150, null, 37], giveUps: 0 },
    plainExact: { texts: 3, agreed: 3, firsts: [null, null, null], giveUps: 0 },
    distance: { tokens: 512, x: 0.0041, logits: 0.003 },
    refused: null,
  };
  const rounds = [8, 128].map((groups) => ({ groups, us: groups === 8 ? 0.75 : 0.88 }));
  const probe = { threads: 512, bytes: 16384, resident: 132, rounds, ms: 21 };
  const sizes = { context: 512, steps: 1000, tokens: 200, probes: [probe, { ...probe, rounds: null }] };
  const report = { ...AROUND, suite: 'step', quant: 'q4', kv: 'f16', ...sizes } as const;
  const tables = benchTables({ ...report, rows: [row] }).split('\n\n');
  const [probes, lines] = tables.slice(1).map((table) => table.split('\n'));
  expect(probes[2]).toMatch(/^ +512 +16384 +132 +21\.0 +8: 0\.750, 128: 0\.880$/);
  expect(probes[3]).toMatch(/gave up$/);
  expect(lines[0]).toBe(
    'llama-3.2-1b, q4 weights, KV f16; fused steps of 128 workgroups of 512 threads (milliseconds)',
  );
  expect(lines[2]).toMatch(/^alone +1000 +2500 +0\.390 +1\.20 +3\.00 +0 +yes +-$/);
  expect(lines[3]).toMatch(/^beside a busy page +1000 +812 +0\.390 +1\.20 +3\.00 +3 +no +yes$/);
  expect(lines[4]).toBe('the busy page: 250 submits of 4.10 ms in 1.23 s');
  expect(lines[6]).toMatch(/^fused and plain +1 +3 +0 +37, 150$/);
  expect(lines[7]).toMatch(/^plain and f32 +3 +3 +0 +-$/);
  expect(lines[8]).toBe('a step after 512 tokens, fused from plain: x 0.410 %, logits 0.300 % away');
  const lost = { code: 'device-lost', message: 'The GPU was lost.' };
  const nothing = { alone: null, beside: null, neighbor: null, fusedPlain: null, plainExact: null, distance: null };
  const refused = { ...report, rows: [{ ...row, ...nothing, refused: lost }] };
  expect(benchTables(refused)).toContain('device lost: The GPU was lost.');
  expect(everyModelRefused(refused)).toBe(true);
});

test('an interrupted suite says so', () => {
  expect(benchTables({ ...attentionReport(), interrupted: true })).toMatch(/rows are missing\.$/);
});

test('quality: figures of both weights, and how near a tie the likeliest tokens were that differ', () => {
  const row = {
    step: { name: 'fused', reason: 'measured here', gain: 0.38, giveUps: 0 } as const,
    stories: 20,
    tokens: 3000,
    perplexity: { reference: 4.5, measured: 4.5009 },
    ratio: 1.0002,
    agreement: 0.999,
    divergence: 4.2e-5,
    flips: [0.002, 0.0152, 0.001].map((margin) => ({ story: 1, position: 20, margin })),
  };
  const exact = { ...row, agreement: 1, flips: [] };
  const rows = [
    { weights: 'q8', ...row },
    { weights: 'q4', ...exact },
  ] as const;
  const report = { ...AROUND, suite: 'quality', model: 'a model', tokens: 200, rows: [...rows] } as const;
  const text = benchTables({ ...report, kv: 'f16', rows: [...rows], kvRows: [], matrixRows: [], longRows: [] });
  const [title, head, ...lines] = text.split('\n\n')[1].split('\n');
  expect(title).toMatch(/^a model, KV f16; stories of at most 200 tokens/);
  expect(head).toMatch(
    /^weights +step +stories +tokens +perplexity f32 +q8 +q8 \/ f32 +top-1 agreement +KL, nats +flips +widest, nats$/,
  );
  expect(lines[0]).toMatch(/^q8 +fused +20 +3000 +4\.5000 +4\.5009 +1\.00020 +99\.90 % +4\.2e-5 +3 +0\.0152$/);
  expect(lines[1]).toMatch(/ 100\.00 % +4\.2e-5 +0 +-$/);
  const withMatrices = benchTables({ ...report, kv: 'f16', rows: [], kvRows: [], matrixRows: [...rows], longRows: [] })
    .split('\n\n')[2]
    .split('\n');
  expect(withMatrices[0]).toMatch(/f32 at temperature 1, and each text once more on subgroup matrices$/);
  expect(withMatrices[3]).toMatch(/^q4 +fused +20 +3000 .* 100\.00 %/);
  const withLong = benchTables({ ...report, kv: 'f16', rows: [], kvRows: [], matrixRows: [], longRows: [...rows] })
    .split('\n\n')[2]
    .split('\n');
  expect(withLong[0]).toMatch(/f32 at temperature 1, and each text once more with attention by flash_prefill_q8$/);
  const withKv = benchTables({ ...report, kv: 'q8', rows: [], kvRows: [...rows], matrixRows: [], longRows: [] })
    .split('\n\n')[2]
    .split('\n');
  expect(withKv[0]).toMatch(/^a model, f32 activations; .*KV f16 at temperature 1, and followed on KV q8$/);
  expect(withKv[1]).toMatch(/ perplexity f16 +q8 +q8 \/ f16 /);
  expect(withKv[2]).toMatch(/^q8 +fused +20 +3000 +4\.5000 +4\.5009 +1\.00020/);
});

test('roofline: the fastest first', () => {
  const text = benchTables({ ...AROUND, suite: 'roofline', roofline: ROOFLINE });
  expect(text).toMatch(/GB\/s +workgroup +loads a thread +workgroups\n4000 +512 +4 +4224\n3900 +256/);
});

const METRICS = { attention: { prefill: 'flash_prefill', decode: 'split_kv_decode', reason: '' } };

function baselineRow(title: BaselineRow['title'], tbt: number, ms: number): BaselineRow {
  const chat = { avgTbtMs: tbt, metrics: METRICS, promptTokens: 512, ids: [1, 2, 3] };
  const alone = { ms, name: 'split_kv_decode', parameters: {}, clock: 'gpu' };
  return { title, chat, chatRefused: null, alone, aloneRefused: null } as unknown as BaselineRow;
}

test('baseline: two rows and by how much the second is lower', () => {
  const cpu = baselineRow('CPU round trip', 20, 18);
  const gpu = baselineRow('GPU attention', 10, 2);
  const baseline = { suite: 'baseline', roofline: ROOFLINE, model: 'a model', aloneShape: 'llama-3.2-1b' } as const;
  const text = benchTables({
    ...AROUND,
    ...baseline,
    rows: [cpu, gpu],
    lowerBy: { avgTbt: 50, attention: 88.9 },
    sameIds: true,
    aloneKvLen: 2048,
  });
  expect(text).toMatch(
    / +Avg TBT \(ms\) +attention time \(ms\)\nCPU round trip +20\.0 +18\.0\nGPU attention +10\.0 +2\.00\n/,
  );
  expect(text).toMatch(/lower by +50 % +89 %\n/);
  expect(text).toContain('Both answers are the same.');
  const refused = { ...cpu, chat: null, chatRefused: 'No model.' };
  const without: BenchReport = {
    ...AROUND,
    ...baseline,
    rows: [refused, gpu],
    lowerBy: { avgTbt: null, attention: 88.9 },
    sameIds: null,
    aloneKvLen: 2048,
  };
  expect(benchTables(without)).toMatch(/lower by +- +89 %/);
  expect(benchTables(without)).toContain('CPU round trip: No model.');
  expect(everyModelRefused(without)).toBe(false);
  expect(everyModelRefused({ ...without, rows: [refused, refused] })).toBe(true);
  expect(everyModelRefused({ ...without, rows: [] })).toBe(false); // interrupted before the first
});

function tuned(combination: string | null, given: Partial<AttentionResult>): AttentionResult {
  const parameters = { BLOCK_M: 32, BLOCK_N: 64, DV_TILE: 64 };
  const pass = { pass: 'prefill', name: 'flash_prefill', nTokens: 512, kvLen: 2048 } as const;
  return { ...pass, combination, parameters, ms: 1, refused: null, fastest: false, ...given };
}

const DECODE = { pass: 'decode', name: 'split_kv_decode', nTokens: 1, kvLen: 512 } as const;

test('tune: letters, candidates after them, decode by cache length, the fastest marked', () => {
  const results = [
    tuned('A', { ms: 2 }),
    tuned('G', { ms: 1 }),
    tuned('H', { ms: null, refused: 'too large' }),
    tuned(null, { ms: 0.5, fastest: true }),
    tuned(null, { ...DECODE, kvLen: 2048, parameters: { SPLITS: 16, WORKGROUP: 128 }, ms: 0.03 }),
    tuned(null, { ...DECODE, parameters: { SPLITS: 4, WORKGROUP: 64 }, ms: 0.01, fastest: true }),
  ];
  const [letters, others, decode, ...rest] = tuneTables({ shape: 'llama-3.1-8b', layers: 2, results, error: null });
  expect(rest).toEqual([]);
  expect(letters).toMatch(/^llama-3\.1-8b, prefill of 512 tokens over 2048 keys/);
  expect(letters).toMatch(
    /combo +BLOCK_M +BLOCK_N +DV_TILE +ms +vs G\nA +32 +64 +64 +2\.00 +-50 %\nG .* 0 %\nH .* refused: too large$/,
  );
  expect(others).toMatch(/flash_prefill +32 +64 +64 +0\.500 +\+100 % +<- fastest$/);
  expect(decode).toMatch(/ 512 +split_kv_decode +4 +WORKGROUP 64 +0\.0100 +<- fastest\n2048 +split_kv_decode +16 /);
});

test('tune: products by shape, against the default, the kept one marked', () => {
  const product = {
    pass: 'product',
    name: 'o',
    rows: 2048,
    cols: 2048,
    format: 'q4',
    input: 'to_q8',
    nTokens: 1,
    parameters: { WORKGROUP: 512, LANES: 32 },
    isDefault: true,
    ms: 0.004,
    refused: null,
    fastest: false,
  } as const;
  const products = [
    product,
    { ...product, isDefault: false, ms: 0.002, fastest: true },
    { ...product, isDefault: false, ms: null, refused: 'wrong' },
    { ...product, nTokens: 512, ms: 1 },
  ];
  const table = {
    shape: 'storyteller',
    layers: 2,
    results: [],
    error: null,
    products,
    productsError: 'Stopped.',
  } as const;
  const [decode, prefill, error] = tuneTables({ ...table, results: [] });
  expect(decode).toMatch(
    /^storyteller, decode, o 2048 x 2048, q4, activations to_q8, cold\nparameters +us +vs default/,
  );
  expect(decode).toMatch(/4\.00 +0 % +default\n.* 2\.00 +100 % +<- kept\n.* - +- +refused: wrong$/);
  expect(prefill).toMatch(/prefill of 512 tokens, o .*\n.*\n.* 1000 +0 % +default$/);
  expect(error).toBe('storyteller: Stopped.');
});

test('tune: where G was refused the first that ran is compared with, and an error comes last', () => {
  const results = [
    tuned('A', { ms: null, refused: 'no' }),
    tuned('B', { ms: 3 }),
    tuned('G', { ms: null, refused: 'no' }),
  ];
  const texts = tuneTables({ shape: 'storyteller', layers: 2, results, error: 'Stopped.' });
  expect(texts[0]).toContain('vs B: faster by so many percent, since G was refused');
  expect(texts.at(-1)).toBe('storyteller: Stopped.');
  expect(tuneTables({ shape: 'storyteller', layers: 2, results: [], error: null })).toEqual([]);
});

test('race: both arithmetics for each kind of pass, what a load would choose, and refusals', () => {
  const time = (ms: number) => ({ ms, spread: 0.012 });
  const race = {
    format: 'q4',
    rows: 16384,
    cols: 2048,
    copies: 4,
    clock: 'gpu',
    decode: { q8: time(0.22), f32: time(0.19) },
    prefill: { q8: time(4), f32: time(1.05) },
  } as const;
  const plain = { decode: 'f32', prefill: 'f32' } as const;
  const rows: RaceRow[] = [
    { shape: 'llama-3.2-1b', race, plain, fused: { ...plain, decode: 'q8' }, ms: 210, refused: null },
    { shape: 'llama-3.1-8b', race: null, plain: null, fused: null, ms: 90, refused: 'decode took no time' },
  ];
  const reportOf = (some: RaceRow[]): BenchReport => {
    const made = { version: '0.1.0', shaders: 'abc', quant: 'q4', rows: some } as const;
    return { ...AROUND, suite: 'race', ...made };
  };
  const report = reportOf(rows);
  const lines = benchTables(report).split('\n').slice(3);
  expect(lines[0]).toBe('Vivace 0.1.0, shaders abc; q4 weights, a run of one token (decode) and of 64 (prefill)');
  expect(lines[2]).toMatch(/^llama-3.2-1b +16384 x 2048 +decode +220 +1\.2 % +190 +1\.2 % +0\.86 +f32 +q8 +gpu +210$/);
  expect(lines[3]).toMatch(/ prefill +4000 +1\.2 % +1050 +1\.2 % +0\.26 +f32 +f32 +gpu +210$/);
  expect(lines[4]).toBe('llama-3.1-8b: decode took no time');
  expect(everyModelRefused(report)).toBe(false);
  expect(everyModelRefused(reportOf(rows.slice(1)))).toBe(true);
});

test('kv: what a parked chat takes, and the first token of one that comes back', () => {
  const measured = {
    bytes: 134_217_728,
    parkMs: 2.5,
    restoreMs: 0.4,
    coldMs: 160,
    backMs: 6,
    liveMs: 4,
    atOnce: [
      { requests: 1, tokensPerSecond: 1000, dispatches: 4, gpuMs: null },
      { requests: 8, tokensPerSecond: 4000, dispatches: 6, gpuMs: 0.875 },
    ],
    cachedTokens: 4095,
    stored: { bytes: 2 * 67e6, writeMs: 300, coldMs: 160, ttftMs: 80, tokens: 4096 },
  };
  const refused = { code: 'gpu-memory', message: 'Too large.' };
  const report: BenchReport = {
    ...AROUND,
    suite: 'kv',
    quant: 'q4',
    kv: 'f16',
    rows: [
      { shape: 'llama-3.2-1b', tokens: 4096, measured, refused: null },
      { shape: 'llama-3.1-8b', tokens: 4096, measured: null, refused },
    ],
  };
  const lines = benchTables(report).split('\n').slice(3);
  expect(lines[2]).toMatch(
    /^llama-3.2-1b +4096 +134 +2\.50 +0\.400 +160 +6\.00 +3\.75 % +4\.00 +4095 +134 +300 +80\.0 +50\.0 %$/,
  );
  expect(lines[3]).toMatch(
    /tok\/s of all \(dispatches of a step, its time on the GPU\): 1: 1000 \(4\.00, -\), 8: 4000 \(6\.00, 0\.875 ms\)$/,
  );
  expect(lines[4]).toBe('llama-3.1-8b, 4096 tokens: Too large.');
});

describe('matrices', () => {
  const times = (ms: number | null, error: number) => ({ ms, error });
  const row = { name: 'edge', rows: 64, cols: 128, nTokens: 257, tileRows: 64 };
  const tableOf = (error: number) => {
    const rows = [
      { ...row, plain: times(null, 0.06), matrices: times(null, error) },
      { ...row, name: 'llama-3.2-1b o', tileRows: 128, plain: times(0.2, 0.06), matrices: times(0.1, 4.1e-4) },
    ];
    return benchTables({ ...AROUND, suite: 'matrices', fault: null, rows })
      .split('\n\n')[1]
      .split('\n');
  };

  test('errors of both ways, and times where they were taken', () => {
    const [title, , edge, timed] = tableOf(5.5e-5);
    expect(title).toMatch(/All agree with the textbook\.$/);
    expect(edge).toMatch(/^edge +64 x 128 +257 +64 +5\.5e-5 +6\.0e-2$/);
    expect(timed).toMatch(
      /^llama-3\.2-1b o +64 x 128 +257 +128 +4\.1e-4 +6\.0e-2 +100 +0\.042\d* +200 +0\.02\d* +2\.00$/,
    );
  });

  test('a product that is wrong, or no number, is said first', () => {
    for (const error of [0.02, Number.NaN]) expect(tableOf(error)[0]).toMatch(/1 DIFFER FROM THE TEXTBOOK\.$/);
  });

  test('why there are none', () => {
    const report = { ...AROUND, suite: 'matrices', fault: 'tiles of 64 rows are off by 1.0', rows: [] } as const;
    expect(benchTables({ ...report, rows: [] })).toMatch(/No subgroup matrices: tiles of 64 rows are off by 1\.0\./);
  });
});
